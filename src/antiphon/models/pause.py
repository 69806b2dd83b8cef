"""The pause model: does the *sound* of the last seconds end a turn? A small state-space network in numpy.

It hears log-mel levels and the likeness of the sound to itself (pitch), in steps of 40 ms, through a few gated linear
recurrences (RG-LRU: De et al. 2024, "Griffin", section 2.4; ``train/voice/blocks.py`` trains the same blocks). Nothing
is kept between calls: the last eight seconds are computed at once, all steps as matrices, the recurrence in a loop.
``train/turn/pause`` makes the weights.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples
from antiphon.models.packaged import ASSETS, read_weights
from antiphon.models.recurrence import Real, norm, stack

SAMPLE_RATE_HZ = 16_000
STEP_SAMPLES = 640
WINDOW_STEPS = 200
"""What counts: eight seconds."""

ASK_S = 0.2
"""The model tells ends from pauses best when asked with this much of the pause."""

PACKAGED = ASSETS / "pause" / "weights.npz"
SHA256 = "6ebdc6291b027f33dff88a9213ab7c06b43ea9fb6c980716133904f0dda80eb3"

_HOP = 160
_MEL_WINDOW = 512
_BANDS = 40
_BAND_HZ = (60.0, 7_600.0)
_LAG_HOP = 320
_LAG_WINDOW = 800  # 50 ms: three periods of the lowest voice
_LAG_FFT = 1_080
_LAGS = 32
_HUM_BINS = 2  # below 45 Hz there is no voice
_LAG_SAMPLES = (38.0, 246.0)  # 421 to 65 Hz
FEATURES = STEP_SAMPLES // _HOP * _BANDS + STEP_SAMPLES // _LAG_HOP * _LAGS


class PauseModel:
    """The weights, nothing else; thread-safe, one core, a few milliseconds a call."""

    def __init__(self, weights: Mapping[str, NDArray[np.generic]]) -> None:
        """``weights`` by name, as ``train/turn/pause/model.py`` writes them."""
        self._weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    @classmethod
    def load(cls, path: Path | None = None, sha256: str = "") -> "PauseModel":
        """The packaged weights, or those of ``path``. Raises ``ModelUnavailable`` if they are missing or damaged."""
        return cls(read_weights(PACKAGED, SHA256) if path is None else read_weights(path, sha256))

    def log_odds(self, samples: Samples) -> float:
        """Log odds at equal priors that the speaker is done, from 16 kHz mono ``samples`` [n] that end :data:`ASK_S`
        into a pause. The last eight seconds count; below 40 ms there is no opinion (0). Raises ``InvalidInput``."""
        if samples.ndim != 1:
            raise InvalidInput(f"mono samples of shape [n] are wanted, not {samples.shape}", "samples")
        if not np.isfinite(samples).all():
            raise InvalidInput("samples must be finite numbers", "samples")
        heard = features(samples)
        if not len(heard):
            return 0.0
        scale, offset = self._weights["calibration"]
        return float(scale) * float(self.outputs(heard)[-1, 0]) + float(offset)

    def warm_up(self) -> None:
        """One real inference."""
        self.log_odds(np.zeros(SAMPLE_RATE_HZ, np.float32))

    def outputs(self, heard: Real) -> Real:
        """The network on features [steps, 224] -> [steps, 3]: turn (not calibrated), smart-turn's opinion, speech."""
        w = self._weights
        x = stack(w, heard @ w["enter.weight"].T + w["enter.bias"])
        return np.asarray(norm(x, w["norm.weight"]) @ w["leave.weight"].T + w["leave.bias"], np.float32)


def features(samples: Samples) -> Real:
    """What the network hears of samples [n]: [steps, 224], the last step ending with the last sample, at most 200.

    A step: four log-mel pictures of 40 bands (32 ms each, every 10), then two rows of 32 values of autocorrelation (50
    ms each, every 20). Each looks back from its own end; before the first sample there is silence.
    """
    steps = min(len(samples) // STEP_SAMPLES, WINDOW_STEPS)
    return all_features(samples[len(samples) - steps * STEP_SAMPLES :])


def all_features(samples: Samples) -> Real:
    """:func:`features` of all whole steps from the first sample on, however many."""
    steps = len(samples) // STEP_SAMPLES
    if not steps:
        return np.zeros((0, FEATURES), np.float32)
    sound = np.asarray(samples[: steps * STEP_SAMPLES], np.float32)
    mel_window, mel_bank, lag_window, lag_bank, lag_own = _constants()
    power = _power(_frames(sound, _MEL_WINDOW, _HOP) * mel_window, _MEL_WINDOW)
    mel = (np.log(power @ mel_bank + np.float32(1e-6)) + 4.0) / 4.0
    power = _power(_frames(sound, _LAG_WINDOW, _LAG_HOP) * lag_window, _LAG_FFT)
    likeness = (power @ lag_bank) / (power @ lag_own + 1e-4)[:, None]
    return np.concatenate((mel.reshape(steps, -1), likeness.reshape(steps, -1)), axis=1).astype(np.float32)


def _frames(sound: Real, length: int, hop: int) -> Real:
    """Windows of ``length`` that end every ``hop`` samples."""
    padded = np.concatenate((np.zeros(length - hop, np.float32), sound))
    return np.lib.stride_tricks.sliding_window_view(padded, length)[::hop]


def _power(frames: Real, size: int) -> Real:
    spectrum = scipy.fft.rfft(frames, size, axis=-1)
    return np.asarray(np.square(spectrum.real) + np.square(spectrum.imag), np.float32)


@lru_cache(maxsize=1)
def _constants() -> tuple[Real, Real, Real, Real, Real]:
    """Windows and banks: mel [512], [257, 40]; lags [800], [541, 32], and what gives the power itself [541]."""
    hz = np.linspace(0.0, SAMPLE_RATE_HZ / 2, _MEL_WINDOW // 2 + 1)[:, None]
    edges = 2595.0 * np.log10(1.0 + np.array(_BAND_HZ) / 700.0)
    corners = 700.0 * (10.0 ** (np.linspace(edges[0], edges[1], _BANDS + 2) / 2595.0) - 1.0)
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    bank = np.maximum(0.0, np.minimum((hz - low) / (middle - low), (high - hz) / (high - middle)))
    mel_window, lag_window = np.hanning(_MEL_WINDOW), np.hanning(_LAG_WINDOW)
    lags = np.geomspace(*_LAG_SAMPLES, _LAGS)
    own = np.correlate(lag_window, lag_window, "full")[_LAG_WINDOW - 1 :]
    bins = np.arange(_LAG_FFT // 2 + 1)[:, None]
    twice = np.where(bins > _HUM_BINS, 2.0, 0.0) / _LAG_FFT
    waves = twice * np.cos(2 * np.pi * bins * lags / _LAG_FFT)
    waves = waves / np.interp(lags, np.arange(_LAG_WINDOW), own / own[0])
    made = (mel_window, bank / bank.sum(0), lag_window, waves, twice[:, 0])
    return tuple(np.asarray(one, np.float32) for one in made)  # type: ignore[return-value]
