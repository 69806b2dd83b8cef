"""Sessions without a socket."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from antiphon.dialog.conversation_events import Closed
from antiphon.server.agent.session import AgentSession
from antiphon.server.hub import Hub
from antiphon.server.session import Alarm


class Waiting(Protocol):
    """All sessions of the process."""

    def put_away(self, session: AgentSession, done: Callable[[], None]) -> None:
        """For another process; ``done`` is called on the keeper's thread."""
        ...

    def forget(self, session: AgentSession, *, kept: bool = False) -> None:
        """Nothing of it is left to do. ``kept``: here; another process may go on with it."""
        ...


class LeftSession:
    """A session without a socket, as the lifecycle's guest: it ends when its time is over and its tools have ended.

    When the server leaves, it is put away for the next one as soon as its tools have ended.
    """

    def __init__(self, session: AgentSession, hub: Hub, sessions: Waiting) -> None:
        self.session = session
        self._hub = hub
        self._sessions = sessions
        self._loop = asyncio.get_running_loop()
        self._leaving = False
        self._put = False
        self._alarm = Alarm(hub.clock, self.look)

    def enter(self) -> None:
        self._hub.lifecycle.enter(self)

    def stop(self) -> None:
        self._alarm.stop()
        self._hub.lifecycle.leave(self)

    def look(self) -> None:
        self.session.catch_up(self._hub.clock.now_s())
        if self._put:
            return
        if self.session.over and not self.session.running:
            self._sessions.forget(self.session)
        elif self._leaving and not self.session.over and not self.session.running:
            self._put = True
            self._sessions.put_away(self.session, self._written)
        else:
            self._alarm.plan([self.session.deadline_s])

    def drain(self) -> None:
        """Its client will find another server; its writes may come to their end."""
        if self.session.keep is None:
            self.give_up()
            return
        self._leaving = True
        if not self.session.over:
            self.session.keep()
        self.look()

    def give_up(self) -> None:
        """Its client comes too late; its writes may come to their end."""
        if not self.session.over:
            self.session.handle(Closed(), self._hub.clock.now_s())
        self.look()

    def cut(self) -> None:
        """What it was when this process had to leave has been kept already; how its writes ended is not known then."""
        self._away()

    def drop(self) -> None:
        self._away()

    def _written(self) -> None:
        """On the keeper's thread."""
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._away)

    def _away(self) -> None:
        kept = self._leaving and not self.session.over
        self.session.break_off("restart")
        self._sessions.forget(self.session, kept=kept)
