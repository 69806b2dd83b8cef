"""An event loop in virtual time: waiting moves the clock, and nothing else does. For proofs of the measuring.

All that runs on it must wait by the loop alone: no sockets, no threads.
"""

import asyncio
import selectors
from collections.abc import Callable

from antiphon.core.clock import ManualClock


class _NoWait(selectors.DefaultSelector):
    """Asks for what is ready now; where nothing is, the time that it was to wait has passed."""

    clock: ManualClock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.clock.advance(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Use as ``Player(clock=clock, loop=virtual(clock))``."""

    def __init__(self, clock: ManualClock) -> None:
        selector = _NoWait()
        selector.clock = clock
        super().__init__(selector)
        self._virtual = clock

    def time(self) -> float:
        return self._virtual.now_s()


def virtual(clock: ManualClock) -> Callable[[], asyncio.AbstractEventLoop]:
    """A maker of loops that move ``clock``."""
    return lambda: VirtualLoop(clock)
