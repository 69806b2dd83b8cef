"""What a socket's machine opens: a stream of speech or of listening, or a question to a brain, by its key."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from antiphon.core.brain import BrainEvent
from antiphon.core.engine import Savable
from antiphon.core.event import Event
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import Configure, Flush, Key, Push, Save
from antiphon.protocol.http import NotSupported
from antiphon.server.lines import EarLine, Line
from antiphon.server.session.question import Question
from antiphon.server.turns import TurnTaking

PULLED_AT_ONCE = 8
"""Events: a stream's lock is shared with the workers."""


@dataclass(slots=True, eq=False)
class Channel:
    """One of ``line`` and ``question`` while it is open, none once it has ended. ``turns``: what decides about the
    turns of whoever is listened to."""

    key: Key
    line: Line | None = None
    question: Question | None = None
    turns: TurnTaking | None = None
    signalled: bool = False
    """A wake is on its way to the loop. Cleared before the pull, so that none is lost."""
    fresh: bool = False
    """The stream may have something: it said so, and since then has not had less than it was asked for."""
    queued: bool = False
    through: bool = False
    """There is nothing more of the stream for sure, until it wakes. Known after a pull."""
    stream_due_s: float | None = None
    _taken: deque[Event] = field(default_factory=deque)
    """Pulled, and not yet its turn; whoever ends the channel ends them."""

    @property
    def due_s(self) -> float | None:
        """When the stream or its turns want the time."""
        turns_s = None if self.turns is None else self.turns.due_s
        if turns_s is None or self.stream_due_s is None:
            return self.stream_due_s if turns_s is None else turns_s
        return min(turns_s, self.stream_due_s)

    @property
    def hears(self) -> bool:
        return isinstance(self.line, EarLine)

    def pull(self) -> Event | BrainEvent | None:
        """The next event, if there is one."""
        if self.line is None:  # what was pulled of a stream that has ended is gone with it
            return None if self.question is None else self.question.pull()
        taken = self._taken
        if not taken and self.fresh:
            taken.extend(self.line.stream.pull(PULLED_AT_ONCE))
            self.fresh = len(taken) == PULLED_AT_ONCE
        event = taken.popleft() if taken else None
        self.through = not taken and not self.fresh
        return event

    def configure(self, action: Configure, now_s: float) -> None:
        if self.turns is not None:
            self.turns.configure(action.settings)
        elif self.line is not None:
            self.turns = TurnTaking(partial(self.line.flush, last=False), action.settings, now_s, self.line.warn)

    def tick(self, now_s: float) -> Sequence[TurnEvent]:
        """Text or turns whose time has come; returns what was decided about turns."""
        if self.line is not None and self.stream_due_s is not None and self.stream_due_s <= now_s:
            self.stream_due_s = self.line.stream.tick(now_s)
        due_s = None if self.turns is None else self.turns.due_s
        return () if self.turns is None or due_s is None or due_s > now_s else self.turns.tick(now_s)

    def feed(self, action: Push | Flush) -> None:
        """Raises what the stream raises."""
        assert self.line is not None
        if isinstance(action, Push):
            self.line.push(action.item)
            return
        if action.last and self.turns is not None:
            self.turns.ends_with(action.marker)
        self.line.flush(action.marker, last=action.last)

    def save(self, action: Save) -> None:
        """Raises ``NotSupported``; the stream goes on then."""
        assert self.line is not None
        if not isinstance(self.line.stream, Savable):
            raise NotSupported("the engine of this voice cannot save a stream ('ssm', the state-space voice, can)")
        self.line.stream.save_soon(action.limit_bytes)
