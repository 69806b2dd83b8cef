"""The vocoder's sound in numpy, for streams: the slow reference of what is served.

Equations in ``vocoder.py``. Phase is accumulated in float64. Noise depends on nothing but the seed and the absolute
sample at which a block of 300 begins.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HOP = 300
WINDOW = 600
N_FFT = 1024
LAG = 150
CEPSTRA = (128, 48, 48)
DISPERSION = 24
LOUDEST = 4.0
SAMPLE_RATE_HZ = 24_000
TOP_HZ = 0.98 * SAMPLE_RATE_HZ / 2

_TABLE = 1 << 17
_MASK = 0xFFFFFFFFFFFFFFFF

Real = NDArray[np.float32]

NOISE_TABLE: Real = np.random.default_rng(24_000).standard_normal(_TABLE + HOP, dtype=np.float32)
LATE = np.exp(-2j * np.pi * DISPERSION * (np.arange(N_FFT // 2 + 1) / N_FFT) ** 2)
"""The all-pass on the pulses, ``[513]``."""
HANN: Real = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


def noise(seed: int, sample: int) -> Real:
    """White noise ``[300]`` for the block that begins at absolute sample ``sample`` (it may be negative)."""
    mixed = (sample + seed * 0x9E3779B97F4A7C15 + 0x1234567) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    start = (mixed >> 40) % _TABLE
    return NOISE_TABLE[start : start + HOP]


@dataclass(slots=True)
class SoundState:
    """All that a stream's sound remembers: cycles and F0 (Hz) at the last frame's centre, the sources [3, 300] before
    that centre, and the overlapping rest [724] of what was made."""

    cycles: float
    f0: float
    source: Real
    rest: Real


def start(f0: float = 188.7) -> SoundState:
    """Before the first frame; ``f0`` is that at the first frame's centre."""
    return SoundState(0.0, f0, np.zeros((3, HOP), np.float32), np.zeros(N_FFT - HOP, np.float32))


def excite(state: SoundState, f0: float, white: Real) -> Real:
    """Sources ``[3, 300]`` from the last centre to the next, whose F0 is ``f0``; moves the phase along."""
    share = (np.arange(HOP) + 0.5) / HOP
    hz = state.f0 * (1 - share) + f0 * share
    cycles = state.cycles + np.cumsum(hz) / SAMPLE_RATE_HZ
    state.cycles, state.f0 = float(cycles[-1] % 1.0), f0
    half = np.pi * (cycles - np.rint(cycles))
    harmonics = np.floor(TOP_HZ / hz)
    below = np.sin(half)
    small = np.abs(below) < 1e-4
    ratio = np.where(small, 2 * harmonics + 1, np.sin((2 * harmonics + 1) * half) / np.where(small, 1.0, below))
    pulses = (ratio - 1) / 2 * np.sqrt(2 / harmonics)
    rhythm = 1.9 * ((1 + np.cos(2 * half)) / 2) ** 2 * white
    return np.stack((pulses, white, rhythm)).astype(np.float32)


def response(cepstrum: Real) -> NDArray[np.complex128]:
    """Minimum-phase filter ``[513]`` of a cepstrum."""
    log = np.fft.rfft(cepstrum, N_FFT)
    return np.exp(np.minimum(log.real, LOUDEST) + 1j * log.imag)


def frame(state: SoundState, cepstra: Real, f0: float, white: Real) -> Real:
    """One frame: ``cepstra`` [224], F0 at the next frame's centre, noise [300] -> 300 samples, those up to this
    frame's centre."""
    source = np.concatenate((state.source, excite(state, f0, white)), axis=1)
    state.source = source[:, HOP:]
    spectra = np.fft.rfft(source * HANN, N_FFT)
    spectra[0] *= LATE
    ends = np.cumsum(CEPSTRA)
    parts = (cepstra[end - count : end] for end, count in zip(ends, CEPSTRA, strict=True))
    made = np.fft.irfft(sum(s * response(c) for s, c in zip(spectra, parts, strict=True)), N_FFT)
    made[: N_FFT - HOP] += state.rest
    state.rest = made[HOP:].astype(np.float32)
    return made[:HOP].astype(np.float32)
