"""Moments of the generator's channels over short segments of whole decodes: what the regressor learns from.

``python -m train.kokoro.segments [--most N]`` makes what is missing for the calibration set. Kept per take: ``first``
and ``second`` [segments, channels of all residual blocks but the source's], E[x] and E[x^2] over 100 ms, in the order
of ``names``.
"""

import argparse

import numpy as np

from train.kokoro import graph
from train.kokoro.plans import Kokoro, path, stored

SEGMENT = 8
"""Frames of 12.5 ms."""


def names(kokoro: Kokoro) -> dict[str, tuple[str, str]]:
    """Mean tensor -> (input tensor of the norm, name of a norm that uses it)."""
    return {t["mean"]: (t["x"], n) for n, t in reversed(kokoro.norms.items()) if "noise_res" not in n}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--most", type=int, default=10_000)
    most = asked.parse_args().most
    kokoro = Kokoro()
    inputs = [names(kokoro)[mean][0] for mean in kokoro.apart if mean in names(kokoro)]
    session = kokoro.part("inputs", True, (graph.LOW, graph.SOURCE), tuple(inputs))
    for plan in stored("calibration"):
        where = path("segments", plan.text, plan.voice)
        if where.exists():
            continue
        if not most:
            break
        most -= 1
        count = plan.frames // SEGMENT
        first, second = [], []
        tensors = session.run(None, {graph.LOW: plan.low, graph.SOURCE: plan.source, "style": plan.style})
        for tensor in tensors:
            each = (10 if tensor.shape[1] == 256 else 60) * SEGMENT
            parts = tensor[0, :, : count * each].reshape(tensor.shape[1], count, each)
            first.append(parts.mean(axis=2).T)
            second.append(np.square(parts).mean(axis=2).T)
        where.parent.mkdir(parents=True, exist_ok=True)
        np.savez(where, first=np.concatenate(first, axis=1), second=np.concatenate(second, axis=1))
        print(where, flush=True)


if __name__ == "__main__":
    main()
