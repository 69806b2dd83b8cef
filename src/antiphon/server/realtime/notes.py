"""Where what is noticed of a Realtime session is written down, and what is known while it is."""

from collections.abc import Callable
from typing import TypeAlias

from antiphon.core.brain import BrainEvent
from antiphon.core.event import Event
from antiphon.core.turns import TurnEvent
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import Observed
from antiphon.dialog.ledger import Cause, Entry

Given: TypeAlias = Event | TurnEvent | BrainEvent


class Notes:
    """``tell`` takes entries of the log. ``at``: now; ``given``: what the socket is being told, while it answers."""

    def __init__(self, tell: Callable[[Moment, Observed], None]) -> None:
        self.at = Moment(0.0)
        self.given: Given | None = None
        self._tell = tell

    def tell(self, entry: Observed) -> None:
        self._tell(self.at, entry)

    def note(self, turn: int, kind: str, reason: str = "", fault: Cause | None = None) -> None:
        """A decision about a turn; of turn 0, which is the agent's own, no record is made."""
        self.tell(Entry(turn, self.at.now_s, self.at.sample, kind, reason, fault))
