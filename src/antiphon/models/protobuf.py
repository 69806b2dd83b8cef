"""The wire format of protocol buffers, as far as cutting an ONNX graph needs it (protobuf.dev, "Encoding")."""

from collections.abc import Iterator
from typing import TypeVar

Bytes = TypeVar("Bytes", bytes, memoryview)


def read_fields(message: Bytes) -> Iterator[tuple[int, Bytes, Bytes]]:
    """Fields of one message: number, payload (empty unless length-delimited), and the field's whole bytes.

    Raises ``ValueError`` for a wire type that does not exist.
    """
    at = 0
    while at < len(message):
        start = at
        key, at = _read_varint(message, at)
        payload = message[:0]
        match key & 7:
            case 0:
                _, at = _read_varint(message, at)
            case 1:
                at += 8
            case 2:
                size, at = _read_varint(message, at)
                payload = message[at : at + size]
                at += size
            case 5:
                at += 4
            case kind:
                raise ValueError(f"unknown wire type {kind}")
        yield key >> 3, payload, message[start:at]


def write_field(number: int, payload: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _read_varint(message: bytes | memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
