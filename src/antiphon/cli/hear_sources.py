"""What ``antiphon hear`` listens to: recordings, and whatever comes through a pipe."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from antiphon.audio import pcm, wav
from antiphon.audio.recording import blocks
from antiphon.audio.sniff import container_of, roughness
from antiphon.core.errors import InvalidInput
from antiphon.core.hearing import EAR_RATE_HZ

RAW = "pcm_s16le"
"""What a pipe carries if nobody says otherwise and its first bytes say nothing."""
_PIECE_BYTES = 3_200
_HEAD_BYTES = 4_096
_HEADER_BYTES = 1 << 16
_NOISE = 0.4
_BY_SYNC = ("mp3", "aac")
"""Recognised by a few bits only, which samples may have by chance."""


@dataclass(frozen=True, slots=True)
class Source:
    """``pieces`` are raw samples of one channel as declared, of any length; to be read once."""

    encoding: str
    sample_rate_hz: int
    pieces: Iterator[bytes]


def recorded(path: Path, encoding: str | None, rate_hz: int) -> Source:
    """A file in any format; with ``encoding`` raw samples. What is wrong with it is raised where it is read."""
    return Source("pcm_f32le", EAR_RATE_HZ, _recorded(path, str(path), encoding, rate_hz))


def piped(descriptor: int, encoding: str | None, rate_hz: int) -> Source:
    """Sound from a pipe, as it comes, so that whoever talks into it is written down while talking.

    Without ``encoding`` the first bytes decide: a wav is read as it comes, other containers when all has come, and what
    is none is ``pcm_s16le``. Raises ``InvalidInput`` for a terminal and for a pipe that gives nothing.
    """
    if os.isatty(descriptor):
        raise InvalidInput("standard input is a terminal; pipe sound into it, or name a file or --mic")
    coming = iter(lambda: os.read(descriptor, _PIECE_BYTES), b"")
    head = _at_least(coming, _HEAD_BYTES, b"")
    if not head:
        raise InvalidInput("nothing came through standard input")
    if encoding is not None:
        return Source(encoding, rate_hz, chain([head], coming))
    container = container_of(head)
    if container in _BY_SYNC and not head.startswith(b"ID3") and roughness(head, RAW) < _NOISE:
        container = None
    if container is None:
        return Source(RAW, rate_hz, chain([head], coming))
    if container == "wav":
        head = _at_least(coming, _HEADER_BYTES, head) if wav_header(head) is None else head
        if (said := wav_header(head)) is not None:
            return _wav(said, chain([head[said.data_offset :]], coming))
    return Source("pcm_f32le", EAR_RATE_HZ, _spooled(chain([head], coming)))


def wav_header(head: bytes) -> wav.WavHeader | None:
    """None where it is not whole, or not one of those that can be read as they come."""
    try:
        return wav.parse_header(head)
    except InvalidInput:
        return None


def _wav(said: wav.WavHeader, data: Iterator[bytes]) -> Source:
    width = pcm.bytes_per_sample(said.encoding) * said.channels
    if said.samples is not None:
        data = _first(data, said.samples * width)  # what stands behind the samples is no sound
    if said.channels > 1:
        return Source("pcm_f32le", said.sample_rate_hz, _mixed(data, said.encoding, said.channels))
    return Source(said.encoding, said.sample_rate_hz, data)


def _first(data: Iterator[bytes], count: int) -> Iterator[bytes]:
    for piece in data:
        yield piece[:count]
        count -= len(piece)
        if count <= 0:
            return


def _mixed(data: Iterator[bytes], encoding: str, channels: int) -> Iterator[bytes]:
    reader, rest = pcm.PcmReader(encoding), np.zeros(0, np.float32)
    for piece in data:
        samples = np.concatenate((rest, reader.feed(piece)))
        whole = len(samples) // channels * channels
        rest = samples[whole:]
        yield samples[:whole].reshape(-1, channels).mean(axis=1, dtype=np.float32).tobytes()


def _at_least(coming: Iterator[bytes], count: int, head: bytes) -> bytes:
    while len(head) < count and (piece := next(coming, b"")):
        head += piece
    return head


def _spooled(coming: Iterator[bytes]) -> Iterator[bytes]:
    """Containers are read from their end as well: they are put down in a file first."""
    with tempfile.NamedTemporaryFile(prefix="antiphon-hear-") as file:
        for piece in coming:
            file.write(piece)
        file.flush()
        yield from _recorded(Path(file.name), "standard input", None, EAR_RATE_HZ)


def _recorded(path: Path, name: str, encoding: str | None, rate_hz: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise InvalidInput("there is nothing in it")
            file.seek(0)
            for samples in blocks(file, encoding=encoding, sample_rate_hz=rate_hz if encoding else None):
                yield samples.astype(np.float32).tobytes()
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {str(error).removeprefix('file: ')}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {name}: {error.strerror}") from None
