"""Level over time: gain that changes without a click, and a limiter instead of hard clipping.

All that keeps state gives the same samples however the stream is cut into chunks, and as many out as in.
"""

import math

import numpy as np
from numpy.typing import NDArray

from antiphon.core.frame import Samples

KNEE = 0.9
"""Peaks up to here (-0.9 dBFS) pass the limiter untouched; all above is bent into the rest below full scale."""


class GainRamp:
    """A volume that may change while it is in use: it glides to each new value over ``ramp_ms``."""

    def __init__(self, rate_hz: int, gain: float = 1.0, ramp_ms: float = 10.0) -> None:
        self._ramp_samples = max(1, round(ramp_ms * rate_hz / 1000))
        self._from = gain
        self._to = gain
        self._at = self._ramp_samples

    def set(self, gain: float) -> None:
        """Glide from the present value to ``gain`` (linear factor), from the next sample on."""
        self._from = float(self._gains(1)[0])
        self._to = gain
        self._at = 0

    def push(self, samples: Samples) -> Samples:
        """``samples`` [n] times the gain [n]. Gain 1 passes them through untouched."""
        settled = self._at >= self._ramp_samples
        if settled and self._to == 1.0:
            return samples
        gains = self._gains(len(samples))
        self._at = min(self._ramp_samples, self._at + len(samples))
        return np.asarray(samples, dtype=np.float32) * gains

    def save(self) -> tuple[float, float, int]:
        """All that it remembers, for :meth:`load`."""
        return self._from, self._to, self._at

    def load(self, memory: tuple[float, float, int]) -> None:
        self._from, self._to, self._at = memory

    def _gains(self, count: int) -> Samples:
        place = np.minimum((self._at + np.arange(count)) / self._ramp_samples, 1.0)
        gains: Samples = (self._from + (self._to - self._from) * place).astype(np.float32)
        return gains


class Limiter:
    """Keeps peaks below full scale by turning the gain down, not by cutting their tops off.

    It follows the envelope of the signal (at once up, slowly down), and maps it through a curve that is the identity
    up to :data:`KNEE` and stays below 1 for any input. Output never exceeds 1, keeps the order of sizes on a rising
    slope, and equals the input, bit for bit, while the envelope is below the knee. No look-ahead: no delay; the price
    is that a peak higher than all of the last quarter second has its top rounded.
    """

    def __init__(self, rate_hz: int, release_ms: float = 250.0) -> None:
        # The envelope falls by `1 / e` in release_ms. It is kept as a running maximum of log2|x| + n * fall over the
        # absolute sample index n; with `fall` a multiple of 2**-20 the sums are the same for every cut of the stream.
        per_sample = math.log2(math.e) / (release_ms * rate_hz / 1000)
        self._fall = max(1, round(per_sample * 2**20)) / 2**20
        self._index = 0
        self._peak = -math.inf

    def save(self) -> tuple[int, float]:
        """All that it remembers, for :meth:`load`."""
        return self._index, self._peak

    def load(self, memory: tuple[int, float]) -> None:
        self._index, self._peak = memory

    def push(self, samples: Samples) -> Samples:
        """Limit ``samples`` [n]."""
        samples = np.asarray(samples, dtype=np.float32)
        if not len(samples):
            return samples
        carried = 2.0 ** (self._peak - self._index * self._fall)
        if carried <= KNEE and np.maximum.reduce(samples) <= KNEE and np.minimum.reduce(samples) >= -KNEE:
            # an envelope below the knee has no effect, now or later, and need not be known
            self._index += len(samples)
            return samples
        if not np.isfinite(samples).all():  # or one bad sample would stay in the envelope for ever
            samples = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)
        index = np.arange(self._index, self._index + len(samples), dtype=np.float64)
        with np.errstate(divide="ignore"):
            levels = np.log2(np.abs(samples).astype(np.float64)) + index * self._fall
        peaks = np.maximum.accumulate(np.maximum(levels, self._peak))
        self._peak = float(peaks[-1])
        self._index += len(samples)
        envelope = np.exp2(peaks - index * self._fall)
        gains = np.where(envelope <= KNEE, 1.0, _bend(envelope) / np.maximum(envelope, KNEE))
        return (samples * gains).astype(np.float32)


def _bend(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Level above the knee to one between the knee and 1, with slope 1 at the knee."""
    room = 1.0 - KNEE
    over = np.maximum(level - KNEE, 0.0)
    bent: NDArray[np.float64] = KNEE + room * over / (over + room)
    return bent
