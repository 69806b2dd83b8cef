"""A stream of the state-space voice as bytes: all that it needs to go on elsewhere, between two steps.

The bytes are versioned and carry a hash; :mod:`antiphon.core.seal` signs them for a way that others may touch. They
hold what the caller's text was, so they are as private as it is.
"""

import hashlib
import hmac
from collections import deque
from typing import Any

import msgspec
import numpy as np

from antiphon.audio.container import load_raw, save_raw
from antiphon.core.errors import InvalidInput
from antiphon.core.event import Timed
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.engine.ssm_reading import Entry, Flush, Logged, Raw, Relived, Sounds, SsmReading
from antiphon.engine.ssm_run import SsmRun
from antiphon.models.ssm_knobs import Knobs
from antiphon.models.ssm_track import Held, Item, Mark, Silence
from antiphon.models.ssm_words import Said, Word, WordTimer
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken, Text, Unit

_MAGIC = b"ANTSTR\x01"
_DIGEST_BYTES = 32
MAX_BYTES = 16 << 20


class _HeldData(msgspec.Struct, tag="held", array_like=True):
    encoding: bytes
    frames: int
    knobs: tuple[float, float, float, float]
    volume: float
    done: int


class _SilenceData(msgspec.Struct, tag="silence", array_like=True):
    samples: int


class _MarkData(msgspec.Struct, tag="mark", array_like=True):
    marker: str | int | None
    last: bool


class _UnitData(msgspec.Struct, tag="unit", array_like=True):
    pieces: list[tuple[str, str, str]]
    ending: str
    pause_s: float
    speed: float
    volume: float
    emotion: str | None
    first: bool
    before: str
    after: str


class _RawData(msgspec.Struct, tag="raw", array_like=True):
    text: str
    now_s: float


class _FlushData(msgspec.Struct, tag="flush", array_like=True):
    marker: str | int | None
    last: bool
    read: bool
    now_s: float


class _ProsodyData(msgspec.Struct, tag="prosody", array_like=True):
    speed: float | None
    volume: float | None
    emotion: str | None


class _SoundsData(msgspec.Struct, tag="sounds", array_like=True):
    names: tuple[str, ...]


_ItemData = _HeldData | _SilenceData | _MarkData
_EntryData = _UnitData | _RawData | _FlushData | _ProsodyData | _SoundsData
_Span = tuple[str, int, int]


class _WordsData(msgspec.Struct):
    pushed: int
    placed: int
    words: list[tuple[str, int, list[int]]]
    spoken: dict[int, _Span]
    owners: list[tuple[str, int]]
    ready: list[tuple[_Span, list[_Span]]]
    sounds: list[_Span]
    next_spoken: int
    stress_sample: int
    end_sample: int


class StreamData(msgspec.Struct, forbid_unknown_fields=True):
    config: dict[str, Any]
    slot: bytes
    seed: int
    at_sample: int
    queue: list[_ItemData]
    words: _WordsData
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
    inbox: list[_EntryData]
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
        queue=[_item_data(item) for item in track.queue],
        words=_words_data(track.words),
        end_sample=track.end_sample,
        knobs=_knobs_data(track.knobs),
        track_volume=track.volume,
        sentence_open=track.sentence_open,
        begun=track.begun,
        opening=track.opening,
        ending=track.ending,
        tail_frames=track.tail_frames,
        exact=track.exact,
        rounded=track.rounded,
        inbox=[_entry_data(entry) for entry in reading.inbox if not isinstance(entry, Relived)],
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
    track.queue = deque(_item(item, width) for item in data.queue)
    track.words = _words(data.words)
    track.end_sample, track.tail_frames = data.end_sample, data.tail_frames
    track.knobs, track.volume = Knobs(*data.knobs), data.track_volume
    track.sentence_open, track.begun, track.opening = data.sentence_open, data.begun, data.opening
    track.ending = data.ending
    track.exact, track.rounded = data.exact, data.rounded
    later_s = now_s - data.saved_s  # clocks of two machines have nothing in common
    for logged in data.log:
        logged.now_s += later_s
    _fill(run.reading, [_entry(entry, later_s) for entry in data.inbox], data.log)
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


def _marker(marker: object) -> str | int | None:
    if marker is None or isinstance(marker, str | int):
        return marker
    raise InvalidInput(f"a stream whose markers are of {type(marker).__name__} cannot be saved", "snapshot")


def _knobs_data(knobs: Knobs) -> tuple[float, float, float, float]:
    return knobs.speed, knobs.pitch, knobs.f0_range, knobs.energy


def _item_data(item: Item) -> _ItemData:
    match item:
        case Held():
            return _HeldData(item.encoding.tobytes(), item.frames, _knobs_data(item.knobs), item.volume, item.done)
        case Silence():
            return _SilenceData(item.samples)
        case Mark():
            return _MarkData(_marker(item.marker), item.last)


def _item(data: _ItemData, width: int) -> Item:
    match data:
        case _HeldData():
            if len(data.encoding) != 4 * width or not 0 <= data.done < data.frames:
                raise InvalidInput("the snapshot holds a symbol that cannot be", "snapshot")
            encoding = np.frombuffer(data.encoding, np.float32)
            return Held(encoding, data.frames, Knobs(*data.knobs), data.volume, data.done)
        case _SilenceData():
            return Silence(data.samples)
        case _MarkData():
            return Mark(data.marker, data.last)


def _entry_data(entry: Unit | Raw | Flush | Prosody | Sounds) -> _EntryData:
    match entry:
        case Unit():
            return _UnitData(
                [_piece_data(piece) for piece in entry.pieces],
                entry.ending,
                entry.pause_s,
                entry.speed,
                entry.volume,
                entry.emotion,
                entry.first,
                entry.before,
                entry.after,
            )
        case Raw():
            return _RawData(entry.text, entry.now_s)
        case Flush():
            return _FlushData(_marker(entry.marker), entry.last, entry.read, entry.now_s)
        case Prosody():
            return _ProsodyData(entry.speed, entry.volume, entry.emotion)
        case Sounds():
            return _SoundsData(entry.names)


def _entry(data: _EntryData, later_s: float) -> Entry:
    match data:
        case _UnitData():
            pieces = tuple(_piece(*piece) for piece in data.pieces)
            rest = (data.ending, data.pause_s, data.speed, data.volume, data.emotion, data.first)
            return Unit(pieces, *rest, data.before, data.after)
        case _RawData():
            return Raw(data.text, data.now_s + later_s)
        case _FlushData():
            return Flush(data.marker, data.last, data.read, data.now_s + later_s)
        case _ProsodyData():
            return Prosody(data.speed, data.volume, data.emotion)
        case _SoundsData():
            return Sounds(data.names)


def _piece_data(piece: Spoken) -> tuple[str, str, str]:
    said = piece.phonemes if isinstance(piece, Ipa) else piece.spoken if isinstance(piece, Respelled) else ""
    return type(piece).__name__, piece.text, said


def _piece(kind: str, text: str, said: str) -> Spoken:
    match kind:
        case "Ipa":
            return Ipa(text, said)
        case "Respelled":
            return Respelled(text, said)
        case "Spell":
            return Spell(text)
    return Text(text)


def _span(timed: Timed) -> _Span:
    return timed.text, timed.start_sample, timed.end_sample


def _words_data(timer: WordTimer) -> _WordsData:
    return _WordsData(
        timer.pushed,
        timer.placed,
        [(word.text, word.last, word.spoken) for word in timer.words],
        {index: (said.text, said.start_sample, said.end_sample) for index, said in timer.spoken.items()},
        list(timer.owners),
        [(_span(word), [_span(one) for one in spoken]) for word, spoken in timer.ready],
        [_span(sound) for sound in timer.sounds],
        timer.next_spoken,
        timer.stress_sample,
        timer.end_sample,
    )


def _words(data: _WordsData) -> WordTimer:
    return WordTimer(
        data.pushed,
        data.placed,
        deque(Word(*word) for word in data.words),
        {index: Said(*said) for index, said in data.spoken.items()},
        deque(data.owners),
        deque((Timed(*word), tuple(Timed(*one) for one in spoken)) for word, spoken in data.ready),
        deque(Timed(*sound) for sound in data.sounds),
        data.next_spoken,
        data.stress_sample,
        data.end_sample,
    )
