"""Uncompressed streams: raw samples, or the same behind one WAV header."""

from antiphon.audio import pcm, wav
from antiphon.core.frame import Samples


class PcmCodec:
    """Raw PCM; with ``wav_rate_hz``, one header of unknown length before the first sample, nothing after the last."""

    def __init__(self, encoding: str, wav_rate_hz: int | None = None) -> None:
        self._encoding = encoding
        self._header = b"" if wav_rate_hz is None else wav.header(encoding, wav_rate_hz)

    def encode(self, samples: Samples) -> bytes:
        if not len(samples):
            return b""
        header, self._header = self._header, b""
        return header + pcm.encode(samples, self._encoding)

    def finish(self) -> bytes:
        """Nothing, except that a stream without a single sample is still a valid file."""
        header, self._header = self._header, b""
        return header
