"""starting -> ready -> draining -> stopped. Work is only taken while ready; leaving is orderly, and bounded in time."""

import asyncio
from typing import Literal, Protocol, TypeAlias

from antiphon.core.clock import Clock
from antiphon.core.errors import ModelUnavailable
from antiphon.server.journal import Journal, PhaseChanged

Phase: TypeAlias = Literal["starting", "ready", "draining", "stopped"]

CUT_GRACE_S = 0.5
"""How long a guest that was cut may take to say goodbye before its wire is dropped."""


class Unready(ModelUnavailable):
    """Not (or no longer) taking work. HTTP 503."""


class Guest(Protocol):
    """Something that speaks to a caller: a socket, or one HTTP request."""

    def drain(self) -> None:
        """Take nothing new; leave when what is under way is done."""
        ...

    def cut(self) -> None:
        """End what is under way with an error that says so, and leave."""
        ...

    def drop(self) -> None:
        """Leave at once."""
        ...


class Lifecycle:
    """The phase of the server, and who must be shown out before it may stop."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self.phase: Phase = "starting"
        self._journal = journal
        self._clock = clock
        self._guests: set[Guest] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def is_ready(self) -> bool:
        return self.phase == "ready"

    @property
    def guests(self) -> int:
        return len(self._guests)

    def ready(self) -> None:
        """To be called after a real warm-up inference."""
        if self.phase == "starting":
            self._enter_phase("ready")

    def require_ready(self) -> None:
        """Raises ``Unready``."""
        if self.phase == "starting":
            raise Unready("the server is starting: its voices are not warm yet; retry in a moment")
        if self.phase != "ready":
            raise Unready("the server is shutting down; connect to another one, or retry in a moment")

    def enter(self, guest: Guest) -> None:
        self._guests.add(guest)
        self._empty.clear()
        if self.phase == "draining":
            guest.drain()

    def leave(self, guest: Guest) -> None:
        self._guests.discard(guest)
        if not self._guests:
            self._empty.set()

    async def drain(self, timeout_s: float) -> None:
        """Show everyone out: let them finish for ``timeout_s``, then cut, then drop."""
        if self.phase in ("draining", "stopped"):
            return
        self._enter_phase("draining", f"{len(self._guests)} open")
        for guest in list(self._guests):
            guest.drain()
        if not await self._emptied(timeout_s):
            for guest in list(self._guests):
                guest.cut()
            if not await self._emptied(CUT_GRACE_S):
                for guest in list(self._guests):
                    guest.drop()
        self._enter_phase("stopped")

    def hurry(self) -> None:
        """Whoever asked to leave asks again: cut now what is still under way."""
        if self.phase == "draining":
            for guest in list(self._guests):
                guest.cut()

    async def _emptied(self, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self._empty.wait()
        except TimeoutError:
            return False
        return True

    def _enter_phase(self, phase: Phase, detail: str = "") -> None:
        self.phase = phase
        self._journal.log(PhaseChanged(self._clock.now_s(), phase, detail))
