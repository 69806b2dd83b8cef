"""A stream's text on its way to the state-space voice: read at once where it is short, by the workers where it is long.

Everything that waits is plain data, so that a stream can be saved at any time. What the reader holds cannot be looked
into; it is kept as the log of what was put in since it was last empty, and is read again where the stream goes on.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from antiphon.core.event import Marker
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.engine.ssm_words import WordChunker
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Unit

AT_ONCE_CHARS = 1_000
LOOK_AGAIN_S = 0.1
"""How often a stream whose text is with the workers asks whether it has come back."""


@dataclass(slots=True)
class Raw:
    """Text that a worker has to read."""

    text: str
    now_s: float


@dataclass(frozen=True, slots=True)
class Flush:
    """``read``: the reader has to be flushed first."""

    marker: Marker
    last: bool
    read: bool
    now_s: float


@dataclass(frozen=True, slots=True)
class Sounds:
    """Names of sounds that cannot be made."""

    names: tuple[str, ...]


@dataclass(slots=True)
class Logged:
    """``kind`` is push, tick, flush or prosody."""

    kind: str
    now_s: float = 0.0
    text: str = ""
    prosody: Prosody | None = None


@dataclass(frozen=True, slots=True)
class Relived:
    """What the reader of a resumed stream was given where it was saved; what came of it then is known."""

    entry: Logged


Entry: TypeAlias = Unit | Raw | Prosody | Flush | Sounds | Relived


@dataclass(slots=True)
class SsmReading:
    """The reader is the caller's while nothing is handed over, else the workers'; each counter has one writer."""

    config: SpeechConfig
    inbox: deque[Entry] = field(default_factory=deque)
    log: list[Logged] = field(default_factory=list)
    reader: SpeechReader = field(init=False)
    _chunker: WordChunker = field(init=False)
    given: int = 0
    """Entries that were handed over to be read by a worker."""
    done: int = 0
    given_chars: int = 0
    read_chars: int = 0
    taken_chars: int = 0

    def __post_init__(self) -> None:
        delay_s = self.config.max_buffer_delay_s
        language = self.config.language
        self._chunker = WordChunker(language, delay_s)
        said = self.config.pronunciations
        self.reader = SpeechReader(language, delay_s, chunker=self._chunker, pronunciations=said)
        self.reader.set_prosody(self.config.speed, self.config.volume, self.config.emotion)

    @property
    def behind(self) -> bool:
        return self.given != self.done

    @property
    def pending_chars(self) -> int:
        return self.given_chars + self.read_chars - self.taken_chars + self.reader.pending_chars

    # -- the caller's side -----------------------------------------------------------------------

    def push(self, text: str, now_s: float) -> None:
        if self.behind or len(text) > AT_ONCE_CHARS:
            # With no delay every push is an utterance of its own, so it may not be cut.
            size = AT_ONCE_CHARS if self.config.max_buffer_delay_s > 0 else len(text)
            for at in range(0, len(text), max(1, size)):
                self._later(Raw(text[at : at + size], now_s))
            self.given_chars += len(text)
        else:
            entries = self._read(text, now_s)
            self.given_chars += _chars(entries)
            self.inbox.extend(entries)

    def set_prosody(self, item: Prosody) -> None:
        if self.behind:
            self._later(item)
        else:
            self._change(item)

    def flush(self, marker: Marker, last: bool, now_s: float) -> None:
        if self.behind:
            self._later(Flush(marker, last, True, now_s))
        else:
            entries = self._flushed(now_s)
            self.given_chars += _chars(entries)
            self.inbox.extend(entries)
            self.inbox.append(Flush(marker, last, False, now_s))

    def tick(self, now_s: float) -> float | None:
        if self.behind:
            return now_s + LOOK_AGAIN_S
        due_s = self.reader.due_s
        if due_s is not None and now_s >= due_s:
            units = self.reader.tick(now_s)
            self.log.append(Logged("tick", now_s))
            self.given_chars += _chars(units)
            self.inbox.extend(units)
        return self.reader.due_s

    # -- the workers' side -----------------------------------------------------------------------

    def next(self) -> Unit | Flush | Sounds | None:
        """The next entry to be acted upon; None: look again (something was read) or nothing is there."""
        entry = self.inbox.popleft() if self.inbox else None
        read: list[Entry] = []
        match entry:
            case Raw():
                self.taken_chars += len(entry.text)
                read = self._read(entry.text, entry.now_s)
            case Prosody():
                self._change(entry)
            case Relived():
                self._replay(entry.entry)
            case Flush() if entry.read:
                read = [*self._flushed(entry.now_s), Flush(entry.marker, entry.last, False, entry.now_s)]
            case Unit():
                self.taken_chars += len(entry.text)
                return entry
            case _:
                return entry
        self.read_chars += _chars(read)
        self.inbox.extendleft(reversed(read))
        self.done += 1
        return None

    # -- both ------------------------------------------------------------------------------------

    def relive(self, log: list[Logged]) -> None:
        """Bring a fresh reader to where another one was: at once, or with the workers where that is long."""
        self.log = list(log)
        if sum(len(entry.text) for entry in log) <= AT_ONCE_CHARS:
            for entry in log:
                self._replay(entry)
            return
        for entry in log:
            # Where a text is cut makes no difference, unless every push is an utterance of its own.
            size = AT_ONCE_CHARS if self.config.max_buffer_delay_s > 0 else max(1, len(entry.text))
            for at in range(0, max(1, len(entry.text)), size):
                self._later(Relived(replace(entry, text=entry.text[at : at + size])))

    def _replay(self, entry: Logged) -> None:
        match entry.kind:
            case "push":
                self.reader.push(entry.text, entry.now_s)
            case "tick":
                self.reader.tick(entry.now_s)
            case "flush":
                self.reader.flush(entry.now_s)
        if entry.prosody is not None:
            self.reader.set_prosody(entry.prosody.speed, entry.prosody.volume, entry.prosody.emotion)
        self.reader.sounds.clear()

    def _later(self, entry: Entry) -> None:
        self.given += 1
        self.inbox.append(entry)

    def _read(self, text: str, now_s: float) -> list[Entry]:
        units = self.reader.push(text, now_s)
        if self.log and self.log[-1].kind == "push":
            self.log[-1].text += text
            self.log[-1].now_s = now_s
        else:
            self.log.append(Logged("push", now_s, text))
        return self._entries(units)

    def _flushed(self, now_s: float) -> list[Entry]:
        units = self.reader.flush(now_s)
        self.log.append(Logged("flush", now_s))
        return self._entries(units)

    def _change(self, item: Prosody) -> None:
        self.reader.set_prosody(item.speed, item.volume, item.emotion)
        self.log.append(Logged("prosody", prosody=item))

    def _entries(self, units: list[Unit]) -> list[Entry]:
        names = tuple(dict.fromkeys(self.reader.sounds))
        self.reader.sounds.clear()
        if not self.reader.pending_chars and self.log and self.log[-1].kind == "flush":
            # Nothing is held any more; only the prosody in force has to be known.
            speed, volume, emotion = self._chunker.prosody
            self.log = [Logged("prosody", prosody=Prosody(speed, volume, emotion or "neutral"))]
        return [Sounds(names), *units] if names else list(units)


def _chars(entries: Sequence[Entry]) -> int:
    return sum(len(entry.text) for entry in entries if isinstance(entry, Unit))
