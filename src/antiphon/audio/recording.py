"""A recording, piece by piece, as an ear wants it: any container or raw samples in, 16 kHz mono out.

Nothing holds the whole: an hour costs no more memory than a second. libsndfile reads wav, flac, ogg, opus and mp3; what
it cannot (m4a, mp4, webm, aac) is PyAV's, where that extra is installed.
"""

import io
from collections.abc import Iterator
from typing import IO

import numpy as np
import soundfile

from antiphon.audio.flac import with_length
from antiphon.audio.pcm import PcmReader, bytes_per_sample
from antiphon.audio.resample import Resampler
from antiphon.audio.sniff import container_of
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ

BLOCK_S = 1.0
_HEAD_BYTES = 64
_FLAC_HEAD_BYTES = 42
_FLAC_TAIL_BYTES = 1 << 19
"""More than the largest FLAC frame of a usual encoder."""
_OF_PYAV = ("mp4", "webm", "aac")


def blocks(
    file: IO[bytes], *, encoding: str | None = None, sample_rate_hz: int | None = None, rate_hz: int = EAR_RATE_HZ
) -> Iterator[Samples]:
    """Mono samples [n] at ``rate_hz``, about a second at a time; several channels are averaged.

    ``file`` must be seekable. With ``encoding`` and ``sample_rate_hz`` it is raw PCM, unless it says of itself that it
    is a wav. Raises ``InvalidInput`` where it is no audio, or breaks off as such.
    """
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    container = container_of(head)
    if encoding is not None and sample_rate_hz is not None and container != "wav":
        pieces = _raw(file, encoding, sample_rate_hz)
    elif container in _OF_PYAV:
        pieces = _pyav(file, container)
    else:
        pieces = _sndfile(_with_flac_length(file, head) if container == "flac" else file)
    resampler: Resampler | None = None
    for samples, from_hz in pieces:
        if resampler is None:
            resampler = Resampler(from_hz, rate_hz)
        yield resampler.push(samples)
    if resampler is not None:
        yield resampler.flush()


def _raw(file: IO[bytes], encoding: str, sample_rate_hz: int) -> Iterator[tuple[Samples, int]]:
    reader = PcmReader(encoding)
    size = max(1, int(BLOCK_S * sample_rate_hz)) * bytes_per_sample(encoding)
    while data := file.read(size):
        yield np.clip(np.nan_to_num(reader.feed(data)), -1.0, 1.0), sample_rate_hz


def _sndfile(file: IO[bytes]) -> Iterator[tuple[Samples, int]]:
    try:
        with soundfile.SoundFile(file) as sound:
            size = max(1, int(BLOCK_S * sound.samplerate))
            # Until nothing comes: what a streamed file says about its own length may be 0 or absurd.
            while len(block := sound.read(size, dtype="float32", always_2d=True)):
                mono = block[:, 0] if block.shape[1] == 1 else block.mean(axis=1, dtype=np.float32)
                yield np.ascontiguousarray(mono), int(sound.samplerate)
    except soundfile.LibsndfileError as error:
        why = error.error_string
        raise InvalidInput(f"file: these bytes are no recording that can be read: {why}", "file") from None


def _pyav(file: IO[bytes], container: str) -> Iterator[tuple[Samples, int]]:
    try:
        import av
    except ImportError:
        raise InvalidInput(
            f"file: {container} needs the extra 'aac' on the server (pip install 'antiphon[aac]', its codecs are GPL); "
            "wav, flac, ogg, opus and mp3 need nothing",
            "file",
        ) from None
    try:
        with av.open(file, mode="r") as media:
            if not media.streams.audio:
                raise InvalidInput(f"file: there is no sound in this {container} file", "file")
            rate_hz = int(media.streams.audio[0].rate or EAR_RATE_HZ)
            to_mono = av.AudioResampler(format="flt", layout="mono", rate=rate_hz)
            for frame in media.decode(audio=0):
                for part in to_mono.resample(frame):
                    yield part.to_ndarray()[0].astype(np.float32), rate_hz
    except av.FFmpegError as error:
        raise InvalidInput(f"file: this {container} file cannot be read: {error.strerror}", "file") from None


def _with_flac_length(file: IO[bytes], head: bytes) -> IO[bytes]:
    """A streamed FLAC does not say how long it is, and libsndfile reads no such file: its last frame tells."""
    file.seek(0, io.SEEK_END)
    size = file.tell()
    file.seek(max(_FLAC_HEAD_BYTES, size - _FLAC_TAIL_BYTES))
    tail = file.read()
    file.seek(0)
    start = head[:_FLAC_HEAD_BYTES]
    said = with_length(start + tail)[: len(start)]
    return file if said == start else _Overlaid(file, said)  # type: ignore[return-value]


class _Overlaid(io.RawIOBase):
    """A file with other bytes at its beginning; the file itself is not changed."""

    def __init__(self, file: IO[bytes], head: bytes) -> None:
        self._file = file
        self._head = head

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return self._file.tell()

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        at = self._file.tell()
        data = self._file.read(len(buffer))
        if at < len(self._head):
            head = self._head[at : at + len(data)]
            data = head + data[len(head) :]
        buffer[: len(data)] = data
        return len(data)
