"""One timer for whatever is due first."""

import asyncio

from antiphon.core.clock import MonotonicClock
from antiphon.server.session.alarm import Alarm

from ..support import run, until


def test_it_rings_for_the_earliest_and_not_after_it_was_stopped() -> None:
    async def test() -> None:
        clock, rung = MonotonicClock(), list[float]()
        alarm = Alarm(clock, lambda: rung.append(clock.now_s()))
        alarm.plan([None])
        alarm.plan([clock.now_s() + 3600.0])
        alarm.plan([None, clock.now_s(), clock.now_s() + 60.0])
        await until(lambda: rung)
        assert len(rung) == 1
        alarm.plan([clock.now_s()])
        alarm.stop()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(rung) == 1

    run(test())
