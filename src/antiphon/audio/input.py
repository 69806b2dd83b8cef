"""What a caller sends, as the ear wants it: bytes of any encoding and rate in, 16 kHz floats out, and doubts about it.

Bytes may arrive in pieces of any size, half samples included. Nothing is denoised or levelled: denoisers raise the
error rate of recognisers. Input that cannot be meant as it is declared is reported once, in words, not swallowed.
"""

from dataclasses import dataclass, field

import numpy as np

from antiphon.audio.pcm import Buffer, PcmReader, bytes_per_sample
from antiphon.audio.resample import Resampler
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ

RATE_RANGE_HZ = (8_000, 48_000)
USUAL_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)

_FLOAT_LIMIT = 16.0
"""Floats are to lie in [-1, 1]; a loud mixer may exceed it a little, samples scaled as 16-bit integers by far."""
_SILENT_START_S = 10.0
_SILENT_LATER_S = 60.0
_FAINT_PEAK = 1e-3  # -60 dBFS
_FAINT_AFTER_S = 10.0
_NOISE_AFTER_S = 3.0
_NOISE_RMS = 0.25
_NOISE_CROSSINGS = 0.4
_DC_LEVEL = 0.1
_DC_AFTER_S = 3.0
_PACE_AFTER_S = 10.0
_PACE_GAP_S = 1.0
_PACE_TOLERANCE = 0.04


class EarInput:
    """One stream's bytes to 16 kHz mono samples. Output does not depend on how the bytes are cut.

    Raises ``InvalidInput`` for an encoding or a rate that does not exist, saying which do.
    """

    def __init__(self, encoding: str, sample_rate_hz: int) -> None:
        self.bytes_per_s = bytes_per_sample(encoding) * sample_rate_hz
        low, high = RATE_RANGE_HZ
        if not low <= sample_rate_hz <= high:
            usual = ", ".join(map(str, USUAL_RATES_HZ))
            raise InvalidInput(
                f"sample rate {sample_rate_hz} Hz is not between {low} and {high} Hz; usual rates are {usual}",
                "sample_rate",
            )
        self._reader = PcmReader(encoding)
        self._resampler = Resampler(sample_rate_hz, EAR_RATE_HZ)
        self._doubts = Doubts(encoding, sample_rate_hz)
        self._scale: np.float32 | None = None
        self._floats = encoding in ("pcm_f32le", "pcm_f16le")

    def push(self, data: Buffer) -> Samples:
        """Samples [n] at 16 kHz that ``data`` completes; possibly none."""
        samples = self._reader.feed(data)
        if not len(samples):
            return samples
        if self._floats:
            samples = self._sane(samples)
        self._doubts.look(samples)
        return self._resampler.push(np.clip(samples, -1.0, 1.0) if self._floats else samples)

    def arrived(self, size: int, now_s: float) -> None:
        """Tell that ``size`` bytes came at ``now_s``: the pace shows a rate that was declared wrongly."""
        self._doubts.arrived(size / self.bytes_per_s, now_s)

    def flush(self) -> Samples:
        """What the rate change holds back, as if silence followed; the stream may go on. Half a sample stays behind."""
        return self._resampler.flush()

    def warnings(self) -> list[str]:
        """Doubts that have come up since the last call; each is told once in a stream."""
        return self._doubts.take()

    def _sane(self, samples: Samples) -> Samples:
        if self._scale is None and float(np.abs(samples).max()) > _FLOAT_LIMIT:
            self._scale = np.float32(2.0**-15)
            self._doubts.say("scale", f"float samples reach {np.abs(samples).max():.0f}, but should lie in [-1, 1]; "
                             "they are taken as 16-bit values (divide by 32768, or declare pcm_s16le)")  # fmt: skip
        return samples if self._scale is None else samples * self._scale


@dataclass(slots=True)
class Doubts:
    """What makes input implausible. Looks at samples at the caller's rate; positions are its own count."""

    encoding: str
    rate_hz: int
    _said: set[str] = field(default_factory=set)
    _waiting: list[str] = field(default_factory=list)
    _samples: int = 0
    _still_samples: int = 0
    _loud_once: bool = False
    _peak: float = 0.0
    _mean: float = 0.0
    _noisy_samples: int = 0
    _last: float = float("nan")
    _pace_from_s: float | None = None
    _pace_last_s: float = 0.0
    _pace_media_s: float = 0.0

    def look(self, samples: Samples) -> None:
        """``samples`` [n > 0] in [-1, 1] as declared."""
        size = len(samples)
        self._samples += size
        low, high = float(samples.min()), float(samples.max())
        still = low == high and (low == self._last or not np.isfinite(self._last))
        self._last = float(samples[-1])
        self._still_samples = self._still_samples + size if still else 0
        self._loud_once |= not still
        peak = max(abs(low), abs(high))
        self._peak = max(self._peak, peak)
        self._mean += (float(samples.mean()) - self._mean) * min(1.0, size / self.rate_hz)
        self._noise(samples)
        limit_s = _SILENT_LATER_S if self._loud_once else _SILENT_START_S
        if self._still_samples > limit_s * self.rate_hz:
            self.say("silence", f"nothing but digital silence for {limit_s:.0f} s: is the microphone muted, or the "
                     "wrong device chosen?")  # fmt: skip
        elif self._loud_once and self._peak < _FAINT_PEAK and self._samples > _FAINT_AFTER_S * self.rate_hz:
            self.say("faint", f"no sample of the first {_FAINT_AFTER_S:.0f} s is above -60 dB of full scale: are the "
                     f"samples scaled as {self.encoding} should be?")  # fmt: skip
        if abs(self._mean) > _DC_LEVEL and self._samples > _DC_AFTER_S * self.rate_hz:
            self.say("encoding", f"the samples have a constant offset of {self._mean:+.2f}: "
                     f"is the encoding {self.encoding}?")  # fmt: skip

    def _noise(self, samples: Samples) -> None:
        if len(samples) < 2:
            return
        crossings = float(np.count_nonzero(np.signbit(samples[1:]) != np.signbit(samples[:-1]))) / (len(samples) - 1)
        rms = float(np.sqrt(np.mean(np.square(samples))))
        white = rms > _NOISE_RMS and crossings > _NOISE_CROSSINGS
        self._noisy_samples = self._noisy_samples + len(samples) if white else 0
        if self._noisy_samples > _NOISE_AFTER_S * self.rate_hz:
            self.say("encoding", "the input is loud white noise: bytes of another encoding look like that when read as "
                     f"{self.encoding}")  # fmt: skip

    def arrived(self, media_s: float, now_s: float) -> None:
        """Media that comes steadily, but at the pace of another usual rate."""
        if self._pace_from_s is None or now_s - self._pace_last_s > _PACE_GAP_S:
            self._pace_from_s, self._pace_media_s = now_s, 0.0  # a gap: count anew, and not the chunk that opens it
            self._pace_last_s = now_s
            return
        self._pace_last_s = now_s
        self._pace_media_s += media_s
        spent_s = now_s - self._pace_from_s
        if spent_s < _PACE_AFTER_S:
            return
        pace = self._pace_media_s / spent_s
        self._pace_from_s, self._pace_media_s = now_s, 0.0
        for rate_hz in USUAL_RATES_HZ:
            ratio = rate_hz / self.rate_hz
            if abs(ratio - 1) > 0.15 and abs(pace / ratio - 1) < _PACE_TOLERANCE:
                self.say("rate", f"audio arrives at {pace:.2f} of real time, as {rate_hz} Hz would that are declared "
                         f"as {self.rate_hz} Hz: check the sample rate")  # fmt: skip
                return

    def say(self, key: str, message: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self._waiting.append(message)

    def take(self) -> list[str]:
        waiting, self._waiting = self._waiting, []
        return waiting
