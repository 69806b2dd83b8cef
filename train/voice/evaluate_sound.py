"""What is measured of a waveform alone: F0, clicks, level (numpy only; 24 kHz mono float32 in -1..1)."""

import numpy as np
from numpy.typing import NDArray

from train.voice.features import HOP, SAMPLE_RATE_HZ, level_db, semitones

Real = NDArray[np.float32]

_WINDOW = 1200
_LOWEST_HZ, _HIGHEST_HZ = 70.0, 450.0
_CANDIDATES = 96
_VOICED = 0.5
_VOICED_DB = -50.0
_OCTAVE_COST = 0.06
_JUMP_COST = 2.5
_NEAR = 240
"""Samples (10 ms) to each side that a jump is compared with."""
CLICK_RATIO = 20.0
"""A step of the slope so many times larger than those around it is a click, if it is loud enough to be heard."""
_CLICK_LEAST = 0.03


def track_f0(samples: Real) -> Real:
    """F0 in Hz of each frame of 300 samples, 0 where unvoiced: ``[frames]``.

    Normalised autocorrelation under a 50 ms window, the best path through 96 candidates from 70 to 450 Hz (evenly
    spaced in pitch; a small price on low octaves, a larger one on jumps).
    """
    count = len(samples) // HOP
    if not count:
        return np.zeros(0, np.float32)
    lags = SAMPLE_RATE_HZ / np.geomspace(_LOWEST_HZ, _HIGHEST_HZ, _CANDIDATES)
    padded = np.pad(np.asarray(samples[: count * HOP], np.float64), _WINDOW // 2)
    rows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[HOP // 2 :: HOP][:count]
    scores = _similarity(rows, lags)
    octaves = np.linspace(0, np.log2(_HIGHEST_HZ / _LOWEST_HZ), _CANDIDATES)
    rank = scores + _OCTAVE_COST * octaves
    jumps = _JUMP_COST * np.log(2) * np.abs(octaves[:, None] - octaves)
    path = _best_path(rank, jumps)
    best = scores[np.arange(count), path]
    loud = level_db(np.asarray(samples[: count * HOP], np.float32)) > _VOICED_DB
    f0: Real = np.where((best > _VOICED) & loud, SAMPLE_RATE_HZ / lags[path], 0).astype(np.float32)
    return f0


def f0_spread_st(samples: Real) -> float | None:
    """Standard deviation of F0 within one utterance, in semitones; None with less than 0.25 s of voice. The outer 2 %
    on each side are left out: a tracker's slips lie there."""
    pitch = semitones(voiced(track_f0(samples)))
    if len(pitch) < 20:
        return None
    low, high = np.quantile(pitch, (0.02, 0.98))
    return float(pitch[(pitch >= low) & (pitch <= high)].std())


def f0_mean_st(samples: Real) -> float | None:
    """Median F0 in semitones above 100 Hz."""
    pitch = semitones(voiced(track_f0(samples)))
    return float(np.median(pitch)) if len(pitch) >= 20 else None


def voiced(f0: Real) -> Real:
    return f0[f0 > 0]


def clicks(samples: Real) -> tuple[int, float]:
    """How many clicks there are; the largest step of the slope relative to those around it (the teacher: up to 14)."""
    step = np.abs(np.diff(np.asarray(samples, np.float64), n=2, prepend=0, append=0))
    power = np.concatenate(([0.0], np.cumsum(np.square(step))))
    index = np.arange(len(step))
    left, right = np.maximum(index - _NEAR, 0), np.minimum(index + _NEAR + 1, len(step))
    # The step itself and its two neighbours are no surroundings.
    own_left, own_right = np.maximum(index - 2, 0), np.minimum(index + 3, len(step))
    others = power[right] - power[left] - (power[own_right] - power[own_left])
    rms = np.sqrt(np.maximum(others / np.maximum(right - left - (own_right - own_left), 1), 0)) + 1e-4
    ratio = step / rms
    loud = step > _CLICK_LEAST
    found = np.flatnonzero(loud & (ratio > CLICK_RATIO))
    apart = int(np.sum(np.diff(found, prepend=-_NEAR) >= _NEAR)) if found.size else 0
    return apart, float(ratio[loud].max()) if loud.any() else 0.0


def speech_db(samples: Real) -> float:
    """Level of the frames within 30 dB of the loudest, in dBFS."""
    level = level_db(samples[: len(samples) // HOP * HOP])
    kept = level[level > level.max() - 30]
    return float(10 * np.log10(np.mean(10 ** (kept / 10))))


def _similarity(rows: NDArray[np.float64], lags: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalised autocorrelation ``[frames, candidates]`` of rows ``[frames, 1200]``."""
    size = 2048
    first = rows[:, : rows.shape[1] - int(lags.max()) - 1]
    spectrum = np.conj(np.fft.rfft(first, size)) * np.fft.rfft(rows, size)
    products = np.fft.irfft(spectrum, size)
    energy = np.cumsum(np.pad(np.square(rows), ((0, 0), (1, 0))), axis=1)
    width = first.shape[1]
    near = np.rint(lags).astype(np.int64)
    here = energy[:, width] - energy[:, 0]
    there = energy[:, near + width] - energy[:, near]
    score: NDArray[np.float64] = products[:, near] / np.sqrt(here[:, None] * there + 1e-12)
    return score


def _best_path(rank: NDArray[np.float64], jumps: NDArray[np.float64]) -> NDArray[np.int64]:
    total, back = rank[0], np.zeros(rank.shape, np.int64)
    for frame in range(1, len(rank)):
        options = total[:, None] - jumps
        back[frame] = options.argmax(axis=0)
        total = options[back[frame], np.arange(len(total))] + rank[frame]
    path = np.zeros(len(rank), np.int64)
    path[-1] = int(total.argmax())
    for frame in range(len(rank) - 1, 0, -1):
        path[frame - 1] = back[frame, path[frame]]
    return path
