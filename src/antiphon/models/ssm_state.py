"""All that the state-space voice remembers of its streams: arrays with a leading slot axis, and a slot as bytes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput

HOP = 300
REST = 724
START_F0_HZ = 188.7

_MAGIC = b"ANTSSM"
_VERSION = 1
_HASH_BYTES = 32


@dataclass(slots=True)
class SsmState:
    """A value outside the weights; a row is one slot.

    ``encoder`` and ``decoder`` [slots, size] are the graphs'; the sound's are ``cycles`` and ``f0`` (Hz) at the last
    frame's centre [slots], the ``source`` before it [slots, 3, 300] and the overlapping ``rest`` [slots, 724].
    """

    encoder: NDArray[np.float32]
    decoder: NDArray[np.float32]
    cycles: NDArray[np.float64]
    f0: NDArray[np.float64]
    source: NDArray[np.float32]
    rest: NDArray[np.float32]

    @classmethod
    def start(cls, slots: int, encoder_size: int, decoder_size: int) -> "SsmState":
        """Before the first symbol."""
        return cls(
            np.zeros((slots, encoder_size), np.float32),
            np.zeros((slots, decoder_size), np.float32),
            np.zeros(slots),
            np.full(slots, START_F0_HZ),
            np.zeros((slots, 3, HOP), np.float32),
            np.zeros((slots, REST), np.float32),
        )

    def take(self, rows: Any) -> "SsmState":
        """A copy of some rows."""
        return SsmState(*(np.array(getattr(self, field.name)[rows]) for field in fields(self)))

    def put(self, rows: Any, part: "SsmState") -> None:
        """Overwrite some rows with those of ``part``."""
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(part, field.name)

    @classmethod
    def join(cls, parts: Sequence["SsmState"]) -> "SsmState":
        """All rows of all parts, in order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @property
    def bytes_per_slot(self) -> int:
        return sum(int(getattr(self, field.name)[0].nbytes) for field in fields(self))


def save_slot(state: SsmState, slot: int, weights: bytes) -> bytes:
    """Row ``slot`` as bytes. ``weights`` (32 bytes) says for which graphs it is."""
    body = _MAGIC + bytes([_VERSION]) + weights
    body += b"".join(np.ascontiguousarray(getattr(state, field.name)[slot]).tobytes() for field in fields(state))
    return body + hashlib.sha256(body).digest()


def load_slot(state: SsmState, slot: int, snapshot: bytes, weights: bytes) -> None:
    """Put what :func:`save_slot` gave into row ``slot``. Raises ``InvalidInput`` for anything else."""
    head = len(_MAGIC) + 1
    if snapshot[: len(_MAGIC)] != _MAGIC or len(snapshot) < head + 2 * _HASH_BYTES:
        raise InvalidInput("this is no snapshot of the state-space voice", "snapshot")
    if snapshot[len(_MAGIC)] != _VERSION:
        raise InvalidInput(f"the snapshot has version {snapshot[len(_MAGIC)]}; this reads {_VERSION}", "snapshot")
    body, digest = snapshot[:-_HASH_BYTES], snapshot[-_HASH_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        raise InvalidInput("the snapshot is damaged: its hash is wrong", "snapshot")
    if body[head : head + _HASH_BYTES] != weights:
        raise InvalidInput("the snapshot is of a voice with other weights", "snapshot")
    at = head + _HASH_BYTES
    if len(body) - at != state.bytes_per_slot:
        raise InvalidInput("the snapshot has another size than this voice's state", "snapshot")
    for field in fields(state):
        array = getattr(state, field.name)
        size = array[slot].nbytes
        array[slot] = np.frombuffer(body[at : at + size], array.dtype).reshape(array[slot].shape)
        at += size
