"""The network, in PyTorch: the blocks of the voice on features of sound, as ``antiphon.models.pause`` computes it."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from antiphon.models.pause import FEATURES, PauseModel
from train.voice.blocks import Norm, Stack

OUTPUTS = 3
TURN, TEACHER, SPEECH = range(OUTPUTS)


class PauseNet(nn.Module):
    def __init__(self, width: int = 96, blocks: int = 3, inner: int = 192, drop: float = 0.1) -> None:
        super().__init__()
        self.enter = nn.Linear(FEATURES, width)
        self.drop = nn.Dropout(drop)
        self.stack = Stack(blocks, width, inner)
        self.norm = Norm(width)
        self.leave = nn.Linear(width, OUTPUTS)

    def forward(self, heard: Tensor) -> Tensor:
        """``heard`` [rows, steps, 224] -> [rows, steps, 3]: log odds of an end, smart-turn's, of speech."""
        x, _ = self.stack(self.drop(self.enter(heard)), self.stack.start(len(heard)))
        out: Tensor = self.leave(self.drop(self.norm(x)))
        return out


def weights(net: PauseNet, scale: float = 1.0, offset: float = 0.0) -> dict[str, np.ndarray]:
    """What the package reads, in float16; ``calibration``: log odds are ``scale * output + offset``."""
    held = {name: value.detach().numpy().astype(np.float16) for name, value in net.state_dict().items()}
    return held | {"calibration": np.array((scale, offset), np.float32)}


def export(net: PauseNet, path: Path, scale: float = 1.0, offset: float = 0.0) -> PauseModel:
    """Write them; what the package makes of them."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **weights(net, scale, offset))  # type: ignore[arg-type]
    part.rename(path)
    return PauseModel.load(path)


def rounded(net: PauseNet) -> PauseNet:
    """``net`` with weights as they are stored."""
    net.load_state_dict({name: value.half().float() for name, value in net.state_dict().items()})
    return net


def restored(path: Path) -> PauseNet:
    """The network of an exported file."""
    with np.load(path) as held:
        state = {name: torch.from_numpy(held[name].astype(np.float32)) for name in held.files if name != "calibration"}
    blocks = sum(name.endswith(".taps") for name in state)
    width, inner = len(state["norm.weight"]), state["stack.blocks.0.narrow.weight"].shape[1]
    net = PauseNet(width, blocks, inner)
    net.load_state_dict(state)
    return net.eval()
