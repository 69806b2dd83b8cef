"""Reading the recordings, cutting them, and filling pauses with a recording's own room tone."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

Samples = NDArray[np.float32]
RATE_HZ = 16_000
WINDOW = RATE_HZ // 100
ASTERISK = Path("/usr/share/asterisk/sounds/en_US_f_Allison")


@dataclass(frozen=True)
class Places:
    """Where the recordings lie on this machine."""

    speech: Path
    asterisk: Path = ASTERISK

    def read(self, source: str, file: str) -> Samples:
        if source == "asterisk":
            return _g722(self.asterisk / file)
        samples, rate = soundfile.read(self.speech / file, dtype="float32")
        assert rate == RATE_HZ, file
        return samples


def _g722(path: Path) -> Samples:
    with av.open(str(path), format="g722") as container:
        frames = [frame.to_ndarray().ravel() for frame in container.decode(audio=0)]
    return np.concatenate(frames).astype(np.float32) / 32768


def levels_db(samples: Samples) -> NDArray[np.float64]:
    """Level of each whole 10 ms window, dB full scale."""
    windows = samples[: len(samples) // WINDOW * WINDOW].reshape(-1, WINDOW)
    return 10 * np.log10(np.square(windows, dtype=np.float64).mean(axis=1) + 1e-12)


def speech_span(samples: Samples) -> tuple[int, int]:
    """From the first to after the last 10 ms window above -40 dB of the speech level (and 6 dB above the noise)."""
    levels = levels_db(samples)
    threshold = max(np.percentile(levels, 90) - 40, np.percentile(levels, 3) + 6)
    loud = np.flatnonzero(levels > threshold)
    return int(loud[0]) * WINDOW, int(loud[-1] + 1) * WINDOW


def room_tone(samples: Samples, length: int, seed: int) -> Samples:
    """``length`` samples like the quietest 0.1 s of the recording: overlapped copies of it, turned about at random."""
    levels = levels_db(samples)
    span = min(10, len(levels))
    quiet = int(np.argmin(np.convolve(levels, np.ones(span), "valid"))) * WINDOW
    grain = samples[quiet : quiet + span * WINDOW]
    fade = len(grain) // 2
    window = np.sin(np.linspace(0, np.pi, len(grain), dtype=np.float32))
    rng = np.random.default_rng(seed)
    out = np.zeros(length + 2 * len(grain), np.float32)
    for at in range(0, length + len(grain), fade):
        turned = grain[:: rng.choice((-1, 1))] * rng.choice((-1, 1))
        out[at : at + len(grain)] += window * turned
    return out[len(grain) : len(grain) + length]


def quiet_points(samples: Samples, first: int, last: int, apart: int, depth_db: float) -> list[int]:
    """The quietest places between ``first`` and ``last``, quietest first, each ``depth_db`` below what is around it."""
    levels = np.convolve(levels_db(samples), np.ones(5) / 5, "same")
    points: list[int] = []
    for index in np.argsort(levels):
        at = int(index) * WINDOW
        around = levels[max(0, index - 30) : index + 31].max()
        if first <= at <= last and around - levels[index] >= depth_db and all(abs(at - p) >= apart for p in points):
            points.append(at)
    return points


@lru_cache(maxsize=1)
def _voice() -> Any:
    from hibari import Hibari

    return Hibari(threads=1)


@lru_cache(maxsize=64)
def spoken(pieces: tuple[str, ...], seed: int) -> tuple[tuple[Samples, ...], Samples]:
    """Each piece as the embedded voice reads it alone (a comma at the end: it goes on), trimmed; and room tone."""
    rng = np.random.default_rng(seed)
    speed = float(rng.uniform(0.85, 1.15))
    parts = []
    for piece in pieces:
        sound = soxr.resample(_voice()(piece, seed=seed, speed=speed), 24_000, RATE_HZ).astype(np.float32)
        start, end = speech_span(sound)
        parts.append(sound[max(0, start - WINDOW) : end + WINDOW])
    tone = rng.normal(0, 10 ** (-62 / 20), 4 * RATE_HZ).astype(np.float32)
    return tuple(parts), tone
