"""A stream of the state-space voice as bytes: all that it needs to go on elsewhere, between two steps.

The bytes are versioned and carry a hash; :mod:`antiphon.core.seal` signs them for a way that others may touch. They
hold what the caller's text was, so they are as private as it is.
"""

import hashlib
import hmac
from collections import deque
from typing import Any

import msgspec

from antiphon.audio.container import load_raw, save_raw
from antiphon.core.errors import InvalidInput
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.engine.ssm_reading import Entry, Flush, Logged, Raw, Relived, SsmReading
from antiphon.engine.ssm_run import SsmRun
from antiphon.engine.ssm_snapshot_parts import (
    EntryData,
    ItemData,
    WordsData,
    entry_data,
    entry_of,
    item_data,
    item_of,
    knobs_data,
    words_data,
    words_of,
)
from antiphon.models.ssm_knobs import Knobs
from antiphon.text.unit import Unit

_MAGIC = b"ANTSTR\x01"
_DIGEST_BYTES = 32
MAX_BYTES = 16 << 20


class StreamData(msgspec.Struct, forbid_unknown_fields=True):
    config: dict[str, Any]
    slot: bytes
    seed: int
    at_sample: int
    queue: list[ItemData]
    words: WordsData
    end_sample: int
    knobs: tuple[float, float, float, float]
    track_volume: float
    sentence_open: bool
    begun: bool
    opening: bool
    ending: str | None
    tail_frames: int
    exact: float
    rounded: int
    inbox: list[EntryData]
    log: list[Logged]
    saved_s: float
    left_s: float
    volume: float
    gain: tuple[float, float, int]
    limit: tuple[int, float]
    encoder: tuple[int, int, int, bytes]
    warned: list[str]


def pack(run: SsmRun, now_s: float) -> bytes:
    """Raises ``InvalidInput`` for a stream that cannot be saved: one in a container, or with markers of another kind
    than text and numbers."""
    track, reading = run.track, run.reading
    data = StreamData(
        config=msgspec.to_builtins(run.config),
        slot=track.model.save(track.state, 0),
        seed=track.seed,
        at_sample=track.at_sample,
        queue=[item_data(item) for item in track.queue],
        words=words_data(track.words),
        end_sample=track.end_sample,
        knobs=knobs_data(track.knobs),
        track_volume=track.volume,
        sentence_open=track.sentence_open,
        begun=track.begun,
        opening=track.opening,
        ending=track.ending,
        tail_frames=track.tail_frames,
        exact=track.exact,
        rounded=track.rounded,
        inbox=[entry_data(entry) for entry in reading.inbox if not isinstance(entry, Relived)],
        log=reading.log,
        saved_s=now_s,
        left_s=max(-1e9, run.dry_s - now_s),
        volume=run.volume,
        gain=run.gain.save(),
        limit=(run.limit.save()[0], max(-1e9, run.limit.save()[1])),
        encoder=save_raw(run.encoder),
        warned=sorted(run.warned),
    )
    body = _MAGIC + msgspec.msgpack.encode(data)
    return body + hashlib.sha256(body).digest()


def unpack(snapshot: bytes) -> StreamData:
    """Raises ``InvalidInput`` for bytes that are damaged, or no snapshot of this version."""
    if len(snapshot) > MAX_BYTES:
        raise InvalidInput(f"a snapshot has at most {MAX_BYTES} bytes, not {len(snapshot)}", "snapshot")
    if snapshot[: len(_MAGIC)] != _MAGIC:
        raise InvalidInput("this is no snapshot of a stream, or one of another version", "snapshot")
    body, digest = snapshot[:-_DIGEST_BYTES], snapshot[-_DIGEST_BYTES:]
    if not hmac.compare_digest(hashlib.sha256(body).digest(), digest):
        raise InvalidInput("the snapshot is damaged: its hash is wrong", "snapshot")
    try:
        return msgspec.msgpack.decode(body[len(_MAGIC) :], type=StreamData)
    except msgspec.DecodeError as error:
        raise InvalidInput(f"the snapshot cannot be read: {error}", "snapshot") from error


def config_of(data: StreamData) -> SpeechConfig:
    """What the saved stream was asked for. Raises ``InvalidInput``."""
    try:
        return msgspec.convert(data.config, SpeechConfig)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"the snapshot cannot be read: {error}", "snapshot") from error


def restore(data: StreamData, run: SsmRun, now_s: float) -> None:
    """Bring a fresh run to where the saved one was. Raises ``InvalidInput`` (other weights, say)."""
    track, width = run.track, run.track.model.width
    track.state = track.model.load(track.state, 0, data.slot)
    track.seed, track.at_sample = data.seed, data.at_sample
    track.queue = deque(item_of(item, width) for item in data.queue)
    track.words = words_of(data.words)
    track.end_sample, track.tail_frames = data.end_sample, data.tail_frames
    track.knobs, track.volume = Knobs(*data.knobs), data.track_volume
    track.sentence_open, track.begun, track.opening = data.sentence_open, data.begun, data.opening
    track.ending = data.ending
    track.exact, track.rounded = data.exact, data.rounded
    later_s = now_s - data.saved_s  # clocks of two machines have nothing in common
    for logged in data.log:
        logged.now_s += later_s
    _fill(run.reading, [entry_of(entry, later_s) for entry in data.inbox], data.log)
    run.dry_s = now_s + data.left_s
    run.volume, run.warned = data.volume, set(data.warned)
    run.gain.load(data.gain)
    run.limit.load(data.limit)
    load_raw(run.encoder, data.encoder)


def _fill(reading: SsmReading, inbox: list[Entry], log: list[Logged]) -> None:
    reading.relive(log)
    reading.inbox.extend(inbox)
    handed = (Raw, Prosody)
    reading.given += sum(isinstance(e, handed) or (isinstance(e, Flush) and e.read) for e in inbox)
    reading.given_chars = sum(len(entry.text) for entry in inbox if isinstance(entry, Unit | Raw))
