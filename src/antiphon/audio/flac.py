"""The length of a streamed FLAC file, found again.

A FLAC stream is sent before its length is known, and says 0 ("unknown") in its header. FFmpeg and browsers play it;
libsndfile cannot read it until the number stands there. Source: RFC 9639, sections 8.2 (STREAMINFO) and 9.1 (frames).
"""

from dataclasses import dataclass

_TOTAL_AT = 21  # byte with the 4 highest bits of the 36-bit total: 4 "fLaC" + 4 block header + 13 into STREAMINFO
_BLOCK_SIZES = {1: 192} | {code: 144 << code for code in range(2, 6)} | {code: 1 << code for code in range(8, 16)}


@dataclass(frozen=True, slots=True)
class _FrameHeader:
    number: int
    block_samples: int


def with_length(data: bytes) -> bytes:
    """``data`` with its total number of samples filled in, if it is a FLAC stream of unknown length; else unchanged."""
    if len(data) < 42 or data[:4] != b"fLaC" or data[4] & 0x7F != 0:
        return data
    if data[_TOTAL_AT] & 0x0F or any(data[_TOTAL_AT + 1 : _TOTAL_AT + 5]):
        return data
    block_samples = int.from_bytes(data[8:10], "big")
    at = len(data)
    while (at := data.rfind(b"\xff\xf8", 42, at)) >= 0:
        frame = _frame_header(data, at)
        if frame is not None and frame.block_samples <= block_samples:
            total = frame.number * block_samples + frame.block_samples
            field = (data[_TOTAL_AT] >> 4 << 36 | total).to_bytes(5, "big")
            return data[:_TOTAL_AT] + field + data[_TOTAL_AT + 5 :]
    return data


def _frame_header(data: bytes, at: int) -> _FrameHeader | None:
    """Header of a frame of fixed block size; None if these bytes only look like one (its check sum says)."""
    head = data[at : at + 16]
    if len(head) < 6:
        return None
    size_code, rate_code = head[2] >> 4, head[2] & 0x0F
    # the frame number is written like a UTF-8 character of up to 36 bits
    extra = 0 if head[4] < 0x80 else 8 - (head[4] ^ 0xFF).bit_length() - 1
    number = head[4] & (0x7F if extra == 0 else 0x3F >> extra)
    end = 5 + extra
    if extra < 0 or end + 5 > len(head):
        return None
    for byte in head[5:end]:
        number = number << 6 | byte & 0x3F
    samples = _BLOCK_SIZES.get(size_code, 0)
    if size_code in (6, 7):
        width = size_code - 5
        samples = int.from_bytes(head[end : end + width], "big") + 1
        end += width
    end += {12: 1, 13: 2, 14: 2}.get(rate_code, 0)
    if samples == 0 or end >= len(head) or _crc8(head[:end]) != head[end]:
        return None
    return _FrameHeader(number, samples)


def _crc8(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07 if crc & 0x80 else crc << 1) & 0xFF
    return crc
