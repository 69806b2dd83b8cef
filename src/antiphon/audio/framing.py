"""Whole frames out of bytes that arrive in pieces, so that every chunk on the wire can be decoded as it comes.

Sources: ISO/IEC 11172-3 and 13818-3 (MPEG audio header), RFC 3533 (Ogg page header).
"""

from typing import Protocol

_MPEG1_KBPS = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MPEG2_KBPS = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_MPEG_HZ = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}


class Framer(Protocol):
    """Passes on whole frames and keeps the beginning of the next one."""

    def feed(self, data: bytes) -> bytes: ...

    def rest(self) -> bytes:
        """What is left when the stream has ended."""
        ...


class WholeWrites:
    """For an encoder whose every write is a whole frame (libFLAC hands over one block at a time)."""

    def feed(self, data: bytes) -> bytes:
        return data

    def rest(self) -> bytes:
        return b""


class Mp3Frames:
    """MPEG layer III frames. The first one is dropped if it is the empty place of an Info tag.

    LAME keeps a frame free for totals that it writes at the end, by seeking back. A stream cannot: sent as it is, that
    frame is one more frame of silence before the first word.
    """

    def __init__(self) -> None:
        self._held = b""
        self._at_start = True

    def feed(self, data: bytes) -> bytes:
        held = self._held + data
        at = 0
        while (size := mp3_frame_bytes(held, at)) is not None and at + size <= len(held):
            if self._at_start:
                self._at_start = False
                if not any(held[4:size]):
                    held = held[size:]
                    continue
            at += size
        self._held = held[at:]
        return held[:at]

    def rest(self) -> bytes:
        held, self._held = self._held, b""
        return held


class OggPages:
    """Pages of an Ogg stream."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        held = self._held + data
        at = 0
        while (size := ogg_page_bytes(held, at)) is not None and at + size <= len(held):
            at += size
        self._held = held[at:]
        return held[:at]

    def rest(self) -> bytes:
        held, self._held = self._held, b""
        return held


def mp3_frame_bytes(data: bytes, at: int = 0) -> int | None:
    """Size of the layer III frame whose header is at ``at``; None if no whole header is there.

    Raises ``ValueError`` if something else is there: the stream is out of step.
    """
    if at + 4 > len(data):
        return None
    version = (data[at + 1] >> 3) & 3
    rate = (data[at + 2] >> 2) & 3
    kbps = data[at + 2] >> 4
    is_header = data[at] == 0xFF and data[at + 1] & 0xE6 == 0xE2
    if not is_header or version == 1 or rate == 3 or kbps in (0, 15):
        raise ValueError(f"no MPEG layer III frame header at byte {at}: {data[at : at + 4].hex()}")
    padding = (data[at + 2] >> 1) & 1
    bits, samples = (_MPEG1_KBPS[kbps], 1_152) if version == 3 else (_MPEG2_KBPS[kbps], 576)
    return samples // 8 * bits * 1_000 // _MPEG_HZ[version][rate] + padding


def ogg_page_bytes(data: bytes, at: int = 0) -> int | None:
    """Size of the Ogg page at ``at``; None until its whole header is there. Raises ``ValueError`` if it is none."""
    if at + 27 > len(data):
        return None
    if data[at : at + 4] != b"OggS":
        raise ValueError(f"no Ogg page at byte {at}: {data[at : at + 4].hex()}")
    segments = data[at + 26]
    if at + 27 + segments > len(data):
        return None
    return 27 + segments + sum(data[at + 27 : at + 27 + segments])
