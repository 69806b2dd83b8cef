"""A WAV file of two voices that is written out of order: each side where it sounded, and taken back where it did not.

Left is channel 0, right channel 1. 16-bit samples at one rate. Nothing is held in memory but the piece being written.
"""

import errno
import os
import struct
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.core.frame import Samples

_FRAME_BYTES = 4
_HEADER_BYTES = 44
_BLOCK_SAMPLES = 1 << 15
_UNKNOWN = 0xFFFFFFFF


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class TwoChannelWav:
    """A file that only its owner may read. Raises ``OSError`` where the disk does. What lies beyond ``max_samples`` is
    not written.

    The header is true after :meth:`close`; until then it says that the length is unknown, which players accept.
    """

    def __init__(self, path: Path, rate_hz: int, max_samples: int) -> None:
        self.path = path
        self.samples = 0
        """Length so far."""
        self._rate_hz = rate_hz
        self._max = max_samples
        # No buffer: what could not be written shall not be tried again behind our back.
        self.file: FileIO = open(path, "xb+", buffering=0, opener=_for_the_owner)  # noqa: SIM115
        try:
            self.file.write(_header(rate_hz, None))
        except BaseException:
            self.file.close()
            raise

    def write(self, channel: int, at: int, samples: Samples) -> None:
        """Put ``samples`` [n] at ``at`` of a channel, over what was there."""
        if at < 0:
            samples, at = samples[-at:], 0
        samples = samples[: max(0, self._max - at)]
        if not len(samples):
            return
        clipped = np.clip(np.nan_to_num(samples), -1.0, 32_767 / 32_768)
        self._put(channel, at, np.rint(clipped * 32_768.0).astype(np.int16))

    def mute(self, channel: int, start: int, stop: int) -> None:
        """Silence in ``[start, stop)`` of a channel."""
        start, stop = max(0, start), min(stop, self.samples)
        while start < stop:
            count = min(stop - start, _BLOCK_SAMPLES)
            self._put(channel, start, np.zeros(count, np.int16))
            start += count

    def move(self, channel: int, start: int, stop: int, by: int) -> None:
        """Move ``[start, stop)`` of a channel by so many samples (less than 0: earlier), leaving silence."""
        start, stop = max(0, start), min(stop, self.samples)
        blocks = range(start, stop, _BLOCK_SAMPLES)
        for begin in blocks if by < 0 else reversed(blocks):  # nothing is overwritten before it was moved
            end = min(begin + _BLOCK_SAMPLES, stop)
            piece = self._get(channel, begin, end)
            self._put(channel, begin, np.zeros(end - begin, np.int16))
            to = begin + by
            self._put(channel, max(0, to), piece[max(0, -to) : max(0, self._max - to)])

    def close(self) -> None:
        """Idempotent."""
        if self.file.closed:
            return
        try:
            self.file.seek(0)
            self.file.write(_header(self._rate_hz, self.samples))
        finally:
            self.file.close()

    def discard(self) -> None:
        """Nothing of it stays on disk: emptied first, in case it cannot be removed. Idempotent, also after close."""
        try:
            os.truncate(self.path, 0)
        except FileNotFoundError:
            pass
        finally:
            self.file.close()
            self.path.unlink(missing_ok=True)

    def _get(self, channel: int, start: int, stop: int) -> NDArray[np.int16]:
        return self._frames(start, stop - start)[:, channel].copy()

    def _frames(self, at: int, count: int) -> NDArray[np.int16]:
        frames = np.zeros((count, 2), np.int16)
        if at < self.samples:
            self.file.seek(_HEADER_BYTES + at * _FRAME_BYTES)
            data = self.file.read(count * _FRAME_BYTES)
            there = np.frombuffer(data[: len(data) // _FRAME_BYTES * _FRAME_BYTES], "<i2").reshape(-1, 2)
            frames[: len(there)] = there
        return frames

    def _put(self, channel: int, at: int, samples: NDArray[np.int16]) -> None:
        if not len(samples):
            return
        frames = self._frames(at, len(samples))
        frames[:, channel] = samples
        data = frames.astype("<i2").tobytes()
        self.file.seek(_HEADER_BYTES + at * _FRAME_BYTES)
        try:
            if self.file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        except OSError:
            self.file.truncate(_HEADER_BYTES + self.samples * _FRAME_BYTES)  # nothing lies where nobody knows of it
            raise
        self.samples = max(self.samples, at + len(samples))


def unfinished(head: bytes) -> bool:
    """Whether a file that begins so was never closed."""
    return head[4:8] in (b"", _UNKNOWN.to_bytes(4, "little"))


def _header(rate_hz: int, samples: int | None) -> bytes:
    """Source: Microsoft "Multimedia Programming Interface and Data Specifications" (RIFF WAVE)."""
    size = _UNKNOWN if samples is None else samples * _FRAME_BYTES
    whole = size if samples is None else size + _HEADER_BYTES - 8
    fmt = struct.pack("<HHIIHH", 1, 2, rate_hz, rate_hz * _FRAME_BYTES, _FRAME_BYTES, 16)
    return struct.pack("<4sI4s4sI", b"RIFF", whole, b"WAVE", b"fmt ", 16) + fmt + struct.pack("<4sI", b"data", size)
