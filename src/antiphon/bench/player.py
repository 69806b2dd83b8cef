"""The open-loop player: starts every request at its time, whatever the server does, and notes what arrives.

An asyncio shell around pure values: a schedule and lines go in, takes come out. It also watches itself: how late it
was, how long its event loop was busy, how much CPU it took. A player that is the bottleneck measures nothing.
"""

import asyncio
import gc
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from websockets.exceptions import WebSocketException

from antiphon.bench.arrivals import ClosedLoop, OpenLoop, Schedule
from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.contract import Endpoint, Line, Request, Target
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import EngineFailed

RequestT = TypeVar("RequestT", bound=Request)

TIMEOUT_S = 60.0
LAG_PERIOD_S = 0.02
LEAD_IN_S = 0.05
"""Between the order to play and the first start, so that the first one is not late by the time of giving the order."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One request of a run: which it is, when it starts (seconds into the run), what it says."""

    index: int
    at_s: float
    line: Line


@dataclass(frozen=True, slots=True)
class PlayerLoad:
    """How busy the player was. ``cpu_share``: of one core. ``lag_*``: how late its event loop woke, 50 times a second.

    In-process peers synthesise inside the player: their share is the peer's, not the player's.
    """

    wall_s: float
    cpu_share: float
    lag_p99_s: float
    lag_max_s: float
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Played:
    """All takes of a run in the order of their index, and which of them count."""

    takes: tuple[Take, ...]
    first: int
    measured: int
    load: PlayerLoad

    @property
    def measured_takes(self) -> tuple[Take, ...]:
        wanted = range(self.first, self.first + self.measured)
        return tuple(take for take in self.takes if take.index in wanted)


class Player:
    """Plays in this process, on an event loop of its own; targets stay connected between runs.

    ``timeout_s``: a request that takes longer has failed. ``loop``: makes the event loop (one in virtual time, with a
    ``clock`` that it moves: ``bench.target.virtual``). Use as a context manager, or call :meth:`close`.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        timeout_s: float = TIMEOUT_S,
        loop: Callable[[], asyncio.AbstractEventLoop] | None = None,
    ) -> None:
        self._clock = clock or MonotonicClock()
        self._timeout_s = timeout_s
        self._runner = asyncio.Runner(loop_factory=loop)
        self._targets: list[Endpoint[Any]] = []

    def __enter__(self) -> "Player":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def play(self, target: Target, lines: Sequence[Line], schedule: Schedule) -> Played:
        """Issue ``lines`` (one per request of the schedule) and return when all have ended or timed out."""
        if len(lines) != schedule.requests:
            raise ValueError(f"the schedule has {schedule.requests} requests, but there are {len(lines)} lines")
        self.prepare(target, schedule.streams)
        if isinstance(schedule, OpenLoop):
            cues = [Cue(index, at_s, lines[index]) for index, at_s in enumerate(schedule.starts_s)]
            recordings, load = self.perform(target, cues, self._clock.now_s() + LEAD_IN_S)
        else:
            recordings, load = self._runner.run(self._watched(self._closed(target, lines, schedule)))
        takes = sorted((target.take(recording) for recording in recordings), key=lambda take: take.index)
        return Played(tuple(takes), schedule.first, schedule.measured, load)

    def prepare(self, target: Endpoint[Any], streams: int) -> None:
        """Connect for ``streams`` concurrent requests. Done by :meth:`play`; call it to find a dead target early.

        Raises ``EngineFailed`` where the server takes no connection.
        """
        if target not in self._targets:
            self._targets.append(target)
        try:
            self._runner.run(target.open(streams))
        except (OSError, WebSocketException) as error:
            raise EngineFailed(f"the server takes no connection: {error}") from None

    def record(
        self, target: Endpoint[RequestT], lines: Sequence[RequestT], schedule: ClosedLoop
    ) -> tuple[list[Recording], PlayerLoad]:
        """A closed loop to any endpoint; recordings come in the order of ``lines``, which :meth:`play` would decode."""
        if len(lines) != schedule.requests:
            raise ValueError(f"the schedule has {schedule.requests} requests, but there are {len(lines)} lines")
        self.prepare(target, schedule.streams)
        recordings, load = self._runner.run(self._watched(self._closed(target, lines, schedule)))
        return sorted(recordings, key=lambda recording: recording.index), load

    def perform(self, target: Target, cues: Sequence[Cue], begin_s: float) -> tuple[list[Recording], PlayerLoad]:
        """Issue ``cues`` relative to ``begin_s`` (this clock; several processes may share it)."""
        return self._runner.run(self._watched(self._open(target, cues, begin_s)))

    def part(self, target: Endpoint[Any]) -> None:
        """Close the connections to ``target``; a later :meth:`play` connects anew."""
        if target in self._targets:
            self._targets.remove(target)
            self._runner.run(target.close())

    def close(self) -> None:
        for target in self._targets:
            self._runner.run(target.close())
        self._targets.clear()
        self._runner.close()

    async def _open(self, target: Target, cues: Sequence[Cue], begin_s: float) -> list[Recording]:
        recordings: list[Recording] = []
        async with asyncio.TaskGroup() as group:
            for cue in cues:
                due_s = begin_s + cue.at_s
                delay_s = due_s - self._clock.now_s()
                if delay_s > 0:
                    await asyncio.sleep(delay_s)
                recording = Recording(self._clock, cue.index, cue.line.text, due_s)
                recordings.append(recording)
                group.create_task(self._one(target, cue.line, recording))
        return recordings

    async def _closed(
        self, target: Endpoint[RequestT], lines: Sequence[RequestT], schedule: ClosedLoop
    ) -> list[Recording]:
        recordings: list[Recording] = []
        queue = iter(enumerate(lines))

        async def caller() -> None:
            for index, line in queue:
                recording = Recording(self._clock, index, line.text, self._clock.now_s())
                recordings.append(recording)
                await self._one(target, line, recording)
                if schedule.gap_s > 0:
                    await asyncio.sleep(schedule.gap_s)

        async with asyncio.TaskGroup() as group:
            for _ in range(schedule.streams):
                group.create_task(caller())
        return recordings

    async def _one(self, target: Endpoint[RequestT], line: RequestT, recording: Recording) -> None:
        """One request. Whatever goes wrong is this request's failure, never the run's."""
        recording.issued_s = self._clock.now_s()
        try:
            async with asyncio.timeout(self._timeout_s):
                await target.speak(line, recording)
        except TimeoutError:
            recording.fail(f"no end within {self._timeout_s:g} s")
        except Exception as error:
            recording.fail(f"{type(error).__name__}: {error}")
        if recording.ended_s is None:
            recording.fail("the target returned without an end of output")

    async def _watched(
        self, work: Coroutine[None, None, list[Recording]]
    ) -> tuple[list[Recording], PlayerLoad]:
        lags: list[float] = []
        watch = asyncio.create_task(self._watch_lag(lags))
        # A collection in the middle of a run would be billed to the server.
        gc.collect()
        gc.freeze()
        gc.disable()
        begin_s, cpu_s = self._clock.now_s(), _cpu_s()
        try:
            recordings = await work
        finally:
            wall_s = self._clock.now_s() - begin_s
            used_s = _cpu_s() - cpu_s
            gc.enable()
            gc.unfreeze()
            watch.cancel()
        ranked = sorted(lags) or [0.0]
        return recordings, PlayerLoad(
            wall_s=wall_s,
            cpu_share=used_s / wall_s if wall_s > 0 else 0.0,
            lag_p99_s=ranked[min(len(ranked) - 1, int(0.99 * len(ranked)))],
            lag_max_s=ranked[-1],
        )

    async def _watch_lag(self, lags: list[float]) -> None:
        while True:
            due_s = self._clock.now_s() + LAG_PERIOD_S
            await asyncio.sleep(LAG_PERIOD_S)
            lags.append(max(0.0, self._clock.now_s() - due_s))


def _cpu_s() -> float:
    times = os.times()
    return times.user + times.system
