"""The parts of a saved stream of the state-space voice, to plain data and back: queue, inbox, words under way.

Arrays of fields, not names: what is small and many is kept small. A change of any of them is a new version of the
snapshot (:mod:`antiphon.engine.ssm_snapshot`).
"""

from collections import deque

import msgspec
import numpy as np

from antiphon.core.errors import InvalidInput
from antiphon.core.event import Timed
from antiphon.core.speech import Prosody
from antiphon.engine.ssm_reading import Entry, Flush, Raw, Sounds
from antiphon.models.ssm_knobs import Knobs
from antiphon.models.ssm_track import Held, Item, Mark, Silence
from antiphon.models.ssm_words import Said, Word, WordTimer
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken, Text, Unit


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


ItemData = _HeldData | _SilenceData | _MarkData
EntryData = _UnitData | _RawData | _FlushData | _ProsodyData | _SoundsData
_Span = tuple[str, int, int]


class WordsData(msgspec.Struct):
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


def _marker(marker: object) -> str | int | None:
    if marker is None or isinstance(marker, str | int):
        return marker
    raise InvalidInput(f"a stream whose markers are of {type(marker).__name__} cannot be saved", "snapshot")


def knobs_data(knobs: Knobs) -> tuple[float, float, float, float]:
    return knobs.speed, knobs.pitch, knobs.f0_range, knobs.energy


def item_data(item: Item) -> ItemData:
    match item:
        case Held():
            return _HeldData(item.encoding.tobytes(), item.frames, knobs_data(item.knobs), item.volume, item.done)
        case Silence():
            return _SilenceData(item.samples)
        case Mark():
            return _MarkData(_marker(item.marker), item.last)


def item_of(data: ItemData, width: int) -> Item:
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


def entry_data(entry: Unit | Raw | Flush | Prosody | Sounds) -> EntryData:
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


def entry_of(data: EntryData, later_s: float) -> Entry:
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


def words_data(timer: WordTimer) -> WordsData:
    return WordsData(
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


def words_of(data: WordsData) -> WordTimer:
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
