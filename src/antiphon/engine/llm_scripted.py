"""A language model that says what it was told to, when it was told to: for tests and benchmarks.

Time is planned, not waited for: :meth:`ScriptedLlm.plan` gives each event with its moment, to be played by a virtual
loop; :meth:`ScriptedLlm.stream` plays the plan with the sleep it was given, in the shape of every other brain.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, BrainRequest, TextDelta, ToolCall

Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Asks:
    """A scripted wish for a tool; ``arguments`` is a JSON object as text."""

    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Breaks:
    """The answer breaks off here."""

    message: str = "the scripted model broke off"
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class Mute:
    """Nothing comes for this long; the stream stays open."""

    seconds: float


Line: TypeAlias = str | Asks | Breaks | Mute
Answer: TypeAlias = Line | Sequence[Line]
Script: TypeAlias = Sequence[Answer] | Mapping[str, Answer] | Callable[[BrainRequest], Answer]
"""Answers in turn (the last one repeats); or by what the last message contains (``""`` matches all); or computed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """``event`` comes ``after_s`` after the request."""

    after_s: float
    event: BrainEvent


class ScriptedLlm:
    """``first_token_s`` from the request to the first event, ``token_s`` from each to the next."""

    name = "scripted"

    def __init__(
        self, script: Script, first_token_s: float = 0.1, token_s: float = 0.0, sleep: Sleep | None = None
    ) -> None:
        if isinstance(script, Sequence) and not script:
            raise ValueError("a script needs at least one answer")
        self.first_token_s = first_token_s
        self.token_s = token_s
        self.requests: list[BrainRequest] = []
        self._script = script
        self._sleep = sleep
        self._numbers = count()

    def plan(self, request: BrainRequest) -> list[Planned]:
        """Every event of the answer with its moment. Counts as one request."""
        answer = self._answer(request)
        lines: Sequence[Line] = [answer] if isinstance(answer, str | Asks | Breaks | Mute) else answer
        taken = {call.call_id for message in request.messages for call in message.tool_calls}
        plan: list[Planned] = []
        at_s, called = self.first_token_s, False
        for line in lines:
            if isinstance(line, Mute):
                at_s += line.seconds
                continue
            if isinstance(line, Breaks):
                return [*plan, Planned(at_s, BrainFailed(line.message, line.retryable))]
            events: list[BrainEvent] = []
            if isinstance(line, Asks):
                called = True
                events.append(ToolCall(self._call_id(taken), line.name, line.arguments))
            else:
                events += [TextDelta(token) for token in re.findall(r"\s*\S+\s*$|\s*\S+", line)]
            for event in events:
                plan.append(Planned(at_s, event))
                at_s += self.token_s
        tokens = len(plan)
        end_s = plan[-1].after_s if plan else at_s
        return [*plan, Planned(end_s, BrainDone("tool_calls" if called else "stop", 0, tokens))]

    async def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]:
        """Plays the plan. Raises ``ValueError`` if no ``sleep`` was given."""
        if self._sleep is None:
            raise ValueError("give the scripted model a sleep (such as asyncio.sleep) to stream with")
        passed_s = 0.0
        for planned in self.plan(request):
            if planned.after_s > passed_s:
                await self._sleep(planned.after_s - passed_s)
                passed_s = planned.after_s
            yield planned.event

    def _answer(self, request: BrainRequest) -> Answer:
        number = len(self.requests)
        self.requests.append(request)
        if callable(self._script):
            return self._script(request)
        if isinstance(self._script, Mapping):
            last = request.messages[-1].content if request.messages else ""
            found = next((answer for key, answer in self._script.items() if key.lower() in last.lower()), None)
            if found is None:
                raise LookupError(f"the script has no answer to {last!r}; add one for ''")
            return found
        return self._script[min(number, len(self._script) - 1)]

    def _call_id(self, taken: set[str]) -> str:
        return next(name for name in (f"scripted_{number}" for number in self._numbers) if name not in taken)
