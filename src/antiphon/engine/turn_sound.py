"""How the last words of a turn sound, by cheap means: where the pitch ends, how the level falls, when it is over.

The pitch of a speaker who is done ends low in their own range, and one who goes on keeps it up; and a voice activity
detector is a tenth of a second off in either direction (more where a voice fades), which the level is not. A few
milliseconds of NumPy; pure.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ

_HOP = EAR_RATE_HZ // 100
_WINDOW = 800  # 50 ms: two periods of the lowest voice
_FFT = 2_048
_LAGS = (40, 260)  # 400 to 62 Hz
_HEARD_S = 2.5
_LEAST_FRAMES = 30
_PERIODIC = 0.55
_RANGE_DB = 28.0
_TAIL_DB = 35.0
_FLOOR_DB = 8.0
_CLEAR_DB = 10.0
_NOISE_DB, _NOISE_PART, _STEADY_DB = 3.0, 0.4, 26.0
"""Noise goes up and down: sound that counts is this much above nine tenths of the last part of the pause, unless that
stands out of the quietest moments so far: then it is no noise, but sound that goes on."""
_USUAL_S = -0.06
"""What the detector is off by, where noise hides the end of the sound."""
_OVER_DB = 30.0

EARLIER_S, LATER_S = 0.12, 0.4
"""How far the true end of the sound is looked for before and after the detector's."""


@dataclass(frozen=True, slots=True)
class Ending:
    """``pitch``: semitones of the last 100 ms of voice above the speaker's median, -8 to 8; ``fall``: dB a second over
    the last 300 ms, -100 to 50."""

    pitch: float = -1.0
    fall: float = -50.0


UNKNOWN = Ending()
"""What is usual, where there is too little to hear."""


def ending(speech: Samples) -> Ending:
    """``speech`` [n] at 16 kHz up to where the detector heard the pause begin."""
    level = _levels_db(speech)
    if len(level) < _LEAST_FRAMES:
        return UNKNOWN
    smooth = np.convolve(level, np.ones(3) / 3, "same")
    loud = np.flatnonzero(smooth > np.percentile(level, 90) - _OVER_DB)
    last = int(loud[-1]) + 1 if len(loud) else len(level)
    tail = smooth[max(0, last - 30) : last]
    fall = float(np.polyfit(np.arange(len(tail)) / 100, tail, 1)[0]) if len(tail) > 5 else UNKNOWN.fall
    pitch = _last_pitch(speech[max(0, last * _HOP - round(_HEARD_S * EAR_RATE_HZ)) : last * _HOP])
    return Ending(UNKNOWN.pitch if pitch is None else min(max(pitch, -8.0), 8.0), min(max(fall, -100.0), 50.0))


def later_s(audio: Samples, silence_s: float) -> float:
    """By how much the sound ended later than the detector says (negative: earlier); ``audio`` ends ``silence_s`` after
    the detector's end."""
    pause = min(len(audio), round(silence_s * EAR_RATE_HZ))
    speech = _levels_db(audio[: len(audio) - pause])
    if len(speech) < _LEAST_FRAMES:
        return 0.0
    level = float(np.percentile(speech, 90))
    before = round(EARLIER_S * EAR_RATE_HZ)
    around = _levels_db(audio[max(0, len(audio) - pause - before) :])
    floor = float(np.percentile(np.concatenate((speech, around)), 10))
    noise = float(np.percentile(around[-max(4, round(_NOISE_PART * len(around))) :], 90))
    least = max(level - _TAIL_DB, floor + _FLOOR_DB)
    if noise < floor + _STEADY_DB:
        least = max(least, noise + _NOISE_DB)
    if least > level - _CLEAR_DB:
        return _USUAL_S  # too noisy to tell
    loud = np.flatnonzero(around > least)
    end_s = (int(loud[-1]) + 1) / 100 - EARLIER_S if len(loud) else -EARLIER_S
    return min(max(end_s, -EARLIER_S), LATER_S, silence_s)


def _levels_db(samples: Samples) -> NDArray[np.float64]:
    frames = len(samples) // _HOP
    power = np.square(samples[: frames * _HOP], dtype=np.float64).reshape(frames, _HOP).mean(axis=1)
    level: NDArray[np.float64] = 10 * np.log10(power + 1e-10)
    return level


def _last_pitch(samples: Samples) -> float | None:
    """Semitones of the last voiced 100 ms above the median, by autocorrelation; None where too little is voiced."""
    if len(samples) < 2 * _WINDOW:
        return None
    frames = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP].astype(np.float64)
    frames = (frames - frames.mean(axis=1, keepdims=True)) * _HANN
    power = 10 * np.log10(np.square(frames).mean(axis=1) + 1e-10)
    lags = np.fft.irfft(np.abs(np.fft.rfft(frames, _FFT)) ** 2)[:, : _LAGS[1]]
    likeness = lags / (lags[:, :1] + 1e-9) / _HANN_LIKENESS
    low, high = _LAGS
    period = (likeness[:, low:high] - 0.0004 * np.arange(high - low)).argmax(axis=1) + low
    voiced = (likeness[np.arange(len(period)), period] > _PERIODIC) & (power > power.max() - _RANGE_DB)
    semitones = 12 * np.log2(EAR_RATE_HZ / 100 / period[voiced])
    if len(semitones) < 8:
        return None
    middle = float(np.median(semitones))
    sound = semitones[np.abs(semitones - middle) < 10]
    return float(np.median(sound[-10:])) - middle


_HANN = np.hanning(_WINDOW)
_HANN_LIKENESS = np.fft.irfft(np.abs(np.fft.rfft(_HANN, _FFT)) ** 2)[: _LAGS[1]]
_HANN_LIKENESS = _HANN_LIKENESS / _HANN_LIKENESS[0]
