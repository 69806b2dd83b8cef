"""Raw samples as bytes: linear PCM, floats, and the two companding laws of ITU-T G.711.

``pcm_s16le`` and ``pcm_s32le`` scale by 2**15 and 2**31, so that decode followed by encode gives the same bytes.
Standard library and numpy only; wire machines import this module.
"""

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

Buffer: TypeAlias = bytes | bytearray | memoryview

_BYTES_PER_SAMPLE = {
    "pcm_s16le": 2,
    "pcm_s32le": 4,
    "pcm_f32le": 4,
    "pcm_f16le": 2,
    "pcm_mulaw": 1,
    "pcm_alaw": 1,
}

ENCODINGS: tuple[str, ...] = tuple(_BYTES_PER_SAMPLE)
"""Names of the encodings, as they stand on the wire."""

_MULAW_BIAS = 132
_MULAW_CLIP = 32_635


def bytes_per_sample(encoding: str) -> int:
    """Bytes of one mono sample. Raises ``InvalidInput`` for an encoding that does not exist."""
    try:
        return _BYTES_PER_SAMPLE[encoding]
    except (KeyError, TypeError):
        known = ", ".join(ENCODINGS)
        raise InvalidInput(f"unknown encoding {encoding!r}; valid encodings are {known}", "encoding") from None


def encode(samples: Samples, encoding: str) -> bytes:
    """Float samples ``[samples]`` to bytes.

    Values beyond [-1, 1] are clipped, NaN becomes silence: a damaged sample must not become a full-scale click.
    """
    bytes_per_sample(encoding)
    safe = _within_scale(np.asarray(samples, dtype=np.float32))
    match encoding:
        case "pcm_s16le":
            return _to_s16(safe).astype("<i2", copy=False).tobytes()
        case "pcm_s32le":
            wide = np.rint(safe.astype(np.float64) * 2.0**31)
            return np.minimum(wide, 2.0**31 - 1).astype("<i4").tobytes()
        case "pcm_f16le":
            return safe.astype("<f2").tobytes()
        case "pcm_mulaw":
            return _mulaw_codes()[_to_s16(safe).view(np.uint16)].tobytes()
        case "pcm_alaw":
            return _alaw_codes()[_to_s16(safe).view(np.uint16)].tobytes()
        case _:
            return safe.astype("<f4", copy=False).tobytes()


def decode(data: Buffer, encoding: str) -> Samples:
    """Bytes of whole samples to floats ``[samples]``; floats beyond [-1, 1] are kept, those that are no number are not.

    Raises ``InvalidInput`` when a partial sample is left over (:class:`PcmReader` carries it instead).
    """
    size = bytes_per_sample(encoding)
    if len(data) % size:
        raise InvalidInput(f"{len(data)} bytes are not whole samples of {size} bytes ({encoding})", "encoding")
    match encoding:
        case "pcm_s16le":
            return np.frombuffer(data, "<i2").astype(np.float32) * np.float32(2.0**-15)
        case "pcm_s32le":
            return (np.frombuffer(data, "<i4") * 2.0**-31).astype(np.float32)
        case "pcm_mulaw":
            return _mulaw_levels()[np.frombuffer(data, np.uint8)]
        case "pcm_alaw":
            return _alaw_levels()[np.frombuffer(data, np.uint8)]
        case _:
            floats = np.frombuffer(data, "<f2" if encoding == "pcm_f16le" else "<f4").astype(np.float32)
            return np.nan_to_num(floats, copy=False, nan=0.0, posinf=1.0, neginf=-1.0)


class PcmReader:
    """Decodes bytes that arrive in pieces of any size: half a sample waits for its other half."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._size = bytes_per_sample(encoding)
        self._rest = b""

    def feed(self, data: Buffer) -> Samples:
        """Samples completed by ``data``; possibly none."""
        joined = self._rest + bytes(data)
        whole = len(joined) - len(joined) % self._size
        self._rest = joined[whole:]
        return decode(joined[:whole], self._encoding)

    @property
    def pending_bytes(self) -> int:
        """Bytes of an unfinished sample; not 0 at the end of a stream means that it was cut or is no such PCM."""
        return len(self._rest)


def _within_scale(samples: Samples) -> Samples:
    """Looking is cheaper than mending, and two looks tell all: neither comparison is true of NaN."""
    if not len(samples) or (np.minimum.reduce(samples) >= -1.0 and np.maximum.reduce(samples) <= 1.0):
        return samples
    return np.clip(np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)


def _to_s16(safe: Samples) -> NDArray[np.int16]:
    scaled = safe * np.float32(2.0**15)
    np.rint(scaled, out=scaled)
    whole: NDArray[np.int16] = np.minimum(scaled, np.float32(32_767), out=scaled).astype(np.int16)
    return whole


def _all_s16() -> NDArray[np.int32]:
    """Every 16-bit value, at the index that its bits have when read as unsigned."""
    return np.arange(65_536, dtype=np.uint16).view(np.int16).astype(np.int32)


def _log2_floor(values: NDArray[np.int32]) -> NDArray[np.int32]:
    exponents: NDArray[np.int32] = np.frexp(values.astype(np.float64))[1].astype(np.int32) - 1
    return exponents


@cache
def _mulaw_codes() -> NDArray[np.uint8]:
    """G.711 mu-law code of every 16-bit sample ``[65536]``: sign, 3-bit segment, 4-bit step, all inverted."""
    values = _all_s16()
    biased = np.minimum(np.abs(values), _MULAW_CLIP) + _MULAW_BIAS
    segment = _log2_floor(biased) - 7
    step = (biased >> (segment + 3)) & 0x0F
    sign = np.where(values < 0, 0x80, 0)
    codes: NDArray[np.uint8] = (~(sign | (segment << 4) | step) & 0xFF).astype(np.uint8)
    return codes


@cache
def _mulaw_levels() -> Samples:
    codes = ~np.arange(256, dtype=np.int32) & 0xFF
    magnitude = ((((codes & 0x0F) << 3) + _MULAW_BIAS) << ((codes >> 4) & 0x07)) - _MULAW_BIAS
    return (np.where(codes & 0x80, -magnitude, magnitude) / 2.0**15).astype(np.float32)


@cache
def _alaw_codes() -> NDArray[np.uint8]:
    """G.711 A-law code of every 16-bit sample ``[65536]``: even bits inverted; the lowest segment is linear."""
    values = _all_s16()
    # 13-bit magnitudes; -1 - v for negatives, so that 0 and -1 are mirror images as the standard's table has them
    magnitude = np.where(values < 0, -1 - values, values) >> 3
    segment = np.maximum(_log2_floor(np.maximum(magnitude, 1)) - 4, 0)
    step = np.where(segment < 2, magnitude >> 1, magnitude >> segment) & 0x0F
    sign = np.where(values < 0, 0, 0x80)
    codes: NDArray[np.uint8] = ((sign | (segment << 4) | step) ^ 0x55).astype(np.uint8)
    return codes


@cache
def _alaw_levels() -> Samples:
    codes = np.arange(256, dtype=np.int32) ^ 0x55
    segment = (codes >> 4) & 0x07
    step = ((codes & 0x0F) << 4) + 8
    magnitude = np.where(segment == 0, step, (step + 0x100) << np.maximum(segment - 1, 0))
    return (np.where(codes & 0x80, magnitude, -magnitude) / 2.0**15).astype(np.float32)
