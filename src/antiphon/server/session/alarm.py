"""One timer of the loop, for whichever of several moments comes first."""

import asyncio
from collections.abc import Callable, Iterable
from math import inf

from antiphon.core.clock import Clock


class Alarm:
    """``ring`` is called at the earliest moment planned, or before: whoever is called looks at what is due, and plans
    anew. An alarm that comes too early only does that, so one that is early enough is left alone."""

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due_s = inf

    def plan(self, dues: Iterable[float | None]) -> None:
        due_s = self._due_s
        for due in dues:
            if due is not None and due < due_s:
                due_s = due
        if due_s < self._due_s:
            self.stop()
            self._due_s = due_s
            self._timer = self._loop.call_later(max(0.0, due_s - self._clock.now_s()), self._rung)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due_s = None, inf

    def _rung(self) -> None:
        self._timer, self._due_s = None, inf
        self._ring()
