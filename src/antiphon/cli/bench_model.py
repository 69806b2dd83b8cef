"""A language model for the bench: an OpenAI-shaped chat endpoint that follows a script, in a process of its own.

It answers at a set pace, so that what is measured is everything but the model. Its log says when it was asked and when
its first token left.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from antiphon.bench.conversation_call import Thought
from antiphon.bench.scenario import Scenario
from antiphon.bench.scenario_script import NO_ANSWER, next_answer, scenario_of
from antiphon.bench.target.child import ChildServer
from antiphon.core.brain import BrainDone, BrainFailed, BrainRequest, Message, TextDelta, ToolCall
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import ModelUnavailable
from antiphon.engine.llm_scripted import Answer, Asks, Breaks, ScriptedLlm

MODEL = "scripted"
FIRST_TOKEN_S = 0.1
TOKEN_S = 0.02
LOG_LIMIT_S = 20.0
_HEAD = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": MODEL}


@dataclass(slots=True)
class _Entry:
    call: int
    heard: str
    asked_s: float
    first_s: float | None = None
    asked_tool: bool = False


class ScriptedEndpoint:
    """The application. ``answers``: messages -> what is said."""

    def __init__(self, answers: Callable[[BrainRequest], Answer], clock: Clock, first_s: float, token_s: float) -> None:
        self._llm = ScriptedLlm(answers, first_s, token_s, sleep=asyncio.sleep)
        self._clock = clock
        self._log: list[_Entry] = []
        routes = [
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
            Route("/log", self._tell, methods=["GET"]),
        ]
        self.app = Starlette(routes=routes)

    async def _complete(self, request: Request) -> StreamingResponse:
        asked_s = self._clock.now_s()
        body = await request.json()
        messages = tuple(_message(one) for one in body["messages"])
        heard = next((one.content for one in reversed(messages) if one.role == "user"), "")
        entry = _Entry(_call_number(messages), heard, asked_s)
        self._log.append(entry)
        return StreamingResponse(self._stream(BrainRequest(messages), entry), media_type="text/event-stream")

    async def _stream(self, request: BrainRequest, entry: _Entry) -> AsyncIterator[str]:
        async for event in self._llm.stream(request):
            if entry.first_s is None:
                entry.first_s = self._clock.now_s()
            match event:
                case TextDelta():
                    yield _data({"content": event.text})
                case ToolCall():
                    entry.asked_tool = True
                    function = {"name": event.name, "arguments": event.arguments}
                    call = {"index": 0, "id": event.call_id, "type": "function", "function": function}
                    yield _data({"tool_calls": [call]})
                case BrainDone():
                    yield _data({}, event.reason)
                    yield "data: [DONE]\n\n"
                case BrainFailed():
                    raise ConnectionAbortedError(event.message)  # the connection breaks, as it does in life

    async def _tell(self, request: Request) -> JSONResponse:
        return JSONResponse({"now_s": self._clock.now_s(), "thoughts": [asdict(entry) for entry in self._log]})


@dataclass(frozen=True, slots=True)
class RunningModel:
    url: str

    def thoughts(self, clock: Clock) -> list[Thought]:
        """All requests so far, on ``clock``, whatever clock the endpoint has."""
        before_s = clock.now_s()
        told = httpx.get(f"{self.url}/log", trust_env=False, timeout=LOG_LIMIT_S).json()
        offset_s = (before_s + clock.now_s()) / 2 - told["now_s"]
        if abs(offset_s) < clock.now_s() - before_s:
            offset_s = 0.0  # it is the same clock
        found = msgspec.convert(told["thoughts"], list[Thought])
        return [
            Thought(
                one.call,
                one.heard,
                one.asked_s + offset_s,
                None if one.first_s is None else one.first_s + offset_s,
                one.asked_tool,
            )
            for one in found
        ]


@contextmanager
def scripted_model(
    scenarios: Sequence[Scenario], first_s: float = FIRST_TOKEN_S, token_s: float = TOKEN_S
) -> Iterator[RunningModel]:
    """The endpoint in a process of its own, until the end of the block. Raises ``ModelUnavailable``."""
    try:
        server = ChildServer("the scripted model", _app, tuple(scenarios), first_s, token_s, log_level="critical")
    except RuntimeError as error:
        raise ModelUnavailable(str(error)) from None
    try:
        yield RunningModel(f"http://127.0.0.1:{server.port}")
    finally:
        server.close()


def script_of(scenarios: Sequence[Scenario]) -> Callable[[BrainRequest], Answer]:
    """What :class:`ScriptedLlm` says in these scenarios."""

    def answer(request: BrainRequest) -> Answer:
        scenario = scenario_of(request.messages, scenarios)
        if scenario is None:
            return NO_ANSWER
        scripted = next_answer(scenario, request.messages)
        if scripted.call:
            return Asks(scripted.call, scripted.arguments)
        return (scripted.say, Breaks()) if scripted.breaks else scripted.say

    return answer


def _app(scenarios: tuple[Scenario, ...], first_s: float, token_s: float) -> Starlette:
    return ScriptedEndpoint(script_of(scenarios), MonotonicClock(), first_s, token_s).app


def _message(body: dict[str, Any]) -> Message:
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in body.get("tool_calls") or ()
    )
    content = body.get("content") or ""
    return Message(body["role"], content, calls, body.get("tool_call_id") or "")


def _call_number(messages: Sequence[Message]) -> int:
    found = re.search(r"call: (\d+);", " ".join(one.content for one in messages if one.role == "system"))
    return int(found[1]) if found else -1


def _data(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({**_HEAD, 'choices': [choice]})}\n\n"
