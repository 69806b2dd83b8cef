"""Smart Turn v3.2: does the *sound* of the last seconds end a turn? A small Whisper encoder on ONNX Runtime.

The graph reads Whisper's log-mel picture of eight seconds, ``input_features`` float32 [1, 80, 800], and gives the
probability that the speaker is done. The picture is that of OpenAI's Whisper (Radford et al. 2022, arXiv 2212.04356),
of a waveform brought to zero mean and unit variance first: 400-sample periodic Hann windows every 160 samples, mirrored
at the edges, 80 Slaney mel bands from 0 to 8 kHz, log10 clipped 8 below the maximum, ``(x + 4) / 4``.
"""

from pathlib import Path

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from antiphon.core.errors import EngineFailed, InvalidInput
from antiphon.core.frame import Samples
from antiphon.models.session import Sessions, load_session

SAMPLE_RATE_HZ = 16_000
WINDOW_SAMPLES = 8 * SAMPLE_RATE_HZ

_FFT = 400
_HOP = 160
_BANDS = 80
_FLOOR = 1e-10
_LOWEST = -8.0  # log10 below the loudest
_HANN = np.hanning(_FFT + 1)[:-1].astype(np.float32)


class SmartTurn:
    """The classifier. Holds weights only; thread-safe, one core, 50 to 100 ms a call."""

    def __init__(self, path: Path, sessions: Sessions | None = None) -> None:
        """Raises ``ModelUnavailable`` if the graph cannot be loaded."""
        self._session = load_session(path, "smart-turn", sessions)

    def complete(self, samples: Samples) -> float:
        """Probability in [0, 1] that the turn is complete, from 16 kHz mono ``samples`` [n], the pause included.

        The last eight seconds count; fewer are padded with silence in front. Raises ``InvalidInput`` (wrong shape, not
        finite) or ``EngineFailed``.
        """
        if samples.ndim != 1:
            raise InvalidInput(f"mono samples of shape [n] are wanted, not {samples.shape}", "samples")
        if not np.isfinite(samples).all():
            raise InvalidInput("samples must be finite numbers", "samples")
        features = log_mel(last_window(samples))[np.newaxis]
        try:
            (probability,) = self._session.run(None, {"input_features": features})
        except Exception as error:
            raise EngineFailed(f"smart-turn: {error}") from error
        return float(np.ravel(probability)[0])

    def warm_up(self) -> None:
        """One real inference."""
        self.complete(np.zeros(SAMPLE_RATE_HZ, np.float32))


def last_window(samples: Samples) -> Samples:
    """The last eight seconds of samples [n], zeros in front where there are fewer: float32 [128000]."""
    last = samples[-WINDOW_SAMPLES:].astype(np.float32, copy=False)
    return np.pad(last, (WINDOW_SAMPLES - len(last), 0))


def log_mel(window: Samples) -> NDArray[np.float32]:
    """Whisper's picture of samples [128000]: float32 [80, 800]."""
    level = (window - window.mean()) / np.sqrt(window.var() + 1e-7)
    edged = np.pad(level, _FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(edged, _FFT)[: len(window) : _HOP]  # the last one is left out
    spectrum = scipy.fft.rfft(frames * _HANN, axis=-1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    log = np.log10(np.maximum(power @ _MEL, _FLOOR)).T
    return np.ascontiguousarray((np.maximum(log, log.max() + _LOWEST) + 4.0) / 4.0, np.float32)


def _mel_of(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slaney's scale: linear to 1 kHz (15 mel), then 27 mel for each factor of 6.4."""
    return np.where(hz < 1000, hz * 0.015, 15 + 27 * np.log(np.maximum(hz, 1000) / 1000) / np.log(6.4))


def _hz_of(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mel < 15, mel / 0.015, 1000 * 6.4 ** ((mel - 15) / 27))


def _mel_bank() -> NDArray[np.float32]:
    """Triangles of unit area [201, 80], evenly spaced on the mel scale."""
    top = _mel_of(np.array([SAMPLE_RATE_HZ / 2]))[0]
    corners = _hz_of(np.linspace(0.0, top, _BANDS + 2))
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    hz = np.linspace(0.0, SAMPLE_RATE_HZ / 2, _FFT // 2 + 1)[:, np.newaxis]
    rising, falling = (hz - low) / (middle - low), (high - hz) / (high - middle)
    return (np.maximum(0.0, np.minimum(rising, falling)) * 2.0 / (high - low)).astype(np.float32)


_MEL = _mel_bank()
