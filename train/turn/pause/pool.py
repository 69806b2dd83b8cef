"""The pool: recordings and readings, each with places where a pause is or may be put, and whether it ends a turn."""

import hashlib
import pickle
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from train.turn.sound import RATE_HZ, levels_db, speech_span

Samples = NDArray[np.float32]
HOP = RATE_HZ // 100
HELD_OUT_PERCENT = 10


@dataclass(frozen=True)
class Place:
    """Speech stops at sample ``at`` and goes on at ``resume`` (-1: never). ``complete``: how likely the sentence is
    finished there; ``weight``: how much that label is worth; ``natural``: the speaker paused there."""

    at: int
    resume: int
    complete: float
    weight: float = 1.0
    natural: bool = False


@dataclass
class Item:
    """``kind``: libri, prompts, hibari, river or kokoro. ``start``: where speech begins."""

    kind: str
    speaker: str
    samples: NDArray[np.int16]
    start: int
    places: list[Place] = field(default_factory=list)

    @property
    def held_out(self) -> bool:
        """Kept from training, by speaker (prompts and the two one-voice engines: by recording)."""
        return int(hashlib.sha256(self.speaker.encode()).hexdigest(), 16) % 100 < HELD_OUT_PERCENT

    def sound(self) -> Samples:
        return self.samples.astype(np.float32) / 32768


def whole(samples: Samples) -> NDArray[np.int16]:
    return np.asarray(np.clip(np.round(samples * 32768), -32768, 32767), np.int16)


def dip_near(levels: NDArray[np.float64], at: int, reach: int = 8) -> tuple[int, float]:
    """The quietest 10 ms within ``reach`` windows of sample ``at``, and by how much it is below what is around it."""
    index = at // HOP
    low, high = max(0, index - reach), min(len(levels), index + reach + 1)
    if low >= high:
        return at, 0.0
    quiet = low + int(np.argmin(levels[low:high]))
    left, right = levels[max(0, quiet - 25) : quiet + 1].max(), levels[quiet : quiet + 26].max()
    return quiet * HOP + HOP // 2, float(min(left, right) - levels[quiet])


def smooth_levels(samples: Samples) -> NDArray[np.float64]:
    return np.convolve(levels_db(samples), np.ones(3) / 3, "same")


def silences(samples: Samples, least_s: float) -> list[tuple[int, int]]:
    """Stretches inside the speech that are quiet for ``least_s``, as (end of sound, next sound) in samples."""
    levels = smooth_levels(samples)
    start, end = (edge // HOP for edge in speech_span(samples))
    top, floor = np.percentile(levels[start:end], 90), np.percentile(levels, 5)
    loud = np.flatnonzero(levels[start:end] > max(top - 32.0, floor + 8.0)) + start
    gaps = np.flatnonzero(np.diff(loud) > least_s * 100)
    return [(int(loud[g] + 1) * HOP, int(loud[g + 1]) * HOP) for g in gaps]


def save(path: Path, items: list[Item]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(items))
    part.rename(path)


def load(folder: Path) -> list[Item]:
    """Every item that has been made, in a fixed order."""
    return [item for path in sorted(folder.glob("*.pool")) for item in pickle.loads(path.read_bytes())]
