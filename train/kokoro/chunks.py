"""Candidates: where the generator's statistics come from when it sees a chunk at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from train.kokoro import graph
from train.kokoro.plans import Kokoro, Plan

Real = NDArray[np.float32]
FRAME_SAMPLES = 300
SOURCE_PER_FRAME = 60


@dataclass(frozen=True)
class Cutting:
    """``first`` and ``size``: frames (12.5 ms) of the first chunk and of the others; ``halo``: frames decoded on each
    side and dropped; ``fade``: frames over which neighbours are cross-faded."""

    first: int = 40
    size: int = 40
    halo: int = 8
    fade: int = 0

    def chunks(self, frames: int) -> list[tuple[int, int]]:
        """[start, end) of every chunk; a rest shorter than half a chunk joins the last."""
        ends = [min(self.first, frames)]
        while ends[-1] < frames:
            left = frames - ends[-1]
            ends.append(ends[-1] + (left if left < 1.5 * self.size else self.size))
        return list(zip([0, *ends[:-1]], ends, strict=True))


class Generator:
    """The generator with frozen statistics, or with a chunk's own."""

    def __init__(self, kokoro: Kokoro, integers: bool = False) -> None:
        ends = (graph.LOW, graph.SOURCE)
        self.own = kokoro.part("own", not integers, ends, (graph.AUDIO,))
        self.frozen = kokoro.part("frozen", not integers, ends, (graph.AUDIO,), frozen=True)
        affine = tuple(t[part] for t in kokoro.norms.values() for part in ("gamma", "beta"))
        self.affine = kokoro.part("affine", False, (), affine)
        self.norms = kokoro.norms
        widths = {name: 128 if _late(name) else 256 for name in kokoro.norms}
        self.slots: dict[str, slice] = {}
        """Place of each mean tensor in the vector of all of them."""
        for name, tensors in kokoro.norms.items():
            if tensors["mean"] not in self.slots:
                begin = max((s.stop for s in self.slots.values()), default=0)
                self.slots[tensors["mean"]] = slice(begin, begin + widths[name])

    def conditions(self, style: Real) -> dict[str, Real]:
        values = [x.reshape(-1) for x in self.affine.run(None, {"style": style})]
        names = [f"{name}:{part}" for name in self.norms for part in ("gamma", "beta")]
        return dict(zip(names, values, strict=True))

    def statistics(self, mean: Real, deviation: Real) -> dict[str, Real]:
        feeds = {}
        for name, tensors in self.norms.items():
            slot = self.slots[tensors["mean"]]
            feeds[f"{name}:mean"] = mean[slot]
            feeds[f"{name}:variance"] = np.square(deviation[slot])
        return feeds

    def window(self, plan: Plan, left: int, right: int, feeds: dict[str, Real] | None) -> Real:
        low = np.ascontiguousarray(plan.low[:, :, left:right])
        source = np.ascontiguousarray(plan.source[:, :, SOURCE_PER_FRAME * left : SOURCE_PER_FRAME * right + 1])
        if feeds is None:
            return self.own.run(None, {graph.LOW: low, graph.SOURCE: source, "style": plan.style})[0].reshape(-1)
        return self.frozen.run(None, {graph.LOW: low, graph.SOURCE: source, **feeds})[0].reshape(-1)


def _late(name: str) -> bool:
    return any(part in name for part in ("noise_res.1", "resblocks.3", "resblocks.4", "resblocks.5"))


def decode(
    generator: Generator, plan: Plan, cutting: Cutting, predict: Callable[[Plan], tuple[Real, Real]] | None
) -> Real:
    """``predict``: mean and deviation of every channel, from what is known before the generator runs; None: each
    window's own."""
    feeds = None
    if predict is not None:
        feeds = generator.conditions(plan.style) | generator.statistics(*predict(plan))
    out = np.zeros(plan.frames * FRAME_SAMPLES, np.float32)
    ramp = (np.arange(cutting.fade * FRAME_SAMPLES) + 0.5) / max(1, cutting.fade * FRAME_SAMPLES)
    for start, end in cutting.chunks(plan.frames):
        left, right = max(0, start - cutting.halo), min(plan.frames, end + cutting.halo)
        audio = generator.window(plan, left, right, feeds)
        back = (min(cutting.fade, start)) * FRAME_SAMPLES
        piece = audio[(start - left) * FRAME_SAMPLES - back : (end - left) * FRAME_SAMPLES].copy()
        if back:
            # What the chunk before said of this stretch is in ``out`` already.
            begin = start * FRAME_SAMPLES - back
            old = out[begin : begin + back]
            piece[:back] = old + ramp[:back] * (piece[:back] - old)
        out[start * FRAME_SAMPLES - back : end * FRAME_SAMPLES] = piece
    return out
