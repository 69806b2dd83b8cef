"""The scripted model's endpoint, asked by the product's own client of language models."""

import asyncio
from typing import Any

import httpx

from antiphon.bench.scenario import Answer, Scenario, Step, Tool
from antiphon.bench.scenario_script import NO_ANSWER, instructions_for
from antiphon.cli.bench_model import ScriptedEndpoint, script_of
from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, BrainRequest, Message, TextDelta, ToolCall
from antiphon.core.clock import ManualClock, MonotonicClock
from antiphon.engine.llm import Llm
from antiphon.engine.llm_endpoint import LlmEndpoint

SCENARIO = Scenario(
    version=1,
    name="desk",
    about="",
    steps=(Step(say=("x",)),),
    tools=(Tool("find", "read", "{}"),),
    answers=(
        Answer(after="find", say="It is ready."),
        Answer(heard="red", call="find", arguments={"colour": "red"}),
        Answer(heard="tyre", say="We take the wheel off and mend it.", breaks_after=3),
        Answer(heard="hello", say="Good morning to you."),
    ),
)
SYSTEM = Message("system", f"{instructions_for(SCENARIO)}; call: 7;")


def asked(*messages: Message) -> tuple[list[BrainEvent], dict[str, Any]]:
    async def main() -> tuple[list[BrainEvent], dict[str, Any]]:
        endpoint = ScriptedEndpoint(script_of((SCENARIO,)), ManualClock(5.0), 0.0, 0.0)
        transport = httpx.ASGITransport(endpoint.app, raise_app_exceptions=False)
        llm = Llm([LlmEndpoint("http://model/v1", "scripted", "")], MonotonicClock(), transport=transport, rounds=1)
        try:
            events = [event async for event in llm.stream(BrainRequest((SYSTEM, *messages)))]
        finally:
            await llm.aclose()
        async with httpx.AsyncClient(transport=transport) as client:
            return events, (await client.get("http://model/log")).json()

    return asyncio.run(main())


def text(events: list[BrainEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_text_comes_word_by_word_and_ends() -> None:
    events, log = asked(Message("user", "Hello there"))
    assert text(events) == "Good morning to you."
    assert len(events) == 5
    assert isinstance(events[-1], BrainDone)
    assert log["now_s"] == 5.0
    (thought,) = log["thoughts"]
    assert thought == {"call": 7, "heard": "Hello there", "asked_s": 5.0, "first_s": 5.0, "asked_tool": False}


def test_a_tool_is_asked_for_and_its_result_is_answered() -> None:
    user = Message("user", "the red one")
    events, log = asked(user)
    call, done = events
    assert isinstance(call, ToolCall)
    assert isinstance(done, BrainDone)
    assert (call.name, call.arguments, done.reason) == ("find", '{"colour": "red"}', "tool_calls")
    assert log["thoughts"][0]["asked_tool"]
    events, _ = asked(user, Message("assistant", "", (call,)), Message("tool", "{}", call_id=call.call_id))
    assert text(events) == "It is ready."


def test_a_stream_dies_in_its_midst_and_goes_on_when_asked_again() -> None:
    user = Message("user", "a tyre")
    events, _ = asked(user)
    assert text(events) == "We take the"
    assert isinstance(events[-1], BrainFailed)
    events, _ = asked(user, Message("assistant", "We take the"), Message("system", "Go on."))
    assert text(events) == " wheel off and mend it."
    assert isinstance(events[-1], BrainDone)


def test_without_a_scenario_it_says_that_it_does_not_know() -> None:
    async def main() -> str:
        endpoint = ScriptedEndpoint(script_of(()), ManualClock(), 0.0, 0.0)
        llm = Llm(
            [LlmEndpoint("http://model/v1", "scripted", "")], MonotonicClock(),
            transport=httpx.ASGITransport(endpoint.app),
        )  # fmt: skip
        return text([event async for event in llm.stream(BrainRequest((Message("user", "hm"),)))])

    assert asyncio.run(main()) == NO_ANSWER
