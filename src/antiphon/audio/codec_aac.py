"""AAC in ADTS frames, by PyAV (``pip install 'antiphon[aac]'``).

Source of the frame header: ISO/IEC 13818-7, 6.2 (adts_fixed_header, adts_variable_header).
"""

from typing import Any

import numpy as np

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

AAC_RATES_HZ = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000)
AAC_BIT_RATES_BPS = (16_000, 256_000)

_FRAME_SAMPLES = 1_024


class AacCodec:
    """AAC-LC; every packet of 1,024 samples leaves as one ADTS frame. Raises ``InvalidInput`` where PyAV is missing."""

    def __init__(self, sample_rate_hz: int, bit_rate_bps: int) -> None:
        try:
            import av
        except ImportError:
            raise InvalidInput("aac needs PyAV: pip install 'antiphon[aac]'", "response_format") from None
        self._new_frame = av.AudioFrame.from_ndarray
        self._context: Any = av.CodecContext.create("aac", "w")
        self._context.sample_rate = sample_rate_hz
        self._context.layout = "mono"
        self._context.format = "fltp"
        least, most = AAC_BIT_RATES_BPS
        # an AAC frame may not exceed 6,144 bits a channel
        most = min(most, 6_144 * sample_rate_hz // _FRAME_SAMPLES)
        self._context.bit_rate = min(max(bit_rate_bps, least), most)
        self._rate_hz = sample_rate_hz
        self._rest: Samples = np.zeros(0, np.float32)

    def encode(self, samples: Samples) -> bytes:
        self._rest = np.concatenate((self._rest, samples))
        whole = len(self._rest) - len(self._rest) % _FRAME_SAMPLES
        made = b"".join(self._packets(self._rest[at : at + _FRAME_SAMPLES]) for at in range(0, whole, _FRAME_SAMPLES))
        self._rest = self._rest[whole:].copy()
        return made

    def finish(self) -> bytes:
        tail = b""
        if len(self._rest):
            tail = self._packets(np.pad(self._rest, (0, _FRAME_SAMPLES - len(self._rest))))
        return tail + self._packets(None)

    def _packets(self, samples: Samples | None) -> bytes:
        frame = None
        if samples is not None:
            frame = self._new_frame(np.ascontiguousarray(samples[None, :]), format="fltp", layout="mono")
            frame.sample_rate = self._rate_hz
        packets = self._context.encode(frame)
        return b"".join(_adts_header(self._rate_hz, packet.size) + bytes(packet) for packet in packets)


def _adts_header(sample_rate_hz: int, payload_bytes: int) -> bytes:
    """Seven bytes before a raw AAC-LC block: MPEG-4, no CRC, mono, buffer fullness "variable"."""
    size = payload_bytes + 7
    rate = AAC_RATES_HZ.index(sample_rate_hz)
    profile, channels = 1, 1
    return bytes(
        (
            0xFF,
            0xF1,
            profile << 6 | rate << 2 | channels >> 2,
            (channels & 3) << 6 | size >> 11,
            size >> 3 & 0xFF,
            (size & 7) << 5 | 0x1F,
            0xFC,
        )
    )
