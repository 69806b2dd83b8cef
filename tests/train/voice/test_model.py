"""The model against its slow references; needs PyTorch, so it runs with ``make soak`` and the extra ``train``."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from train.voice.blocks import Stack  # noqa: E402
from train.voice.export import DecoderGraph, load, write  # noqa: E402
from train.voice.model import Acoustic, AcousticConfig, Encoder, positions, whole_frames  # noqa: E402
from train.voice.scan import scan, scan_log  # noqa: E402
from train.voice.stream import Knobs, Stream, Voice  # noqa: E402
from train.voice.vocoder import Filter, VocoderNet, sources  # noqa: E402

from train.voice import dsp  # noqa: E402

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Acoustic, VocoderNet, Path]:
    folder = tmp_path_factory.mktemp("voice")
    acoustic, net = load(None, None)
    with torch.no_grad():
        acoustic.encoder.durations[-1].bias.fill_(1.9)
        acoustic.encoder.durations[-1].bias.copy_(acoustic.encoder.durations[-1].bias.half().float())
    write(acoustic, net, folder, {})
    return acoustic, net, folder


def some_ids(count: int, seed: int = 0) -> list[int]:
    return [0, *np.random.default_rng(seed).integers(1, 178, count).tolist(), 0]


def test_both_scans_agree_with_a_loop_and_in_their_gradients() -> None:
    torch.manual_seed(0)
    a, b, h0 = torch.rand(3, 37, 16), torch.randn(3, 37, 16), torch.randn(3, 16)
    h, wanted = h0, []
    for t in range(37):
        h = a[:, t] * h + b[:, t]
        wanted.append(h)
    gradients = []
    for function in (scan, scan_log):
        inputs = [x.clone().requires_grad_() for x in (a, b, h0)]
        out = function(*inputs)
        assert torch.allclose(out, torch.stack(wanted, 1), atol=1e-5)
        (out * torch.linspace(0, 1, 37)[:, None]).sum().backward()
        gradients.append([x.grad for x in inputs])
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_steps_equal_the_scan_whatever_the_cuts() -> None:
    torch.manual_seed(1)
    stack = Stack(3, 32, 64).eval()
    x = torch.randn(2, 40, 32)
    with torch.no_grad():
        whole, end = stack(x, stack.start(2))
        state, stepped = stack.start(2), []
        for t in range(40):
            out, state = stack.step(x[:, t], state)
            stepped.append(out)
        assert torch.allclose(torch.stack(stepped, 1), whole, atol=2e-5)
        assert torch.allclose(state, end, atol=2e-5)
        state, parts = stack.start(2), []
        for part in x.split([1, 2, 17, 3, 17], 1):
            out, state = stack(part, state)
            parts.append(out)
    assert torch.allclose(torch.cat(parts, 1), whole, atol=2e-5)


def test_the_encoder_token_by_token_equals_the_whole_and_a_sentence_does_not_see_the_next() -> None:
    torch.manual_seed(2)
    encoder = Encoder(AcousticConfig(width=32, inner=64)).eval()
    first, second = some_ids(11), some_ids(7, 1)
    ids = torch.tensor([first + [0] * 4 + second + [0] * 4])
    valid = torch.tensor([[1.0] * 13 + [0.0] * 4 + [1.0] * 9 + [0.0] * 4])
    with torch.no_grad():
        whole, present, _ = encoder(ids, valid, encoder.start(1))
        state, parts = encoder.start(1), []
        for k in range(ids.shape[1]):
            out, _, state = encoder(ids[:, k : k + 1], valid[:, k : k + 1], state)
            parts.append(out)
        alone, _, _ = encoder(ids[:, :17], valid[:, :17], encoder.start(1))
    assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-5)
    assert present[0].tolist() == [0.0] * 4 + valid[0, :-4].tolist()
    assert torch.allclose(alone[0, 4:], whole[0, 4:17], atol=1e-5)


def full_pass(acoustic: Acoustic, net: VocoderNet, ids: list[int], seed: int) -> tuple[np.ndarray, list[int]]:
    """The whole sentence at once in PyTorch."""
    with torch.no_grad():
        row, gap = torch.tensor([ids + [0] * 4]), [1.0] * len(ids) + [0.0] * 4
        encodings = acoustic.encoder(row, torch.tensor([gap]), acoustic.encoder.start(1))[0][:, 4:]
        lasts = whole_frames(acoustic.encoder.log_durations(encodings, torch.zeros(1, len(ids), 6))[0])
        lasts[-1] += lasts.sum() % 2
        token = torch.repeat_interleave(torch.arange(len(ids)), lasts)
        starts = torch.cumsum(lasts, 0) - lasts
        timing = torch.stack(((torch.arange(len(token)) - starts[token]).float(), lasts[token].float()), -1)[None]
        graph = DecoderGraph(acoustic, net)
        pitch = torch.tensor([1.0, 0.0]).expand(1, len(token), 2)
        steps = len(token) // 2
        state = torch.zeros(1, graph.state_size)
        cepstra, f0, *_ = graph(encodings[:, token], timing, torch.zeros(1, steps, 6), pitch, state)
        hz = torch.cat((torch.full((1, 1), 188.7), f0), 1)
        white = np.concatenate([dsp.noise(seed, k * dsp.HOP) for k in range(len(token))])
        source = sources(hz, torch.zeros(1), torch.from_numpy(white)[None])
        source = torch.cat((torch.zeros(1, 3, dsp.HOP), source), -1)
        made = Filter()(source, cepstra)[0, : len(token) * dsp.HOP].numpy()
    return made, lasts.tolist()


@pytest.mark.parametrize("portions", [[30], [1] * 30, [7, 1, 13, 9]])
def test_the_stream_equals_the_full_pass(voice: tuple[Acoustic, VocoderNet, Path], portions: list[int]) -> None:
    acoustic, net, folder = voice
    ids = some_ids(28)
    wanted, lasts = full_pass(acoustic, net, ids, 9)
    stream = Stream(Voice(folder), seed=9, steps_per_call=3)
    made, rest = [], list(ids)
    for portion in portions:
        stream.push(rest[:portion])
        rest = rest[portion:]
        made.append(stream.pull())
    stream.end()
    made.append(stream.pull())
    assert stream.durations == lasts
    assert len(wanted) == sum(lasts) * dsp.HOP
    assert np.abs(np.concatenate(made) - wanted).max() < 2e-3 * np.abs(wanted).max()


def test_rows_do_not_touch_each_other(voice: tuple[Acoustic, VocoderNet, Path]) -> None:
    decoder, rng = Voice(voice[2]).decoder, np.random.default_rng(0)
    width, size = voice[0].config.width, DecoderGraph(*voice[:2]).state_size
    feeds = {
        "frames": rng.normal(size=(5, 4, width)).astype(np.float32),
        "timing": np.tile(np.array((1, 3), np.float32), (5, 4, 1)),
        "conditions": rng.normal(size=(5, 2, 6)).astype(np.float32),
        "pitch": np.tile(np.array((1, 0), np.float32), (5, 4, 1)),
        "state": rng.normal(size=(5, size)).astype(np.float32),
    }
    together = decoder.run(None, feeds)
    others = {name: np.concatenate((value[:1], value[1:] * 3 + 0.5)) for name, value in feeds.items()}
    others["timing"] = feeds["timing"]
    for one, other in zip(together, decoder.run(None, others), strict=True):
        assert np.array_equal(one[0], other[0])
    alone = decoder.run(None, {name: value[:1] for name, value in feeds.items()})
    for one, other in zip(together, alone, strict=True):
        assert np.allclose(one[0], other[0], rtol=1e-4, atol=1e-4)


def test_speed_and_pitch_can_change_within_a_stream(voice: tuple[Acoustic, VocoderNet, Path]) -> None:
    stream = Stream(Voice(voice[2]))
    stream.push(some_ids(10))
    stream.end()
    before = stream.pull()
    stream.knobs = Knobs(pitch=2.0, energy=0.1, f0_range=1.2)
    stream.push(some_ids(10, 4))
    stream.end()
    after = stream.pull()
    assert np.isfinite(before).all()
    assert np.isfinite(after).all()
    assert (len(before) + len(after)) == sum(stream.durations) * dsp.HOP


def test_positions_of_a_symbol_of_four_frames() -> None:
    at = positions(torch.arange(4.0), torch.full((4,), 4.0))
    assert torch.allclose(at[:, 0], torch.tensor([0.125, 0.375, 0.625, 0.875]))
    assert torch.allclose(at[:, 2], at[:, 3].flip(0))
