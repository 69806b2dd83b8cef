"""What is in the audio of one take: silence, cut ends, clicks, clipping, pitch, loudness. Pure.

Pitch is the autocorrelation's peak between 60 and 400 Hz, of 40 ms frames every 20 ms that are audible and periodic.
Drift is a least-squares slope over the frames of a long piece, so it needs :data:`DRIFT_LEAST_S` of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphon.audio.activity import (
    AUDIBLE_DB,
    WINDOW_S,
    clicks,
    clipped,
    first_audible_sample,
    last_audible_sample,
    speech_level_dbfs,
    window_power,
)
from antiphon.core.frame import Samples

CUT_DB = 12.0
"""Audio whose last window is within this of its speech level ends in the middle of a sound."""

PITCH_HZ = (60.0, 400.0)
FRAME_S, HOP_S = 0.04, 0.02
PERIODIC = 0.6
DRIFT_LEAST_S = 10.0


@dataclass(frozen=True, slots=True)
class Sound:
    """Seconds of silence in front, behind, and the longest inside; ``level_dbfs``: active speech level (None: nothing
    is audible). ``cut_off``: ends in the middle of a sound. ``pitch_hz``: median (None: nothing periodic).
    ``pitch_drift``: semitones per minute, ``loudness_drift``: dB per minute (None: too short to say)."""

    audio_s: float
    leading_s: float
    trailing_s: float
    longest_pause_s: float
    level_dbfs: float | None
    cut_off: bool
    clicks: int
    clipped_samples: int
    pitch_hz: float | None
    pitch_drift: float | None
    loudness_drift: float | None

    @property
    def speech_s(self) -> float:
        return max(0.0, self.audio_s - self.leading_s - self.trailing_s)


def listen(samples: Samples, rate_hz: int) -> Sound:
    """All figures of mono float32 audio."""
    audio_s = len(samples) / rate_hz
    first = first_audible_sample(samples, rate_hz)
    last = last_audible_sample(samples, rate_hz)
    if first is None or last is None:
        return Sound(audio_s, audio_s, 0.0, audio_s, None, False, 0, clipped(samples), None, None, None)
    level = speech_level_dbfs(samples, rate_hz)
    audible = window_power(samples, rate_hz) >= 10 ** ((level - AUDIBLE_DB) / 10)
    times, pitches = pitch_track(samples, rate_hz, level)
    long_enough = audio_s >= DRIFT_LEAST_S
    return Sound(
        audio_s=audio_s,
        leading_s=first / rate_hz,
        trailing_s=(len(samples) - 1 - last) / rate_hz,
        longest_pause_s=_longest_pause_s(audible),
        level_dbfs=level,
        cut_off=_cut_off(samples, rate_hz, level),
        clicks=len(clicks(samples, rate_hz)),
        clipped_samples=clipped(samples),
        pitch_hz=float(np.median(pitches)) if len(pitches) else None,
        pitch_drift=_per_minute(times, 12 * np.log2(pitches)) if long_enough and len(pitches) > 2 else None,
        loudness_drift=_loudness_drift(samples, rate_hz, audible) if long_enough else None,
    )


def pitch_track(samples: Samples, rate_hz: int, level_dbfs: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(seconds, Hz) of the frames that are audible and periodic."""
    size, hop = round(FRAME_S * rate_hz), round(HOP_S * rate_hz)
    if len(samples) < size:
        return np.zeros(0), np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(samples, np.float64), size)[::hop]
    loud = np.mean(np.square(frames), axis=1) >= 10 ** ((level_dbfs - AUDIBLE_DB + 10) / 10)
    kept = np.flatnonzero(loud)
    frames = (frames[kept] - frames[kept].mean(axis=1, keepdims=True)) * np.hanning(size)
    spectrum = np.abs(np.fft.rfft(frames, 2 * size, axis=1)) ** 2
    correlation = np.fft.irfft(spectrum, axis=1)[:, :size]
    window = np.fft.irfft(np.abs(np.fft.rfft(np.hanning(size), 2 * size)) ** 2)[:size]
    low, high = int(rate_hz / PITCH_HZ[1]), min(int(rate_hz / PITCH_HZ[0]) + 1, size - 2)
    power = np.maximum(correlation[:, :1], 1e-20)
    normal = correlation / power / np.maximum(window / window[0], 1e-3)
    # a period's multiples are as periodic as itself: take the shortest that is nearly as good as the best
    best = normal[:, low:high].max(axis=1)
    here = normal[:, low:high]
    peaks = (here >= normal[:, low - 1 : high - 1]) & (here >= normal[:, low + 1 : high + 1])
    good = peaks & (here >= 0.9 * best[:, None]) if len(kept) else peaks
    lag = low + good.argmax(axis=1)
    periodic = (best >= PERIODIC) & good.any(axis=1)
    rows = np.flatnonzero(periodic)
    lags = lag[rows].astype(np.float64)
    left, top, right = (normal[rows, lag[rows] + step] for step in (-1, 0, 1))
    bend = left - 2 * top + right
    lags += np.where(np.abs(bend) > 1e-12, 0.5 * (left - right) / np.where(np.abs(bend) > 1e-12, bend, 1.0), 0.0)
    return np.asarray(kept[rows] * HOP_S, np.float64), np.asarray(rate_hz / lags, np.float64)


def _cut_off(samples: Samples, rate_hz: int, level_dbfs: float) -> bool:
    end = np.asarray(samples[-max(1, round(WINDOW_S * rate_hz)) :], np.float64)
    power = float(np.mean(np.square(end)))
    return power > 0 and 10 * float(np.log10(power)) >= level_dbfs - CUT_DB


def _longest_pause_s(audible: NDArray[np.bool_]) -> float:
    at = np.flatnonzero(audible)
    return 0.0 if len(at) < 2 else float(np.diff(at).max() - 1) * WINDOW_S


def _loudness_drift(samples: Samples, rate_hz: int, audible: NDArray[np.bool_]) -> float | None:
    """Slope of the level of half-second pieces that hold speech."""
    power = window_power(samples, rate_hz)
    size = 50
    times, levels = [], []
    for begin in range(0, len(power) - size + 1, size):
        heard = power[begin : begin + size][audible[begin : begin + size]]
        if len(heard) >= size // 4:
            times.append((begin + size / 2) * WINDOW_S)
            levels.append(10 * float(np.log10(heard.mean())))
    return _per_minute(np.asarray(times), np.asarray(levels)) if len(times) > 2 else None


def _per_minute(times_s: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    centred = times_s - times_s.mean()
    spread = float(np.sum(np.square(centred)))
    return 60 * float(np.sum(centred * (values - values.mean()))) / spread if spread else 0.0
