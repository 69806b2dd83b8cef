"""Threads for callables that block."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from antiphon.server.tools.outcome import ToolFailed


class Crew:
    """At most ``size`` threads at once. A call that is no longer waited for keeps its thread until it returns, because
    a thread cannot be stopped; they are daemons, so that one that never returns does not hold up the exit."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._busy = 0

    @property
    def busy(self) -> int:
        return self._busy

    async def run(self, call: Callable[[], Any]) -> Any:
        """What ``call`` returns or raises; ``SystemExit`` and its like become ``ToolFailed``. Raises ``ToolFailed``
        if no thread is free."""
        if self._busy >= self._size:
            raise ToolFailed("too many calls are under way; nothing was done")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        self._busy += 1

        def settle(value: Any, error: Exception | None) -> None:
            self._busy -= 1
            if done.done():
                return
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)

        def work() -> None:
            value: Any = None
            error: Exception | None = None
            try:
                value = call()
            except StopIteration as stop:  # a future cannot carry it
                error = RuntimeError(f"{type(stop).__name__} left the function")
            except Exception as fault:
                error = fault
            except BaseException as leaving:
                error = ToolFailed(f"the tool ended with {type(leaving).__name__}")
            try:
                loop.call_soon_threadsafe(settle, value, error)
            except RuntimeError:  # the loop is closed: nobody waits
                return

        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(work,), name="antiphon-tool", daemon=True).start()
        return await done
