"""MP3, Opus and FLAC as streams, by libsndfile writing into memory that is emptied as it fills.

What each costs and holds back stands in :mod:`antiphon.audio.container`.
"""

from contextlib import suppress
from io import SEEK_CUR, SEEK_SET

import soundfile

from antiphon.audio.framing import Framer, Mp3Frames, OggPages, WholeWrites
from antiphon.core.frame import Samples

MP3_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)
OPUS_BIT_RATES_BPS = (6_000, 256_000)

# libsndfile's SFC_SET_OGG_PAGE_LATENCY_MS (sndfile.h); python-soundfile has no name for it. 50 is the least it takes.
_SET_OGG_PAGE_LATENCY_MS = 0x1302
_OGG_PAGE_LATENCY_MS = 50.0


def mp3_bit_rates_bps(sample_rate_hz: int) -> tuple[int, int]:
    """Least and greatest bit rate that MPEG-1, -2 or -2.5 layer III allows at this sampling rate."""
    if sample_rate_hz >= 32_000:
        return 32_000, 320_000
    return (8_000, 160_000) if sample_rate_hz >= 16_000 else (8_000, 64_000)


class SndfileCodec:
    """One stream through libsndfile. Bytes leave in whole MP3 frames, Ogg pages or FLAC frames."""

    def __init__(self, container: str, sample_rate_hz: int, bit_rate_bps: int) -> None:
        self._sink = _Sink()
        self._framer: Framer
        options: dict[str, object]
        match container:
            case "mp3":
                least, most = mp3_bit_rates_bps(sample_rate_hz)
                self._framer = Mp3Frames()
                # constant bit rate: in the other modes LAME looks 280 ms ahead before the first frame
                options = {"format": "MP3", "subtype": "MPEG_LAYER_III", "bitrate_mode": "CONSTANT"}
            case "opus":
                least, most = OPUS_BIT_RATES_BPS
                self._framer = OggPages()
                options = {"format": "OGG", "subtype": "OPUS"}
            case "flac":
                # level 0: blocks of 1,152 samples instead of 4,096, for nearly the same size
                least, most, bit_rate_bps = 0, 1, 1
                self._framer = WholeWrites()
                options = {"format": "FLAC", "subtype": "PCM_16"}
            case _:
                raise ValueError(f"libsndfile does not stream {container}")
        bit_rate_bps = min(max(bit_rate_bps, least), most)
        # libsndfile takes bit rates as a place between the most (0.0) and the least (1.0) that the format allows
        level = (most - bit_rate_bps) / (most - least)
        # LAME refuses the very end of the scale; this much short of it is still the same bit rate
        options["compression_level"] = min(level, 0.999) if container == "mp3" else level
        self._file = soundfile.SoundFile(self._sink, "w", sample_rate_hz, 1, **options)
        if container == "opus":
            _shorten_pages(self._file)

    def encode(self, samples: Samples) -> bytes:
        if len(samples):
            self._file.write(samples)
        return self._framer.feed(self._sink.take())

    def finish(self) -> bytes:
        self._file.close()
        return self._framer.feed(self._sink.take()) + self._framer.rest()


def _shorten_pages(file: soundfile.SoundFile) -> None:
    """Ogg pages of 60 ms instead of 1 s: the first audio leaves 0.9 s earlier.

    python-soundfile exposes no such setting, so that this goes through its private handle; a test holds it in place.
    """
    with suppress(AttributeError):  # a later python-soundfile may hide it elsewhere: long pages are better than none
        latency_ms = soundfile._ffi.new("double *", _OGG_PAGE_LATENCY_MS)
        soundfile._snd.sf_command(file._file, _SET_OGG_PAGE_LATENCY_MS, latency_ms, soundfile._ffi.sizeof("double"))


class _Sink:
    """The file that libsndfile believes it writes. Keeps only what was not taken yet.

    What it writes behind that point (totals in the header, at the end) comes too late for a stream and is dropped.
    """

    def __init__(self) -> None:
        self._new = bytearray()
        self._at = 0
        self._end = 0

    def take(self) -> bytes:
        new = bytes(self._new)
        self._new.clear()
        return new

    def write(self, data: bytes) -> int:
        begin = self._end - len(self._new)
        if self._at >= begin:
            place = self._at - begin
            self._new[place : place + len(data)] = data
        self._at += len(data)
        self._end = max(self._end, self._at)
        return len(data)

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        self._at = offset + (0 if whence == SEEK_SET else self._at if whence == SEEK_CUR else self._end)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Nothing can be read back; libsndfile asks for the method to exist."""
        return b""
