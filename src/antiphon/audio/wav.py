"""The RIFF/WAVE header, written before the length is known and read from the first bytes of a stream.

Source: Microsoft "Multimedia Programming Interface and Data Specifications" (RIFF WAVE), mmreg.h format tags.
"""

import struct
from dataclasses import dataclass

from antiphon.audio.pcm import Buffer, bytes_per_sample
from antiphon.core.errors import InvalidInput

UNKNOWN_SIZE = 0xFFFFFFFF
"""Size field of a stream whose length is not known: players read on until the bytes end."""

_TAGS = {"pcm_s16le": 1, "pcm_s32le": 1, "pcm_f32le": 3, "pcm_alaw": 6, "pcm_mulaw": 7}
_ENCODINGS = {(1, 16): "pcm_s16le", (1, 32): "pcm_s32le", (3, 32): "pcm_f32le", (6, 8): "pcm_alaw", (7, 8): "pcm_mulaw"}
_EXTENSIBLE = 0xFFFE


@dataclass(frozen=True, slots=True)
class WavHeader:
    """What a header says. ``samples`` is None where the writer did not know; audio starts at ``data_offset``."""

    encoding: str
    sample_rate_hz: int
    channels: int
    samples: int | None
    data_offset: int


def header(encoding: str, sample_rate_hz: int, samples: int | None = None) -> bytes:
    """Mono header up to and including the data chunk's size; the samples follow.

    ``samples`` None: a stream of unknown length. Raises ``InvalidInput`` for an encoding WAV has no tag for (f16).
    """
    width = bytes_per_sample(encoding)
    if encoding not in _TAGS:
        raise InvalidInput(f"WAV cannot carry {encoding}; use one of {', '.join(_TAGS)}", "encoding")
    tag = _TAGS[encoding]
    fmt = struct.pack("<HHIIHH", tag, 1, sample_rate_hz, sample_rate_hz * width, width, width * 8)
    fact = b""
    if tag != 1:
        # every format but integer PCM needs the extension's size (0) and a fact chunk with the number of samples
        fmt += struct.pack("<H", 0)
        fact = struct.pack("<4sII", b"fact", 4, UNKNOWN_SIZE if samples is None else samples)
    body = struct.pack("<4s4sI", b"WAVE", b"fmt ", len(fmt)) + fmt + fact
    data_size = None if samples is None else samples * width
    if data_size is not None and len(body) + 8 + data_size + 1 >= UNKNOWN_SIZE:
        data_size = None
    if data_size is None:
        return struct.pack("<4sI", b"RIFF", UNKNOWN_SIZE) + body + struct.pack("<4sI", b"data", UNKNOWN_SIZE)
    riff_size = len(body) + 8 + data_size + data_size % 2
    return struct.pack("<4sI", b"RIFF", riff_size) + body + struct.pack("<4sI", b"data", data_size)


def parse_header(data: Buffer) -> WavHeader | None:
    """Read a header from the first bytes of a file; None when more bytes are needed.

    Raises ``InvalidInput`` when these bytes are no WAV, or one in an encoding that :mod:`antiphon.audio.pcm` lacks.
    """
    head = bytes(data)
    if not b"RIFF".startswith(head[:4]) or not b"WAVE".startswith(head[8:12]):
        raise InvalidInput("these bytes are no WAV file (RIFF ... WAVE expected)")
    encoding: str | None = None
    rate = channels = width = 0
    at = 12
    while at + 8 <= len(head):
        name, size = struct.unpack_from("<4sI", head, at)
        at += 8
        if name == b"data":
            if encoding is None:
                raise InvalidInput("this WAV file has no fmt chunk before its data")
            samples = None if size >= UNKNOWN_SIZE - 255 else size // (width * channels)
            return WavHeader(encoding, rate, channels, samples, at)
        if name == b"fmt ":
            if size < 16:
                raise InvalidInput("this WAV file has a damaged fmt chunk")
            if at + size > len(head):
                return None
            tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", head, at)
            if tag == _EXTENSIBLE and size >= 26:
                tag = struct.unpack_from("<H", head, at + 24)[0]
            encoding = _ENCODINGS.get((tag, bits))
            width = bits // 8
            if encoding is None or channels < 1:
                raise InvalidInput(f"WAV with format tag {tag}, {bits} bits and {channels} channels is not supported")
        at += size + size % 2
    return None
