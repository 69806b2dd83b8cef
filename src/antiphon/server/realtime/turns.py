"""The user's turns on a Realtime socket, by what the client is told of them. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from antiphon.core.brain import Message
from antiphon.core.event import Event, Failed, Flushed
from antiphon.core.hearing import EAR_RATE_HZ, Listened, SpeechStarted, SpeechStopped
from antiphon.core.turns import TurnEnded, TurnEvent, TurnStarted
from antiphon.dialog.conversation_log import EarSaid
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.openai_realtime_items import Item
from antiphon.protocol.openai_realtime_session import TurnDetection
from antiphon.server.realtime.answers import RealtimeAnswers
from antiphon.server.realtime.notes import Notes

_SAMPLES_PER_MS = EAR_RATE_HZ // 1000
_MAX_WAITING = 8


@dataclass(frozen=True, slots=True)
class _Said:
    """A turn that nobody has asked an answer for yet. ``over``: said over an answer that was not to be interrupted."""

    turn: int
    text: str
    over: bool


class RealtimeTurns:
    """``detection`` is that of the session now.

    A turn begins with speech and is over when an answer to it is asked for: by the socket, or by a client that decides
    about turns itself. What is written is a turn once an answer is asked for.
    """

    def __init__(self, notes: Notes, answers: RealtimeAnswers, detection: Callable[[], TurnDetection | None]) -> None:
        self._notes = notes
        self._answers = answers
        self._detection = detection
        self._count = 0
        self._speaking = 0  # the turn that is being said; 0: none
        self._stopped: int | None = 0  # sample after which the ear has heard nobody; None: it hears somebody
        self._waiting: list[_Said] = []
        self._committed = 0  # sample up to which the user's audio is in items, or thrown away
        self._item = ""  # the latest of them
        self._silence = ""  # the item that stands for a silence that was too long
        self._written = False  # by the user, and nobody was asked about it

    def heard(self, event: Event | TurnEvent, offset: int) -> None:
        """An event of an ear whose first sample is the session's at ``offset``."""
        if isinstance(event, TurnEvent | Listened | Flushed):
            return
        if isinstance(event, SpeechStarted):
            self._stopped = None
            if self._detection() is None:
                self._start(event.at_sample + offset)
        elif isinstance(event, SpeechStopped):
            self._stopped = event.at_sample + offset
        self._notes.tell(EarSaid(event, offset))

    def told(self, event: wire.ServerEvent) -> None:
        """What the client is told."""
        match event:
            case wire.SpeechBegan():
                self._start(event.audio_start_ms * _SAMPLES_PER_MS)
                detection = self._detection()
                self._answers.spoken_over(detection is not None and detection.interrupt_response)
            case wire.IdleTimeout():
                self._silence = event.item_id
            case wire.Committed():
                self._commit(event.item_id)
            case wire.Cleared():
                if self._speaking:
                    self._notes.note(self._speaking, "turn.ignored", "the client threw it away")
                self._speaking, self._committed = 0, self._notes.at.sample
            case wire.TranscriptionFailed() if self._waiting and not isinstance(self._notes.given, Failed):
                self._notes.note(self._waiting[-1].turn, "ear.failed", event.error.message, "stt")
            case wire.ItemAdded():
                self._written = self._written or self._is_written(event.item)
            case _:
                pass

    def answered(self, messages: Sequence[Message]) -> int:
        """An answer is asked for to what was said: which turn that is; 0: to none."""
        last = messages[-1] if messages else Message("system", "")
        written, self._written = self._written and last.role == "user", False
        if self._waiting:
            *others, said = self._waiting
            self._waiting.clear()
            for other in others:
                self._notes.note(other.turn, "turn.ignored", "answered with what was said after it")
            text = said.text or (last.content if last.role == "user" else "")
            self._notes.note(said.turn, "turn.kept" if said.over else "turn.ended", text)
            return said.turn
        if written:
            self._count += 1
            self._notes.note(self._count, "turn.written", last.content)
            return self._count
        return 0

    def end(self) -> int:
        """The session is over: which turn has not had its answer; 0: none."""
        turn = self._speaking
        if self._answers.awaited and self._waiting:  # not all of its words were known
            said = self._waiting.pop()
            self._notes.note(said.turn, "turn.ended", said.text)
            turn = turn or said.turn
        for said in self._waiting:
            self._notes.note(said.turn, "turn.ignored", "no answer was asked for")
        return turn

    def _start(self, at_sample: int) -> None:
        if not self._speaking:
            self._speaking = self._count = self._count + 1
            self._notes.tell(TurnStarted(at_sample))
            self._notes.note(self._speaking, "turn.started")

    def _commit(self, item_id: str) -> None:
        notes, given = self._notes, self._notes.given
        begun, self._committed, self._item = self._committed, notes.at.sample, item_id
        if item_id == self._silence:
            return
        self._start(begun)
        turn, self._speaking = self._speaking, 0
        if self._stopped is None or self._stopped <= begun:  # the client says so before the ear has noticed
            self._stopped = notes.at.sample
            notes.tell(EarSaid(SpeechStopped(notes.at.sample)))
        text = given.transcript.strip() if isinstance(given, TurnEnded) else ""
        if isinstance(given, Failed):
            notes.note(turn, "ear.failed", given.message, "stt")
            notes.note(turn, "turn.dropped", "it was not understood")
        elif isinstance(given, TurnEnded) and not text:
            notes.note(turn, "turn.ignored", "no words")
        else:
            if isinstance(given, TurnEnded):
                notes.tell(TurnEnded(text, notes.at.sample, given.reason))
            self._waiting.append(_Said(turn, text, self._answers.speaking))
            if len(self._waiting) > _MAX_WAITING:
                notes.note(self._waiting.pop(0).turn, "turn.ignored", "no answer was asked for")

    def _is_written(self, item: Item) -> bool:
        return item.role == "user" and item.id != self._item
