"""A delivery with planted faults as a target: in this process, on whatever event loop, so also in virtual time."""

import asyncio

from antiphon.bench.planted import RATE_HZ, Plan, schedule
from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.contract import Line, Links, finish, whole_text
from antiphon.core.clock import Clock


class Planted:
    """Answers every text with the plan's delivery. One connection, which is opened once."""

    sample_rate_hz = RATE_HZ

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self.name = plan.name
        self.links = Links()
        self._plan = plan
        self._clock = clock

    async def open(self, streams: int) -> None:
        if self.links.connects_s:
            return
        begin_s = self._clock.now_s()
        await asyncio.sleep(self._plan.connect_s)
        self.links.connects_s.append(self._clock.now_s() - begin_s)

    async def speak(self, line: Line, recording: Recording) -> None:
        await whole_text(line, recording)
        begin_s = recording.now_s()
        if self._plan.status:
            await asyncio.sleep(self._plan.delay_s)
            recording.fail("planted refusal", self._plan.status)
            return
        for at_s, pcm in schedule(self._plan):
            await asyncio.sleep(max(0.0, begin_s + at_s - recording.now_s()))
            recording.chunk(pcm)
        recording.end()

    def take(self, recording: Recording) -> Take:
        return finish(recording, recording.payloads, self.sample_rate_hz)

    async def close(self) -> None:
        return
