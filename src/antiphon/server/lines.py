"""Open streams as the server holds them: each with its place and its page in the journal."""

from dataclasses import dataclass, field
from typing import Protocol

from antiphon.core.clock import Clock
from antiphon.core.engine import Stream
from antiphon.core.event import Audio, Event, Failed, Flushed, Marker, Warned
from antiphon.core.hearing import Heard
from antiphon.core.speech import Prosody
from antiphon.core.turns import TurnEnded, TurnEvent
from antiphon.server.admission import Place
from antiphon.server.journal import (
    AudioSent,
    AudioTaken,
    Finalized,
    Journal,
    Outcome,
    StreamEnded,
    StreamWarned,
    TextHeard,
    TextPushed,
    TurnOver,
)

CLOGGED_S = 10.0
"""With more audio than this waiting to be heard, its sender is not read from: a file comes as fast as it is heard."""


class EarStream(Stream, Protocol):
    """What the server needs of a stream of listening beyond the contract of streams."""

    @property
    def backlog_s(self) -> float:
        """Audio that was pushed but not looked at yet."""
        ...

    @property
    def compute_s(self) -> float:
        """Worker seconds that the stream has cost."""
        ...


@dataclass(slots=True, eq=False)
class Line:
    """An open stream. ``number`` is unique in this process. ``end`` may come from anywhere, more than once."""

    number: int
    stream: Stream
    place: Place
    journal: Journal
    clock: Clock
    listed: "dict[int, Line]" = field(default_factory=dict)
    """All that are open, by number: an end takes the line out."""
    failure: str = ""
    """Why it failed, if it did; decides the outcome that is logged."""
    is_open: bool = True
    _spoke: bool = False
    _sent_bytes: int = 0
    """Audio that the journal has yet to be told of, with ``_sent_s`` and ``_sent_compute_s``."""
    _sent_s: float = 0.0
    _sent_compute_s: float = 0.0

    @property
    def compute_s(self) -> float:
        """Worker seconds that the stream has cost, where only the whole is known; 0 where events tell."""
        return 0.0

    @property
    def clogged(self) -> bool:
        """Whether whoever sends should be made to wait."""
        return False

    def push(self, item: str | Prosody | bytes) -> None:
        """Give input. Raises what the stream raises."""
        if isinstance(item, str):
            self.journal.log(TextPushed(self.clock.now_s(), self.number, len(item)))
        self.stream.push(item)

    def flush(self, marker: Marker, *, last: bool) -> None:
        self.stream.flush(marker, last=last)

    def pulled(self, event: Event) -> None:
        """To be told of every event that was pulled."""
        if isinstance(event, Audio):
            self._sent_bytes += len(event.data)
            self._sent_s += event.samples / event.sample_rate_hz
            self._sent_compute_s += event.compute_s
            if not self._spoke:  # its time counts; of the others only how much they are, which is told later
                self._spoke = True
                self._tell()
            return
        match event:
            case Warned():
                self.warn(event.message)
            case Failed():
                self.failure = event.message

    def warn(self, message: str) -> None:
        """A doubt about this stream, for the log."""
        self.journal.log(StreamWarned(self.clock.now_s(), self.number, message))

    def decided(self, event: TurnEvent) -> None:
        """To be told of every decision about the speaker's turns."""

    def end(self, outcome: Outcome) -> None:
        if self.is_open:
            self.settle()
            self.is_open = False
            self.listed.pop(self.number, None)
            self.stream.close()
            self.place.release()
            final: Outcome = "failed" if self.failure else outcome
            self.journal.log(StreamEnded(self.clock.now_s(), self.number, final, self.failure))

    def settle(self) -> None:
        """Tell the journal what it has yet to be told of the stream."""
        if self.is_open and self._sent_bytes:
            self._tell()

    def _tell(self) -> None:
        sent = AudioSent(self.clock.now_s(), self.number, self._sent_bytes, self._sent_s, self._sent_compute_s)
        self._sent_bytes, self._sent_s, self._sent_compute_s = 0, 0.0, 0.0
        self.journal.log(sent)


@dataclass(slots=True, eq=False)
class EarLine(Line):
    """A stream of listening: bytes in, ``bytes_per_s`` for each second."""

    ear: EarStream = field(kw_only=True)
    """The stream again, by its richer name."""
    bytes_per_s: int = field(kw_only=True)
    _untold_bytes: int = 0
    _told_compute_s: float = 0.0
    _asked_s: dict[Marker, float] = field(default_factory=dict)

    @property
    def compute_s(self) -> float:
        return self.ear.compute_s

    @property
    def clogged(self) -> bool:
        return self.is_open and self.ear.backlog_s > CLOGGED_S

    def push(self, item: str | Prosody | bytes) -> None:
        self.stream.push(item)
        if isinstance(item, bytes):
            self._untold_bytes += len(item)
            if self._untold_bytes >= self.bytes_per_s:  # once a second: frames come fifty times as often
                self.settle()

    def flush(self, marker: Marker, *, last: bool) -> None:
        self._asked_s[marker] = self.clock.now_s()
        self.stream.flush(marker, last=last)

    def pulled(self, event: Event) -> None:
        match event:
            case Heard(final=True):
                self.journal.log(TextHeard(self.clock.now_s(), self.number, len(event.text), len(event.words)))
            case Flushed():
                now_s = self.clock.now_s()
                self.journal.log(Finalized(now_s, self.number, now_s - self._asked_s.pop(event.marker, now_s)))
            case _:
                Line.pulled(self, event)

    def decided(self, event: TurnEvent) -> None:
        if isinstance(event, TurnEnded):
            self.journal.log(TurnOver(self.clock.now_s(), self.number, event.reason))

    def settle(self) -> None:
        if not self.is_open:
            return
        audio_s, compute_s = self._untold_bytes / self.bytes_per_s, self.ear.compute_s
        taken = AudioTaken(self.clock.now_s(), self.number, audio_s, compute_s - self._told_compute_s)
        self._untold_bytes, self._told_compute_s = 0, compute_s
        self.journal.log(taken)
