"""The state-space voice's sound: a source-filter vocoder without look-ahead, for many slots and frames at once.

Equations and the slow reference are in ``train/voice/dsp.py``. Phases run on in float64, the rest is float32. Noise
depends on nothing but the seed and the absolute sample at which a block of 300 begins.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from antiphon.models.ssm_state import HOP, SsmState

SAMPLE_RATE_HZ = 24_000
LAG_SAMPLES = 150
"""Sound comes so much later than the frames say."""

WINDOW = 600
N_FFT = 1024
BINS = N_FFT // 2 + 1
LOUDEST = 4.0

_TOP_HZ = 0.98 * SAMPLE_RATE_HZ / 2
_TABLE = 1 << 17
_MASK = 0xFFFFFFFFFFFFFFFF

Real = NDArray[np.float32]

_NOISE: Real = np.random.default_rng(24_000).standard_normal(_TABLE + HOP, dtype=np.float32)
_HANN: Real = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)

# Cycles passed since a frame's centre, by linear F0 from `a` to `b` Hz: a * _FROM + b * _TO.
_SHARE = (np.arange(HOP) + 0.5) / HOP
_TO = np.cumsum(_SHARE) / SAMPLE_RATE_HZ
_FROM = np.cumsum(1 - _SHARE) / SAMPLE_RATE_HZ


def noise(seed: int, samples: NDArray[np.int64]) -> Real:
    """White noise ``[frames, 300]`` for the blocks that begin at absolute ``samples`` [frames]."""
    mixed = samples.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x1234567) & _MASK)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    starts = ((mixed >> np.uint64(40)) % np.uint64(_TABLE)).astype(np.int64)
    blocks: Real = _NOISE[starts[:, None] + np.arange(HOP)]
    return blocks


class Sound:
    """The vocoder for filters of ``cepstra`` coefficients (pulses, noise, rhythmic noise)."""

    def __init__(self, cepstra: tuple[int, int, int], dispersion: float) -> None:
        self._cepstra = cepstra
        self._late = np.exp(-2j * np.pi * dispersion * (np.arange(BINS) / N_FFT) ** 2).astype(np.complex64)

    def frames(self, cepstra: Real, f0: Real, white: Real, state: SsmState) -> Real:
        """``cepstra`` [rows, n, sum], ``f0`` [rows, n] Hz at the *next* frames' centres, ``white`` [rows, n, 300] ->
        samples [rows, 300 n]. Moves the sound in ``state`` (of these rows) along."""
        rows, count = f0.shape
        source = np.empty((rows, 3, (count + 1) * HOP), np.float32)
        source[:, :, :HOP] = state.source
        self._excite(f0.astype(np.float64), white, state, source[:, :, HOP:])
        state.source = source[:, :, count * HOP :].copy()
        windows = np.lib.stride_tricks.sliding_window_view(source, WINDOW, axis=2)[:, :, ::HOP] * _HANN
        spectra = fft.rfft(windows, N_FFT, axis=-1, overwrite_x=True)
        spectra[:, 0] *= self._late
        spectra *= self._responses(cepstra)
        blocks = fft.irfft(spectra.sum(axis=1), N_FFT, axis=-1, overwrite_x=True)
        made = np.zeros((rows, count * HOP + N_FFT - HOP), np.float32)
        made[:, : N_FFT - HOP] = state.rest
        for frame in range(count):
            made[:, frame * HOP : frame * HOP + N_FFT] += blocks[:, frame]
        state.rest = made[:, count * HOP :].copy()
        return made[:, : count * HOP]

    def _excite(self, f0: NDArray[np.float64], white: Real, state: SsmState, out: Real) -> None:
        """Sources [rows, 3, 300 n] into ``out``: pulses, noise, rhythmic noise."""
        rows, count = f0.shape
        before = np.concatenate((state.f0[:, None], f0[:, :-1]), axis=1)
        cycles = before[..., None] * _FROM + f0[..., None] * _TO
        for frame in range(count):
            cycles[:, frame] += state.cycles[:, None]
            state.cycles = cycles[:, frame, -1] % 1.0
        state.f0 = f0[:, -1].copy()
        cycles -= np.rint(cycles)
        half = cycles.astype(np.float32)
        half *= np.float32(np.pi)
        # In float64: where a harmonic comes or goes must not depend on rounding.
        tops = np.floor(_TOP_HZ / (before[..., None] * (1 - _SHARE) + f0[..., None] * _SHARE)).astype(np.float32)
        below = np.sin(half)
        small = np.abs(below) < 1e-4
        below[small] = 1.0
        pulses = np.sin((2 * tops + 1) * half)
        pulses /= below
        pulses[small] = 2 * tops[small] + 1
        pulses -= 1
        pulses *= np.sqrt(0.5 / tops)
        rhythm = np.cos(half)
        rhythm *= rhythm  # (1 + cos 2x) / 2
        rhythm *= rhythm
        rhythm *= white
        rhythm *= np.float32(1.9)
        for index, part in enumerate((pulses, white, rhythm)):
            out[:, index] = part.reshape(rows, count * HOP)

    def _responses(self, cepstra: Real) -> NDArray[np.complex64]:
        """Minimum-phase filters ``[rows, 3, n, 513]``."""
        rows, count, _ = cepstra.shape
        apart = np.zeros((rows, 3, count, max(self._cepstra)), np.float32)
        at = 0
        for index, size in enumerate(self._cepstra):
            apart[:, index, :, :size] = cepstra[:, :, at : at + size]
            at += size
        logs: NDArray[np.complex64] = fft.rfft(apart, N_FFT, axis=-1)
        level, phase = np.minimum(logs.real, np.float32(LOUDEST)), logs.imag.copy()
        np.exp(level, out=level)
        np.multiply(np.cos(phase), level, out=logs.real)
        np.multiply(np.sin(phase), level, out=logs.imag)
        return logs
