"""Fine-tuning from an exported voice; needs PyTorch, so it runs with ``make soak`` and the extra ``train``."""

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")

from train.voice.export import load, write  # noqa: E402
from train.voice.train_together import choose, heard_of, length_error, targets  # noqa: E402
from train.voice.weights import load_exported  # noqa: E402

pytestmark = pytest.mark.soak

ASSETS = Path(str(files("antiphon"))) / "assets" / "ssm"


def test_every_weight_comes_back(tmp_path: Path) -> None:
    torch.manual_seed(5)
    acoustic, net = load(None, None)
    for parameter in (*acoustic.parameters(), *net.parameters()):  # the exporter writes equal ones once
        parameter.add_(0.1 * torch.randn_like(parameter))
    write(acoustic, net, tmp_path, {})
    again = load_exported(tmp_path)
    for module, other in zip((acoustic, net), again, strict=True):
        for (name, parameter), twin in zip(module.named_parameters(), other.parameters(), strict=True):
            assert torch.equal(parameter, twin), name
            assert twin.requires_grad


def test_the_gain_of_the_export_is_taken_off(tmp_path: Path) -> None:
    for path in ASSETS.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    about = json.loads((tmp_path / "voice.json").read_text("utf-8")) | {"gain_db": 3.0}
    (tmp_path / "voice.json").write_text(json.dumps(about), "utf-8")
    plain, quieter = (load_exported(tmp_path, gain)[1].out.bias.detach() for gain in (True, False))
    assert torch.nonzero(plain - quieter)[:, 0].tolist() == [0, 128, 176]
    assert float(plain[0] - quieter[0]) == pytest.approx(3 / 20 * np.log(10), abs=1e-4)


def test_graphs_of_another_make_are_refused(tmp_path: Path) -> None:
    for name in ("voice.json", "decoder.onnx"):
        (tmp_path / name).write_bytes((ASSETS / name).read_bytes())
    graph = onnx.load(str(ASSETS / "encoder.onnx"))
    del graph.graph.initializer[-1]
    onnx.save(graph, str(tmp_path / "encoder.onnx"))
    assert json.loads((tmp_path / "voice.json").read_text("utf-8"))["width"] == 160
    with pytest.raises(ValueError, match="not what this code exports"):
        load_exported(tmp_path)


class Spoken:
    """A row of ``frames`` frames whose samples are numbered by frame."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.wav = np.repeat(np.arange(frames), 300).astype(np.int16)
        self.heard = np.arange(1, frames + 1).astype(np.float32)


def test_parts_lie_inside_their_rows_and_their_sound_is_late() -> None:
    rows = [Spoken(40), Spoken(70), Spoken(300)]
    parts = choose(rows, 200, 64, np.random.default_rng(0))
    assert {row for row, _ in parts} == {1, 2}
    for (row, at), sound in zip(parts, targets(rows, parts, 64), strict=True):
        assert at >= 2
        assert at + 64 <= rows[row].frames
        assert sound[0] * 32768 == at - 1  # half a frame late
        assert sound[150] * 32768 == at
    assert choose(rows[:1], 5, 64, np.random.default_rng(0)) == []
    assert heard_of(rows, 384)[1, 69] == 70


def test_length_counts_whole_rows() -> None:
    durations = torch.tensor([[4, 6, 0], [5, 5, 10]])
    right = torch.log1p(durations.float())
    assert float(length_error(right, durations)) < 1e-6
    short = torch.log1p(durations.float() * 0.9)
    assert float(length_error(short, durations)) == pytest.approx(0.1, abs=0.01)
