"""The scripted model: what it says and when, in virtual time and over an event loop without waiting."""

import asyncio

import pytest

from antiphon.core.brain import BrainDone, BrainFailed, BrainRequest, Message, TextDelta, ToolCall
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.llm_scripted import Asks, Breaks, Mute, Planned, ScriptedLlm


def request(text: str = "hi") -> BrainRequest:
    return BrainRequest((Message("user", text),))


def test_tokens_come_at_their_moments() -> None:
    plan = ScriptedLlm(["One two."], first_token_s=0.1, token_s=0.5).plan(request())
    assert plan == [
        Planned(0.1, TextDelta("One")),
        Planned(0.6, TextDelta(" two.")),
        Planned(0.6, BrainDone("stop", 0, 2)),
    ]


def test_the_text_survives_its_cutting() -> None:
    text = "  Well, yes.\nNew line. "
    events = [planned.event for planned in ScriptedLlm([text]).plan(request())]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text


def test_answers_in_turn_and_the_last_again() -> None:
    llm = ScriptedLlm(["a", [Asks("f", '{"x": 1}')], "b"])
    heads = [llm.plan(request(text))[0].event for text in ("1", "2", "3", "4")]
    assert heads == [TextDelta("a"), ToolCall("scripted_0", "f", '{"x": 1}'), TextDelta("b"), TextDelta("b")]
    assert [asked.messages[0].content for asked in llm.requests] == ["1", "2", "3", "4"]


def test_answers_by_what_was_said() -> None:
    llm = ScriptedLlm({"order": "Sent.", "": "What?"})
    assert llm.plan(request("My ORDER"))[0].event == TextDelta("Sent.")
    assert llm.plan(request("eh"))[0].event == TextDelta("What?")
    with pytest.raises(LookupError, match="'eh'"):
        ScriptedLlm({"order": "Sent."}).plan(request("eh"))


def test_faults_are_scripted() -> None:
    plan = ScriptedLlm([["One", Mute(3.0), " two", Breaks("gone"), "never"]], 0.1).plan(request())
    assert plan == [
        Planned(0.1, TextDelta("One")),
        Planned(3.1, TextDelta(" two")),
        Planned(3.1, BrainFailed("gone")),
    ]


def test_in_a_virtual_loop() -> None:
    loop, heard = VirtualLoop(), []
    for planned in ScriptedLlm(["a b c"], 0.1, 0.5).plan(request()):
        loop.at(planned.after_s, lambda planned=planned: heard.append((loop.clock.now_s(), planned.event)))
    loop.run()
    assert heard[2] == (pytest.approx(1.1), TextDelta(" c"))


def test_streaming_waits_on_the_given_sleep_alone() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def scenario() -> int:
        return len([event async for event in ScriptedLlm(["a b"], 0.1, 0.5, sleep).stream(request())])

    assert asyncio.run(scenario()) == 3
    assert waits == pytest.approx([0.1, 0.5])


def test_an_empty_script_is_refused() -> None:
    with pytest.raises(ValueError, match="answer"):
        ScriptedLlm([])
