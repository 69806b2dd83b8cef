"""A scripted caller: speaks in real time, hears by the client's clock, notes everything. Whatever the wire.

A wire is a :class:`Link`: it takes the microphone's samples and gives what happens in the words of the native socket.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np

from antiphon.bench.conversation_call import CALLER_RATE_HZ, Arrived, Call, Line, News, Part
from antiphon.bench.conversation_director import Director, Heard, Said
from antiphon.bench.conversation_recording import two_channels
from antiphon.bench.scenario import Scenario, tool_result
from antiphon.client import SimulatedPlayer, Tool, ToolRan
from antiphon.core.clock import Clock
from antiphon.core.errors import AntiphonError
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

FRAME_S = 0.02
MOST_S = 180.0
"""No scenario takes this long."""
SHAPE = wire.AudioShape()


class Link(Protocol):
    """A session that has begun."""

    async def send(self, samples: Samples) -> None:
        """The next piece of microphone, at 16 kHz."""
        ...

    def news(self) -> AsyncIterator[tuple[float, News]]:
        """What happens, with its moment; ends with the session. The player has the audio already."""
        ...


class Wire(Protocol):
    """How a session is begun."""

    def open(self, part: Part, player: SimulatedPlayer) -> AbstractAsyncContextManager[Link]: ...


Tell: TypeAlias = Callable[[float, News | str], None]
"""Told of what happens, with its moment (monotonic seconds); a text is a line that the caller begins."""


class Caller:
    """One conversation after the other, each on a socket of its own."""

    def __init__(self, wire_: Wire, clock: Clock, tell: Tell = lambda at_s, event: None) -> None:
        self._wire = wire_
        self._clock = clock
        self._tell = tell

    async def hold(self, part: Part) -> Call:
        """Play one part. What goes wrong is the call's error, never an exception."""
        log = CallLog(self._clock, self._tell)
        player = SimulatedPlayer(self._clock, SHAPE, keep=True)
        microphone = Microphone(part.floor)
        director: Director | None = None
        begin_s, error = self._clock.now_s(), ""
        try:
            async with asyncio.timeout(MOST_S), self._wire.open(part, player) as link:
                listening = asyncio.create_task(log.follow(link))
                begin_s = self._clock.now_s()
                director = Director(part.scenario, begin_s)
                try:
                    await self._speak(link, part, director, microphone, log, player, begin_s)
                except BaseException:
                    listening.cancel()
                    raise
            await listening
        except TimeoutError:
            error = f"not over within {MOST_S:g} s"
        except (AntiphonError, OSError) as failure:
            error = f"{type(failure).__name__}: {failure}"
        pieces = tuple(replace(piece) for piece in player.pieces)
        said = director.said if director is not None else list[Said]()
        places = [microphone.places.get(index, (None, None)) for index in range(len(part.scenario.steps))]
        return Call(
            number=part.number,
            scenario=part.scenario,
            recording=two_channels(microphone.track, CALLER_RATE_HZ, pieces, SHAPE, begin_s),
            lines=tuple(
                Line(index, start, end, said[index] if index < len(said) else "waiting")
                for index, (start, end) in enumerate(places)
            ),
            events=tuple(log.events),
            pieces=pieces,
            behind_s=microphone.behind_s,
            error=error,
        )

    async def _speak(
        self,
        link: Link,
        part: Part,
        director: Director,
        microphone: "Microphone",
        log: "CallLog",
        player: SimulatedPlayer,
        begin_s: float,
    ) -> None:
        clock = self._clock
        while True:
            # against the beginning, not the piece before: late wake-ups must not add up
            due_s = begin_s + microphone.spoken_s + FRAME_S
            if (delay_s := due_s - clock.now_s()) > 0:
                await asyncio.sleep(delay_s)
            now_s = clock.now_s()
            microphone.behind_s = max(microphone.behind_s, now_s - due_s)
            heard = log.heard(now_s, player)
            if director.is_over(now_s, heard) or log.over:
                return
            index = director.next_line(now_s, heard)
            if index is not None:
                until_s = begin_s + microphone.begin(index, part.clips[index])
                director.spoken(index, until_s)
                step = part.scenario.steps[index]
                if step.kind != "backchannel":
                    log.asked(now_s)
                self._tell(now_s, step.text)
            await link.send(microphone.frame())


class Microphone:
    """The caller's track, frame by frame: the room, and lines on top of it."""

    def __init__(self, floor: Samples) -> None:
        self._floor = floor
        self._frames: list[Samples] = []
        self._line: Samples = np.zeros(0, np.float32)
        self._samples = 0
        self.places: dict[int, tuple[float, float]] = {}
        self.behind_s = 0.0

    @property
    def spoken_s(self) -> float:
        return self._samples / CALLER_RATE_HZ

    @property
    def track(self) -> Samples:
        return np.concatenate(self._frames) if self._frames else np.zeros(0, np.float32)

    def begin(self, index: int, clip: Samples) -> float:
        """Say a line from the next frame on; returns when it ends (seconds of the track)."""
        self._line = clip
        end_s = self.spoken_s + len(clip) / CALLER_RATE_HZ
        self.places[index] = (self.spoken_s, end_s)
        return end_s

    def frame(self) -> Samples:
        size = round(FRAME_S * CALLER_RATE_HZ)
        at = self._samples % len(self._floor)
        frame = np.resize(np.concatenate((self._floor[at:], self._floor)), size).astype(np.float32)
        part = self._line[:size]
        self._line = self._line[size:]
        frame[: len(part)] += part
        self._frames.append(frame)
        self._samples += size
        return frame


class CallLog:
    """All that happened, with its moments; and what the caller knows of the agent's speech."""

    def __init__(self, clock: Clock, tell: Tell = lambda at_s, event: None) -> None:
        self._tell = tell
        self.events: list[tuple[float, News]] = []
        self.over = False
        self._open: set[str] = set()
        self._asked_s = float("-inf")
        self._started_s: dict[str, float] = {}
        self._began_s: float | None = None
        self._last_s = clock.now_s()

    async def follow(self, link: Link) -> None:
        try:
            async for at_s, event in link.news():
                self.note(at_s, event)
        finally:
            self.over = True

    def note(self, at_s: float, event: News) -> None:
        self.events.append((at_s, event))
        self._tell(at_s, event)
        match event:
            case wire.ReplyStarted():
                self._open.add(event.reply_id)
                self._started_s[event.reply_id] = at_s
            case Arrived():
                if self._began_s is None and self._started_s.get(event.reply_id, 0.0) > self._asked_s:
                    self._began_s = at_s
            case wire.ReplyEnded() | wire.Clear():
                self._open.discard(event.reply_id)
            case wire.ToolAsked():
                self._open.add(event.call_id)
            case ToolRan():
                self._open.discard(event.call_id)
            case _:
                return
        self._last_s = at_s

    def asked(self, now_s: float) -> None:
        """The caller wants an answer to what it begins to say now."""
        self._asked_s = now_s
        self._began_s = None

    def heard(self, now_s: float, player: SimulatedPlayer) -> Heard:
        free_s = player.free_s
        quiet = not self._open and not player.paused and free_s <= now_s
        return Heard(max(free_s, self._last_s) if quiet else None, self._began_s, sounding=free_s > now_s)


def tools_of(scenario: Scenario) -> tuple[Tool, ...]:
    """The scenario's tools, ready to be run by the caller's client."""
    return tuple(_tool(scenario, tool.name) for tool in scenario.tools)


def _tool(scenario: Scenario, name: str) -> Tool:
    declared = next(tool for tool in scenario.tools if tool.name == name)

    async def run(**arguments: str) -> str:
        await asyncio.sleep(declared.takes_s)
        return tool_result(declared, arguments)

    properties = {argument: {"type": "string"} for argument in declared.arguments}
    schema = {"type": "object", "properties": properties, "required": list(declared.arguments)}
    return Tool(declared.name, run, declared.description, schema, declared.effect)


def hold_all(
    caller: Caller, parts: Iterable[Part], at_once: int, tell: Callable[[Call], None]
) -> list[Call]:
    """All parts, ``at_once`` of them at the same time, on an event loop of their own; in the order of their numbers."""
    queue = iter(parts)
    calls: list[Call] = []

    async def one() -> None:
        for part in queue:
            call = await caller.hold(part)
            calls.append(call)
            tell(call)

    async def all_() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(one())

    asyncio.run(all_())
    return sorted(calls, key=lambda call: call.number)
