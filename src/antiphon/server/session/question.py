"""One question to a brain: a task that runs a little ahead of whoever takes the answer."""

import asyncio
import traceback
from collections.abc import Callable
from contextlib import aclosing

from antiphon.core.brain import Brain, BrainDone, BrainEvent, BrainFailed, BrainRequest
from antiphon.core.clock import Clock

MAX_AHEAD = 64
"""Events that may wait to be taken; beyond it the brain is not listened to."""


class Question:
    """``wake`` says that there is something to pull. The last event is ``BrainDone`` or ``BrainFailed``, whatever the
    brain does; after :meth:`cancel` there is none."""

    def __init__(self, brain: Brain, request: BrainRequest, wake: Callable[[], None], clock: Clock) -> None:
        self.brain = brain.name
        self.began_s = clock.now_s()
        self.first_s: float | None = None
        """When the first event came."""
        self.failure = ""
        self.trace = ""
        """Of a fault of ours; for the log."""
        self._clock = clock
        self._wake = wake
        self._through = False
        self._events: asyncio.Queue[BrainEvent] = asyncio.Queue(MAX_AHEAD)
        self._task = asyncio.get_running_loop().create_task(self._run(brain, request))

    def pull(self) -> BrainEvent | None:
        return None if self._events.empty() else self._events.get_nowait()

    def cancel(self) -> None:
        """Nothing comes any more; what the brain holds open is closed. A brain that is through is left to tidy up."""
        if not self._through:
            self._through = True
            self._task.cancel()

    def when_gone(self, call: Callable[[], None]) -> None:
        """``call`` once the brain has let go."""
        self._task.add_done_callback(lambda _: call())

    async def gone(self) -> None:
        """Wait until the brain has let go."""
        await asyncio.wait((self._task,))

    async def _run(self, brain: Brain, request: BrainRequest) -> None:
        try:
            async with aclosing(brain.stream(request)) as events:
                async for event in events:
                    await self._give(event)
                    if isinstance(event, BrainDone | BrainFailed):
                        return
            await self._give(BrainFailed("the brain's answer has no end"))
        except Exception:
            if self._through:  # it was cancelled, and could not tidy up: nobody waits for it
                return
            self.trace = traceback.format_exc()
            await self._give(BrainFailed("internal error in the brain", retryable=False))

    async def _give(self, event: BrainEvent) -> None:
        if self.first_s is None:
            self.first_s = self._clock.now_s()
        if isinstance(event, BrainFailed):
            self.failure = event.message
        self._through = self._through or isinstance(event, BrainDone | BrainFailed)
        await self._events.put(event)
        self._wake()
