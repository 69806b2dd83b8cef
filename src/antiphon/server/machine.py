"""What the shell needs of a dialect."""

from collections.abc import Iterable
from typing import Protocol

from antiphon.core.brain import BrainEvent
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Event
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import AgentAction, Key


class Machine(Protocol):
    """A dialect's pure socket machine; time is passed in."""

    @property
    def due_s(self) -> float | None: ...

    def receive(self, frame: str | bytes, now_s: float) -> Iterable[AgentAction]: ...

    def deliver(self, key: Key, event: Event | TurnEvent, now_s: float) -> Iterable[AgentAction]: ...

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> Iterable[AgentAction]: ...

    def tick(self, now_s: float) -> Iterable[AgentAction]: ...

    def drain(self, now_s: float) -> Iterable[AgentAction]:
        """The server wants to leave: take nothing new, and end what has no end of its own."""
        ...

    def close(self, reason: AntiphonError) -> Iterable[AgentAction]: ...


class AgentMachine(Machine, Protocol):
    """A machine that asks a brain (``Ask``), and is told what it says."""

    def deliver(self, key: Key, event: Event | TurnEvent | BrainEvent, now_s: float) -> Iterable[AgentAction]: ...
