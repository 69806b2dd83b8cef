"""Audio on its way out: one resampler and one codec per stream.

Cost and delay, measured on 24 kHz speech (cost: 20 ms chunks, best of three, one core of a 2-core x86 machine;
rtf = compute seconds / audio seconds). *First*: how much audio must be pushed before the first leaves. *Held*: the
most that is held back later. *Silence*: what a decoder plays before the first sample, by the codec's nature.

=========================  ======  ========  =======  ==========
format                        rtf  first ms  held ms  silence ms
=========================  ======  ========  =======  ==========
raw, wav at 24 kHz         0.0007         0        0           0
raw mu-law at 8 kHz        0.0017         8        8           0
mp3 128 kbit/s, 24 kHz     0.0094        85      103          46
mp3 128 kbit/s, 44.1 kHz   0.0164        60      111          25
mp3 64 kbit/s, 8 kHz       0.0046       255      317         138
opus 128 kbit/s, 24 kHz    0.0162        65       86           0
opus 32 kbit/s, 24 kHz     0.0362        65       86           0
flac, 24 kHz               0.0008        50       48           0
aac 128 kbit/s, 24 kHz     0.0115       130      128          43
=========================  ======  ========  =======  ==========
"""

from typing import Protocol

import numpy as np

from antiphon.audio.codec import Codec
from antiphon.audio.codec_aac import AAC_BIT_RATES_BPS, AAC_RATES_HZ, AacCodec
from antiphon.audio.codec_pcm import PcmCodec
from antiphon.audio.codec_sndfile import (
    MP3_RATES_HZ,
    OPUS_BIT_RATES_BPS,
    OPUS_RATES_HZ,
    SndfileCodec,
    mp3_bit_rates_bps,
)
from antiphon.audio.pcm import bytes_per_sample
from antiphon.audio.resample import Resampler
from antiphon.audio.wav import header as wav_header
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat, Samples

CONTAINERS = ("raw", "wav", "mp3", "opus", "flac", "aac")

LOWEST_RATE_HZ, HIGHEST_RATE_HZ = 4_000, 192_000


class Encoder(Protocol):
    """One stream of audio becoming bytes. Chunked equals whole: where ``push`` is cut does not change the stream."""

    sample_rate_hz: int
    """Rate of the audio on the wire; differs from the one asked for where the codec has no such rate."""
    notice: str | None
    """What could not be done as asked (rate, bit rate), in words for the user."""

    def push(self, samples: Samples) -> bytes:
        """Samples [n] at the model's rate in; bytes that are ready out: whole samples, frames or pages; maybe none."""
        ...

    def flush(self) -> bytes:
        """What can be had of the pushed samples without ending the stream: all of it for raw and wav."""
        ...

    def finish(self) -> bytes:
        """End of the stream: everything that is left. ``b""`` when called again."""
        ...


def check_format(format: AudioFormat) -> None:
    """Raise ``InvalidInput``, naming the field at fault, for a format that no model's rate can be brought to.

    Cheap. :func:`open_encoder` can still refuse: aac without its package, an odd rate out of proportion to the model's.
    """
    if format.container not in CONTAINERS:
        raise InvalidInput(
            f"unknown container {format.container!r}; valid containers are {', '.join(CONTAINERS)}", "container"
        )
    if not LOWEST_RATE_HZ <= format.sample_rate_hz <= HIGHEST_RATE_HZ:
        raise InvalidInput(
            f"sample rate {format.sample_rate_hz} Hz is outside {LOWEST_RATE_HZ} to {HIGHEST_RATE_HZ} Hz", "sample_rate"
        )
    if format.container == "raw":
        bytes_per_sample(format.encoding)
    elif format.container == "wav":
        wav_header(format.encoding, format.sample_rate_hz)
    elif format.container != "flac" and format.bit_rate_bps <= 0:
        raise InvalidInput(f"bit rate must be positive, not {format.bit_rate_bps}", "bit_rate")


def open_encoder(format: AudioFormat, model_rate_hz: int) -> Encoder:
    """An encoder from the model's rate to ``format``. Raises ``InvalidInput`` for a format that cannot be served.

    A rate that the codec lacks becomes its next higher one, a bit rate the nearest possible; ``notice`` says so.
    """
    check_format(format)
    container, asked_hz = format.container, format.sample_rate_hz
    rate_hz = asked_hz
    bit_rates: tuple[int, int] | None = None
    codec: Codec
    match container:
        case "raw":
            codec = PcmCodec(format.encoding)
        case "wav":
            codec = PcmCodec(format.encoding, wav_rate_hz=rate_hz)
        case "aac":
            rate_hz = _nearest_rate(asked_hz, AAC_RATES_HZ)
            bit_rates = AAC_BIT_RATES_BPS
            codec = AacCodec(rate_hz, format.bit_rate_bps)
        case "mp3" | "opus":
            rate_hz = _nearest_rate(asked_hz, MP3_RATES_HZ if container == "mp3" else OPUS_RATES_HZ)
            bit_rates = mp3_bit_rates_bps(rate_hz) if container == "mp3" else OPUS_BIT_RATES_BPS
            codec = SndfileCodec(container, rate_hz, format.bit_rate_bps)
        case _:
            codec = SndfileCodec(container, rate_hz, 0)
    notices = []
    if rate_hz != asked_hz:
        notices.append(f"{container} has no {asked_hz} Hz; {rate_hz} Hz is sent")
    if bit_rates is not None and not bit_rates[0] <= format.bit_rate_bps <= bit_rates[1]:
        possible = min(max(format.bit_rate_bps, bit_rates[0]), bit_rates[1])
        notices.append(f"{container} at {rate_hz} Hz has no {format.bit_rate_bps} bit/s; {possible} bit/s is sent")
    return _StreamEncoder(rate_hz, "; ".join(notices) or None, model_rate_hz, codec)


class _StreamEncoder:
    def __init__(self, rate_hz: int, notice: str | None, model_rate_hz: int, codec: Codec) -> None:
        self.sample_rate_hz = rate_hz
        self.notice = notice
        self._resampler = Resampler(model_rate_hz, rate_hz)
        self._codec: Codec | None = codec
        # Raw samples that go out one by one remember nothing, and what encodes them looks at each itself.
        self._remembers = model_rate_hz != rate_hz or not isinstance(codec, PcmCodec)

    def push(self, samples: Samples) -> bytes:
        if self._codec is None:
            raise ValueError("this encoder is finished; open a new one")
        return self._codec.encode(self._resampler.push(_safe(samples) if self._remembers else samples))

    def flush(self) -> bytes:
        return b"" if self._codec is None else self._codec.encode(self._resampler.flush())

    def finish(self) -> bytes:
        if self._codec is None:
            return b""
        codec, self._codec = self._codec, None
        return codec.encode(self._resampler.flush()) + codec.finish()


def save_raw(encoder: Encoder) -> tuple[int, int, int, bytes]:
    """What an encoder of raw PCM remembers, for :func:`load_raw`. Raises ``InvalidInput`` for any other."""
    if not isinstance(encoder, _StreamEncoder) or not isinstance(encoder._codec, PcmCodec):
        raise InvalidInput("only a stream of raw PCM, and not one that has ended, can be saved", "container")
    return encoder._resampler.save()


def load_raw(encoder: Encoder, memory: tuple[int, int, int, bytes]) -> None:
    """Go on where another encoder of the same raw format was. Raises ``InvalidInput``."""
    if not isinstance(encoder, _StreamEncoder) or not isinstance(encoder._codec, PcmCodec):
        raise InvalidInput("only a stream of raw PCM can be resumed", "container")
    encoder._resampler.load(memory)


def _safe(samples: Samples) -> Samples:
    """One sample that is no number would poison a codec's memory, and with it the rest of the stream."""
    samples = np.asarray(samples, dtype=np.float32)
    if np.isfinite(samples).all():
        return samples
    return np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)


def _nearest_rate(asked_hz: int, possible_hz: tuple[int, ...]) -> int:
    """The lowest possible rate that loses nothing of ``asked_hz``, or else the highest."""
    higher = [rate for rate in possible_hz if rate >= asked_hz]
    return min(higher) if higher else max(possible_hz)
