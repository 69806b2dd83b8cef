"""Clocks, passed in so that tests own time.

Media time is integer samples and decides *what happened*; these clocks decide *when to give up*
and in which order to work. The only module that may call ``time``.
"""

import time
from datetime import date
from typing import Protocol


class Clock(Protocol):
    """Monotonic seconds; only differences mean anything."""

    def now_s(self) -> float: ...


class MonotonicClock:
    """The machine's monotonic clock."""

    now_s = staticmethod(time.perf_counter)


class ManualClock:
    """A clock that moves only when told to; for tests and for simulations."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s

    def now_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("time does not run backwards")
        self._now_s += seconds

    def advance_to(self, at_s: float) -> None:
        self._now_s = max(self._now_s, at_s)


def unix_time_s() -> float:
    """Wall-clock seconds since 1970, for stamps that people read (token expiry, ``created_at``); never for ordering."""
    return time.time()


def today() -> date:
    """The date where this machine is."""
    return date.fromtimestamp(unix_time_s())
