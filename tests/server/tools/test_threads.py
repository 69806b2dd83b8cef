"""Threads are bounded, those that nobody waits for included."""

import asyncio
import sys
import threading

import pytest

from antiphon.server.tools.outcome import ToolFailed
from antiphon.server.tools.threads import Crew

from ..support import run, until


def test_a_thread_that_hangs_keeps_its_place_and_nobody_else() -> None:
    async def test() -> None:
        crew, let_go = Crew(1), threading.Event()
        task = asyncio.get_running_loop().create_task(crew.run(let_go.wait))
        await until(lambda: crew.busy)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ToolFailed, match="nothing was done"):
            await crew.run(int)
        let_go.set()
        await until(lambda: not crew.busy)
        assert await crew.run(int) == 0

    run(test())


def test_whatever_leaves_a_function_comes_back_as_an_exception() -> None:
    def stop() -> None:
        raise StopIteration

    async def test() -> None:
        with pytest.raises(ToolFailed, match="SystemExit"):
            await Crew(1).run(sys.exit)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await Crew(1).run(stop)
        with pytest.raises(ZeroDivisionError):
            await Crew(1).run(lambda: 1 // 0)

    run(test())
