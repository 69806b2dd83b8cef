"""Audio as numbers: float32 mono in [-1, 1], with its rate beside it. Positions are integer samples."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.float32]
"""Mono audio, shape ``[samples]``, nominally within [-1, 1]."""


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """What leaves on the wire.

    ``container``: raw, wav, mp3, opus, flac or aac. ``encoding`` (raw and wav only): pcm_s16le, pcm_s32le,
    pcm_f32le, pcm_f16le, pcm_mulaw, pcm_alaw. ``bit_rate_bps``: mp3, opus, aac.
    """

    container: str = "raw"
    encoding: str = "pcm_s16le"
    sample_rate_hz: int = 24_000
    bit_rate_bps: int = 128_000
