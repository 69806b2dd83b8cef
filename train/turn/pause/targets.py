"""What each step of a stream should say, and how much that counts. NumPy only."""

import numpy as np
from numpy.typing import NDArray

from antiphon.models.pause import STEP_SAMPLES
from train.turn.pause.streams import KINDS, STEPS
from train.turn.sound import RATE_HZ

LENGTHS_S = (0.8, 1.5, 2.5, 4.0)
WORTH = dict(zip(KINDS, (1.3, 1.0, 0.8, 0.8, 1.0), strict=True))
TEACHER_RANGE = 5.0

Rows = NDArray[np.float32]


def balance(pauses: NDArray[np.void]) -> Rows:
    """A weight for each pause [n]: among those of one kind after about as much speech, ends count as much as others."""
    weight = pauses["weight"].astype(np.float32).copy()
    length = np.digitize(pauses["spoken_s"], LENGTHS_S)
    for kind in range(len(KINDS)):
        for bin_ in range(len(LENGTHS_S) + 1):
            here = (pauses["kind"] == kind) & (length == bin_)
            done, open_ = weight[here] @ pauses["complete"][here], weight[here] @ (1 - pauses["complete"][here])
            if not here.any():
                continue
            if min(done, open_) < 1e-3:
                weight[here] = 0
                continue
            half = (done + open_) / 2
            factor = pauses["complete"] * min(half / done, 4.0) + (1 - pauses["complete"]) * min(half / open_, 4.0)
            weight[here] *= factor[here] * WORTH[KINDS[kind]]
    return weight


def steps(pauses: NDArray[np.void], weight: Rows, streams: int) -> tuple[Rows, Rows, Rows, Rows]:
    """(turn, its weight, teacher, its weight), each [streams, 400]."""
    turn, counts, teacher, asked = (np.zeros((streams, STEPS), np.float32) for _ in range(4))
    ends = (np.arange(STEPS) + 1) * STEP_SAMPLES
    for pause, worth in zip(pauses, weight, strict=True):
        since_s = (ends - pause["start"]) / RATE_HZ
        inside = (ends <= pause["stop"]) & (since_s >= -0.02)
        value = np.select([since_s < 0.08, since_s <= 0.5, since_s <= 1.0], [0.3, 1.0, 0.2], 0.0) * inside
        row, here = pause["stream"], value > 0
        turn[row, here], counts[row, here] = pause["complete"], (value * worth)[here]
        if np.isfinite(pause["teacher"]):
            odds = np.clip(pause["teacher"], -TEACHER_RANGE, TEACHER_RANGE)
            near = inside & (since_s >= 0.08) & (since_s <= 0.5)
            teacher[row, near], asked[row, near] = 1 / (1 + np.exp(-odds)), 1.0
    return turn, counts, teacher, asked


def step_at(pauses: NDArray[np.void], silence_s: float) -> NDArray[np.int64]:
    """The step [n] that ends nearest to ``silence_s`` into each pause."""
    at = np.round((pauses["start"] + silence_s * RATE_HZ) / STEP_SAMPLES).astype(np.int64) - 1
    return np.clip(at, 0, STEPS - 1)


def auc(odds: Rows, done: NDArray[np.bool_], weight: Rows | None = None) -> float:
    """How often an end scores higher than a pause inside (nan where there is none of one)."""
    if not done.any() or done.all():
        return float("nan")
    w = np.ones(len(odds)) if weight is None else weight
    pairs = w[done][:, None] * w[~done][None]
    high, low = odds[done][:, None], odds[~done][None]
    return float(((high > low) + 0.5 * (high == low)).ravel() @ pairs.ravel() / max(pairs.sum(), 1e-9))
