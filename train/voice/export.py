"""Writes the trained voice as two ONNX graphs and ``voice.json``: ``python -m train.voice.export``.

What goes in and out of the graphs is in ``README.md``. All axes that count slots, symbols or steps are free. Weights
are stored in float16 and cast when the graph is loaded; everything is computed in float32. Nothing is quantised, so a
neighbour cannot change a slot.
"""

import argparse
import hashlib
import json
import math
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from train.voice import vocoder
from train.voice.features import TOP_HZ
from train.voice.model import (
    CONDITIONS,
    FRAMES_PER_STEP,
    LN_F0_MEAN,
    LN_F0_SCALE,
    MEL_MEAN,
    MEL_SCALE,
    MELS,
    POSITION,
    Acoustic,
    AcousticConfig,
    positions,
)
from train.voice.scan import DOMAIN, with_loops
from train.voice.vocoder import VocoderNet

FORMAT = 1
OPSET = 17
_SPARE = 16


class EncoderGraph(nn.Module):
    """Symbols to encodings and durations."""

    def __init__(self, acoustic: Acoustic) -> None:
        super().__init__()
        self.encoder = acoustic.encoder

    def forward(
        self, ids: Tensor, valid: Tensor, conditions: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """``conditions`` [rows, n, 6] are those of the symbols that come out."""
        encodings, present, state = self.encoder(ids, valid, state)
        return encodings, present, self.encoder.log_durations(encodings, conditions), state


class DecoderGraph(nn.Module):
    """Frames of encodings to filters and F0: the acoustic decoder, then the vocoder's net."""

    def __init__(self, acoustic: Acoustic, net: VocoderNet) -> None:
        super().__init__()
        self.decoder, self.net = acoustic.decoder, net

    @property
    def state_size(self) -> int:
        return self.decoder.stack.state_size + self.net.stack.state_size

    def forward(
        self, frames: Tensor, timing: Tensor, conditions: Tensor, pitch: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """``frames`` [slots, 2 n, width], ``timing`` [slots, 2 n, 2], ``conditions`` [slots, n, 6], ``pitch``
        [slots, 2 n, 2] (factor and shift of normalised ln F0) -> cepstra [slots, 2 n, 224], f0 [slots, 2 n],
        voiced [slots, 2 n], mel [slots, 2 n, 80], state."""
        own, nets = state.split((self.decoder.stack.state_size, self.net.stack.state_size), -1)
        out, own = self.decoder(frames, _positions(timing), conditions, own)
        mel, f0, voiced = out.split((MELS, 1, 1), -1)
        f0 = f0 * pitch[..., :1] + pitch[..., 1:]
        voiced = torch.sigmoid(voiced)
        cepstra, nets = self.net(torch.cat((mel, f0, voiced), -1), nets)
        hz = torch.exp(f0[..., 0] * LN_F0_SCALE + LN_F0_MEAN)
        return cepstra, hz, voiced[..., 0], mel * MEL_SCALE + MEL_MEAN, torch.cat((own, nets), -1)


def _positions(timing: Tensor) -> Tensor:
    """``positions`` of [slots, frames, 2], the same to the last bit in whatever company: ONNX Runtime computes the last
    few logarithms and sines of a tensor by another routine than the rest, so some that nobody needs come last."""
    flat = nn.functional.pad(timing.flatten(0, 1), (0, 0, 0, _SPARE), value=1.0)
    return positions(flat[:, 0], flat[:, 1])[:-_SPARE].reshape(timing.shape[0], -1, POSITION)


def with_half_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Initialisers that float16 holds exactly are stored so and cast at load."""
    casts, kept = [], []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size >= 64 and np.array_equal(values, values.astype(np.float16)):
            kept.append(numpy_helper.from_array(values.astype(np.float16), tensor.name + "_half"))
            casts.append(helper.make_node("Cast", [tensor.name + "_half"], [tensor.name], to=TensorProto.FLOAT))
        else:
            kept.append(tensor)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*casts, *nodes])
    return model


def write_graph(module: nn.Module, inputs: dict[str, Tensor], outputs: dict[str, dict[int, str]], path: Path) -> None:
    """``outputs`` name their free axes; those of the inputs are 0 (``rows``) and, below the state, 1."""
    free = {name: {0: "rows"} if name == "state" else {0: "rows", 1: f"n_{name}"} for name in inputs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=free | outputs,
            opset_version=OPSET,
            custom_opsets={DOMAIN: 1},
            dynamo=False,
        )
    model = with_half_weights(with_loops(onnx.load(str(path))))
    model.producer_name, model.producer_version = "antiphon", ""
    onnx.save(model, str(path))


def load(acoustic: Path | None, net: Path | None, gain_db: float = 0.0) -> tuple[Acoustic, VocoderNet]:
    """The averaged weights, rounded to float16 (untrained where there is no checkpoint). ``gain_db`` goes into the
    first coefficient of all three cepstra."""
    torch.manual_seed(0)
    config, first = AcousticConfig(), None
    if acoustic and acoustic.exists():
        first = torch.load(acoustic, map_location="cpu")
        config = AcousticConfig(**first["config"])
    voice, filters = Acoustic(config).eval(), VocoderNet().eval()
    if first:
        voice.load_state_dict(first["ema"])
    if net and net.exists():
        filters.load_state_dict(torch.load(net, map_location="cpu")["ema"])
    with torch.no_grad():
        for first_of in (0, vocoder.CEPSTRA[0], vocoder.CEPSTRA[0] + vocoder.CEPSTRA[1]):
            filters.out.bias[first_of] += gain_db / 20 * math.log(10)
    for module in (voice, filters):
        for parameter in module.parameters():
            parameter.requires_grad_(False)
            parameter.copy_(parameter.half().float())
    return voice, filters


def write(acoustic: Acoustic, net: VocoderNet, out: Path, about: dict[str, Any]) -> None:
    """``encoder.onnx``, ``decoder.onnx`` and ``voice.json`` into ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    width, knobs = acoustic.config.width, len(CONDITIONS)
    decoder = DecoderGraph(acoustic, net).eval()
    n = 3
    write_graph(
        EncoderGraph(acoustic).eval(),
        {
            "ids": torch.ones(2, n, dtype=torch.int64),
            "valid": torch.ones(2, n),
            "conditions": torch.zeros(2, n, knobs),
            "state": torch.zeros(2, acoustic.encoder.state_size),
        },
        {
            "encodings": {0: "rows", 1: "n"},
            "present": {0: "rows", 1: "n"},
            "log_durations": {0: "rows", 1: "n"},
            "next_state": {0: "rows"},
        },
        out / "encoder.onnx",
    )
    write_graph(
        decoder,
        {
            "frames": torch.zeros(2, n * FRAMES_PER_STEP, width),
            "timing": torch.ones(2, n * FRAMES_PER_STEP, 2),
            "conditions": torch.zeros(2, n, knobs),
            "pitch": torch.ones(2, n * FRAMES_PER_STEP, 2),
            "state": torch.zeros(2, decoder.state_size),
        },
        {
            "cepstra": {0: "rows", 1: "frames"},
            "f0": {0: "rows", 1: "frames"},
            "voiced": {0: "rows", 1: "frames"},
            "mel": {0: "rows", 1: "frames"},
            "next_state": {0: "rows"},
        },
        out / "decoder.onnx",
    )
    described = {
        "format": FORMAT,
        "sample_rate_hz": vocoder.SAMPLE_RATE_HZ,
        "hop": vocoder.HOP,
        "frames_per_step": FRAMES_PER_STEP,
        "lookahead": acoustic.config.lookahead,
        "width": width,
        "symbols": json.loads((files("hibari") / "assets" / "vocab.json").read_text("utf-8")),
        "pad": 0,
        "conditions": list(CONDITIONS),
        "state": {"encoder": acoustic.encoder.state_size, "decoder": decoder.state_size},
        "normal": {
            "mel_mean": MEL_MEAN,
            "mel_scale": MEL_SCALE,
            "ln_f0_mean": LN_F0_MEAN,
            "ln_f0_scale": LN_F0_SCALE,
            "mel_top_hz": TOP_HZ,
        },
        "vocoder": {
            "window": vocoder.WINDOW,
            "n_fft": vocoder.N_FFT,
            "lag": vocoder.LAG,
            "dispersion": vocoder.DISPERSION,
            "cepstra": list(vocoder.CEPSTRA),
            "loudest": vocoder.LOUDEST,
            "top_hz": vocoder.TOP,
        },
        "sha256": {
            name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in ("encoder.onnx", "decoder.onnx")
        },
    }
    (out / "voice.json").write_text(json.dumps(described | about, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acoustic", type=Path, default=Path("build/voice/acoustic/last.pt"))
    parser.add_argument("--vocoder", type=Path, default=Path("build/voice/vocoder/last.pt"))
    parser.add_argument("--gain-db", type=float, default=0.0)
    parser.add_argument("--about", type=Path, help="JSON that goes into voice.json as it is")
    parser.add_argument("--out", type=Path, default=Path("build/voice/export"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    about = json.loads(options.about.read_text("utf-8")) if options.about else {}
    about |= {"gain_db": options.gain_db}
    about.setdefault("default_f0_factor", 1.0)
    write(*load(options.acoustic, options.vocoder, options.gain_db), options.out, about)
    for path in sorted(options.out.iterdir()):
        print(f"{path}  {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
