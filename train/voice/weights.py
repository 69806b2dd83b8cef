"""The torch modules of an exported voice: what a fine-tuning starts from when there is no checkpoint.

An exported graph keeps some parameters by name and others transposed, under names of the exporter's. So a twin, with
weights of its own, is exported by the same code; where a number of the twin's modules went, the given voice's is found.
"""

import argparse
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import nn

from train.voice import vocoder
from train.voice.blocks import TAPS
from train.voice.export import write
from train.voice.model import Acoustic, AcousticConfig
from train.voice.vocoder import VocoderNet

GRAPHS = ("encoder.onnx", "decoder.onnx")


def load_exported(folder: Path, gain: bool = True) -> tuple[Acoustic, VocoderNet]:
    """Both modules with the weights of ``folder`` (``encoder.onnx``, ``decoder.onnx``, ``voice.json``), as they were
    before the export added its gain; or with it. Raises ``ValueError`` if the graphs are not what this code exports."""
    about = json.loads((folder / "voice.json").read_text("utf-8"))
    gain_db = 0.0 if gain else about.get("gain_db", 0.0)
    torch.manual_seed(0)
    acoustic, net = Acoustic(AcousticConfig(width=about["width"])), VocoderNet()
    for module in (acoustic, net):
        _make_unique(module)
    with tempfile.TemporaryDirectory() as place:
        write(acoustic.eval(), net.eval(), Path(place), {})
        for name in GRAPHS:
            _fill((acoustic, net), _initialisers(Path(place) / name), _initialisers(folder / name), name)
    with torch.no_grad():
        for first_of in (0, vocoder.CEPSTRA[0], vocoder.CEPSTRA[0] + vocoder.CEPSTRA[1]):
            net.out.bias[first_of] -= gain_db / 20 * math.log(10)
    for parameter in (*acoustic.parameters(), *net.parameters()):
        parameter.requires_grad_(True)
    return acoustic.train(), net.train()


def _make_unique(module: nn.Module) -> None:
    """Weights that are found again by their values; without gradients, as the exporter wants them."""
    for parameter in module.parameters():
        parameter.requires_grad_(False)
        parameter.copy_(torch.rand_like(parameter) + 0.5)


def _initialisers(path: Path) -> list[NDArray[Any]]:
    """In the graph's order."""
    return [numpy_helper.to_array(tensor) for tensor in onnx.load(str(path)).graph.initializer]


def _fill(modules: tuple[nn.Module, ...], twin: list[NDArray[Any]], given: list[NDArray[Any]], name: str) -> None:
    """Copy ``given`` into the parameters whose values ``twin`` holds at the same places."""
    if [array.shape for array in twin] != [array.shape for array in given]:
        raise ValueError(f"{name} is not what this code exports: other shapes")
    places = [place for module in modules for p in module.parameters() for place in (p, *_rows(p))]
    for own, other in zip(twin, given, strict=True):
        if own.size < 2 and own.dtype.kind != "f":
            continue
        values = torch.from_numpy(other.astype(np.float32))
        found = next((view for place in places for view in (place, place.t()) if _equal(view, own)), None)
        if found is not None:
            found.copy_(values)
        elif not np.array_equal(own.astype(np.float32), other.astype(np.float32)):
            raise ValueError(f"{name} has weights {own.shape} whose place is not known")


def _rows(parameter: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Of the taps, each row is a constant of its own in the graph."""
    return parameter.unbind(0) if parameter.ndim == 2 and parameter.shape[0] == TAPS else ()


def _equal(parameter: torch.Tensor, array: NDArray[Any]) -> bool:
    if tuple(parameter.shape) != array.shape:
        return False
    return bool(np.array_equal(parameter.numpy(), array.astype(np.float32)))


def main() -> None:
    """An exported voice with today's graphs and its own weights: for one that an earlier version exported."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--voice", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    about = json.loads((options.voice / "voice.json").read_text("utf-8"))
    acoustic, net = load_exported(options.voice)
    for parameter in (*acoustic.parameters(), *net.parameters()):
        parameter.requires_grad_(False)
    kept = ("licence", "quality", "data", "training", "gain_db", "default_f0_factor")
    write(acoustic.eval(), net.eval(), options.out, {key: about[key] for key in kept if key in about})


if __name__ == "__main__":
    main()
