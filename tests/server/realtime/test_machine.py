"""Conversations over a Realtime socket and the records that they leave, in virtual time."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from antiphon.core.brain import BrainDone, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import AtCapacity, EngineFailed
from antiphon.core.event import Failed
from antiphon.core.hearing import EAR_RATE_HZ, Heard, SpeechStarted
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.server.lifecycle import Unready

from .world import LEAD_S, World, checked, spent


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> Iterator[World]:
    """One whose record does not fail: that would not end the conversation."""
    with caplog.at_level(logging.ERROR, "antiphon"):
        yield World()
    assert not caplog.records


def update(world: World, **session: Any) -> None:
    world.send("session.update", session={"type": "realtime", **session})


def by_commit(world: World) -> None:
    update(world, audio={"input": {"turn_detection": None}})


def detecting(world: World, **detection: Any) -> None:
    update(world, audio={"input": {"turn_detection": {"type": "semantic_vad", **detection}}})


def calls(world: World, after_s: float = 0.4) -> None:
    world.wait(after_s)
    world.give(world.brain, ToolCall("call_1", "look_up", '{"order":"12"}'), BrainDone("tool_calls"))


def result(world: World, after_s: float) -> None:
    world.wait(after_s)
    output = {"type": "function_call_output", "call_id": "call_1", "output": '{"status":"sent"}'}
    world.send("conversation.item.create", item=output)
    world.send("response.create")


def writes(world: World, text: str) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    world.send("conversation.item.create", item=item)


def test_a_spoken_turn_leaves_a_record_once_its_answer_has_been_played(world: World) -> None:
    stopped_s = world.says("where is my order")
    world.answers("It comes tomorrow.", seconds=1.0)
    assert world.turns == []
    world.wait(0.99)
    assert world.turns == []
    world.wait(0.02)
    (record,) = world.turns
    checked(record)
    assert (record.turn, record.outcome, record.cause, record.ended_by) == (1, "answered", None, "answer.finished")
    assert record.times.speech_end_s == pytest.approx(stopped_s, abs=0.011)  # a window of the audio
    assert spent(record) == {
        "final": 0.2 + stopped_s - record.times.speech_end_s,
        "turn": 0.3, "llm": 0.4, "tts": 0.25, "playback": LEAD_S,
    }  # fmt: skip
    assert record.clock
    assert (record.user_text, record.reply_text) == ("where is my order", "It comes tomorrow.")
    assert record.heard_text == "It comes tomorrow."
    assert world.leaves() == [record]
    (facts,) = world.facts
    assert (facts.session_id, facts.route) == ("sess_1", "/v1/realtime")
    assert facts.began_s == 100.0  # with the session; the first audio came a little later


def test_a_slow_brain_and_a_slow_voice_are_the_cause(world: World) -> None:
    world.says("where is my order")
    world.thinks("It comes", after_s=3.0)
    world.voices("It comes", after_s=0.1)
    world.done()
    world.wait(2.0)
    world.says("and the other")
    world.thinks("It comes")
    world.voices("It comes", after_s=2.0)
    world.done()
    world.wait(2.0)
    assert [checked(record).cause for record in world.turns] == ["llm", "tts"]


def test_a_brain_that_fails_is_the_cause(world: World) -> None:
    world.says("where is my order")
    world.wait(0.5)
    world.give(world.brain, BrainFailed("no answer"))
    world.wait(5.0)
    (record,) = world.leaves()
    assert (checked(record).outcome, record.cause, record.heard_text) == ("unanswered", "llm", "")


def test_a_brain_that_fails_and_is_asked_again_has_one_record(world: World) -> None:
    world.says("where is my order")
    world.give(world.brain, BrainFailed("no answer"))
    world.send("response.create")
    world.answers()
    world.wait(2.0)
    (record,) = world.leaves()
    assert (checked(record).outcome, record.cause) == ("answered", "llm")


def test_a_brain_that_says_nothing_is_the_cause(world: World) -> None:
    world.says("where is my order")
    world.give(world.brain, BrainDone())
    (record,) = world.leaves()
    assert (record.outcome, record.cause) == ("unanswered", "llm")


@pytest.mark.parametrize("how", ["broke", "full"])
def test_a_voice_that_fails_is_the_cause(world: World, how: str) -> None:
    world.says("where is my order")
    world.thinks("It comes")
    if how == "broke":
        world.give(world.voice, Failed("broken", fatal=True))
    else:
        world.do(list(world.socket.refused(world.voice, AtCapacity("full"), world.now_s)))
    world.wait(1.0)
    (record,) = world.leaves()
    assert (checked(record).outcome, record.cause) == ("unanswered", "tts")


def test_a_voice_that_breaks_in_the_middle_is_the_cause_of_a_turn_that_was_answered(world: World) -> None:
    world.says("where is my order")
    world.thinks("It comes tomorrow.")
    world.voices("It comes", seconds=0.5)
    world.wait(0.2)
    world.give(world.voice, Failed("broken", fatal=True))
    world.wait(1.0)
    (record,) = world.leaves()
    assert (checked(record).outcome, record.cause, record.heard_text) == ("answered", "tts", "It comes")


@pytest.mark.parametrize(
    ("seconds", "state", "cause"), [(0.5, "done", None), (4.0, "done", "tool"), (11.0, "timed_out", "tool")]
)
def test_functions_of_the_client_are_recorded_with_their_turn(
    world: World, seconds: float, state: str, cause: str | None
) -> None:
    world.says("where is my order")
    calls(world)
    result(world, seconds)
    world.answers()
    world.wait(2.0)
    (record,) = world.turns
    (tool,) = checked(record).tools
    assert (tool.name, tool.arguments, tool.state) == ("look_up", '{"order":"12"}', state)
    assert tool.content == '{"status":"sent"}'
    assert (record.outcome, record.cause) == ("answered", cause)
    assert spent(record)["tool"] == min(seconds, 10.0)
    assert spent(record)["llm"] == 0.8


def test_a_function_without_a_result_is_the_cause(world: World) -> None:
    world.says("where is my order")
    calls(world)
    world.wait(20.0)
    (record,) = world.leaves()
    assert (record.outcome, record.cause, record.tools[0].state) == ("unanswered", "tool", "timed_out")


def test_a_result_that_comes_before_the_response_is_over_does_not_end_the_turn(world: World) -> None:
    world.says("where is my order")
    world.thinks("One moment.")
    world.voices("One moment.", seconds=0.5)
    world.give(world.brain, ToolCall("call_1", "look_up", "{}"))
    output = {"type": "function_call_output", "call_id": "call_1", "output": "{}"}
    world.send("conversation.item.create", item=output)
    world.done("tool_calls")
    world.wait(3.0)
    world.send("response.create")
    world.answers("It comes tomorrow.")
    world.wait(2.0)
    (record,) = world.turns
    assert record.heard_text == "One moment. It comes tomorrow."
    assert spent(checked(record)) == {**spent(record), "llm": 0.4, "tts": 0.25}  # up to the first that was heard


def test_messages_are_played_one_after_the_other(world: World) -> None:
    """The answer is made while the client still plays what was said before the function was called."""
    world.says("where is my order")
    world.thinks("One long moment.")
    world.voices("One long moment.", seconds=3.0)
    world.give(world.brain, ToolCall("call_1", "look_up", "{}"), BrainDone("tool_calls"))
    world.done("tool_calls")
    result(world, 0.1)
    world.thinks("It comes tomorrow.", after_s=0.1)
    world.voices("It comes tomorrow.", seconds=0.9, after_s=0.1)
    world.done()
    world.wait(2.7 + 0.4)
    world.begins()
    world.ends("stop")
    first = world.leaves()[0]
    assert (first.outcome, first.heard_text) == ("interrupted", "One long moment. It")


@pytest.mark.parametrize(("end_ms", "heard"), [(None, "One two three four"), (700, "One two"), (0, "")])
def test_speech_over_the_answer_and_where_the_client_says_that_it_stopped(
    world: World, end_ms: int | None, heard: str
) -> None:
    """The response is over and plays on: 1.3 s of it by the clock when the user is noticed."""
    world.says("tell me a story")
    world.thinks("One two three four five six")
    world.voices("One two three four five six", seconds=1.8)
    world.done()
    world.audio(1.1)
    item_id = world.item
    world.begins()
    if end_ms is not None:
        world.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=end_ms)
    world.ends("stop")
    first, _ = world.leaves()
    assert checked(first).heard_text == heard
    assert first.outcome == ("interrupted" if heard else "taken_back")
    assert (first.times.heard_s is None) is (not heard)


def test_speech_over_a_response_that_is_still_made(world: World) -> None:
    world.says("tell me a story")
    world.thinks("One two")
    world.voices("One two", seconds=1.0)
    world.audio(0.6)
    world.begins()
    assert [f["response"]["status"] for f in world.frames if f["type"] == "response.done"] == ["cancelled"]
    world.ends("stop")
    world.answers()
    world.wait(2.0)
    first, second = world.turns
    assert (checked(first).outcome, first.heard_text, first.cause) == ("interrupted", "One", None)
    assert (checked(second).outcome, second.user_text) == ("answered", "stop")


def test_a_user_who_goes_on_before_anything_was_heard(world: World) -> None:
    world.says("where is")
    world.wait(0.2)
    world.says("my order")
    world.answers()
    world.wait(2.0)
    first, second = world.turns
    assert (first.outcome, first.cause, first.heard_text) == ("taken_back", "turn", "")
    assert second.outcome == "answered"


def test_the_client_cancels(world: World) -> None:
    world.says("tell me a story")
    world.thinks("One two three")
    world.voices("One two three", seconds=1.5)
    world.wait(0.6)
    world.send("response.cancel")
    (record,) = world.leaves()
    assert (checked(record).outcome, record.heard_text) == ("interrupted", "One")


def test_a_client_that_stops_by_itself_says_so_by_truncating(world: World) -> None:
    by_commit(world)
    world.audio(0.5, loud=True)
    world.send("input_audio_buffer.commit")
    world.send("response.create")
    world.heard("tell me a story")
    world.thinks("One two three")
    world.voices("One two three", seconds=1.5)
    world.done()
    world.wait(0.8)
    world.send("conversation.item.truncate", item_id=world.item, content_index=0, audio_end_ms=600)
    world.wait(3.0)
    (record,) = world.leaves()
    assert (record.outcome, record.heard_text) == ("interrupted", "One")


def test_the_client_decides_where_turns_end(world: World) -> None:
    """Turn and words wait for it: the turn is over when the answer is asked for and all words are known."""
    by_commit(world)
    world.audio(0.4)
    world.audio(0.2, loud=True)
    world.give(world.ear, SpeechStarted(round(0.4 * EAR_RATE_HZ)))
    world.audio(0.6, loud=True)
    stopped_s = world.now_s
    world.audio(0.1)
    world.send("input_audio_buffer.commit")
    world.wait(0.1)
    world.heard("where is my order")  # 0.2 s after the speech
    world.wait(0.5)
    world.send("response.create")
    world.answers()
    world.wait(2.0)
    (record,) = world.turns
    checked(record)
    assert record.times.speech_end_s == pytest.approx(stopped_s, abs=0.011)
    assert (record.user_text, record.outcome, record.cause) == ("where is my order", "answered", None)
    assert spent(record) == {**spent(record), "turn": 0.5, "llm": 0.4, "tts": 0.25}
    assert record.times.final_s == pytest.approx(stopped_s + 0.2)


def test_words_that_come_late_after_a_commit_are_the_recognisers(world: World) -> None:
    by_commit(world)
    world.audio(0.5, loud=True)
    world.send("input_audio_buffer.commit")
    world.send("response.create")
    world.wait(2.0)
    world.heard("where is my order")
    world.answers()
    world.wait(2.0)
    assert checked(world.turns[0]).cause == "stt"


def test_words_that_do_not_come_are_the_recognisers_fault(world: World) -> None:
    update(world, audio={"input": {"turn_detection": None, "transcription": {"model": "w"}}})
    world.audio(0.5, loud=True)
    world.send("input_audio_buffer.commit")
    world.send("response.create")
    world.wait(5.1)
    world.answers()
    world.wait(2.0)
    assert world.turns[0].cause == "stt"


def test_turns_without_words_and_turns_that_nobody_answers_are_no_bad_turns(world: World) -> None:
    world.says("")
    detecting(world, create_response=False)
    world.says("one")
    world.says("two")
    first = world.turns[0]
    assert (first.turn, first.outcome, first.cause) == (1, "ignored", None)
    world.send("response.create")
    world.answers()
    world.wait(2.0)
    world.says("three")
    records = world.leaves()
    assert [(r.turn, r.outcome, r.cause) for r in records[1:]] == [
        (2, "ignored", None), (3, "answered", None), (4, "ignored", None),
    ]  # fmt: skip
    assert records[2].user_text == "two"


def test_an_answer_that_may_not_be_interrupted_is_followed_by_one_without_a_silence(world: World) -> None:
    detecting(world, interrupt_response=False)
    world.says("tell me a story")
    world.thinks("One two three")
    world.voices("One two three", seconds=3.0)
    world.says("and then")
    world.done()
    world.answers("Four five.")
    world.wait(5.0)
    first, second = world.turns
    assert (first.outcome, first.heard_text) == ("answered", "One two three")
    assert (second.outcome, second.silence_s, second.user_text) == ("answered", None, "and then")


def test_what_is_written_is_a_turn_and_text_is_an_answer_without_a_silence(world: World) -> None:
    writes(world, "where is my order")
    world.send("response.create")
    world.answers()
    world.wait(2.0)
    writes(world, "in writing please")
    world.send("response.create", response={"output_modalities": ["text"]})
    world.wait(0.5)
    world.give(world.brain, TextDelta("It comes"), BrainDone())
    spoken, shown = world.turns
    assert spent(checked(spoken)) == {"llm": 0.4, "tts": 0.25, "playback": LEAD_S}
    assert (shown.outcome, shown.cause, shown.silence_s) == ("answered", None, None)
    assert (shown.user_text, shown.reply_text, shown.heard_text) == ("in writing please", "It comes", "")


def test_what_the_agent_says_of_its_own_accord_is_no_turn(world: World) -> None:
    world.send("response.create")
    world.answers("Hello!")
    world.wait(2.0)
    world.send("response.create", response={"conversation": "none"})
    world.give(world.brain, TextDelta("aside"), BrainDone())
    assert world.leaves() == []
    assert len(world.facts) == 1


def test_a_response_beside_the_conversation_leaves_the_answer_alone(world: World) -> None:
    world.says("where is my order")
    brain = world.brain
    world.send("response.create", response={"conversation": "none", "output_modalities": ["text"]})
    world.give(world.brain, TextDelta("aside"), BrainDone())
    world.wait(0.4)
    world.give(brain, TextDelta("It comes"))
    world.voices("It comes")
    world.give(brain, BrainDone())
    world.done()
    world.wait(2.0)
    (record,) = world.turns
    assert (checked(record).reply_text, record.cause) == ("It comes", None)
    assert spent(record)["llm"] == 0.4


@pytest.mark.parametrize(("lost", "cause"), [(True, "network"), (False, None)])
def test_the_client_is_gone_before_it_was_answered(world: World, lost: bool, cause: str | None) -> None:
    world.says("where is my order")
    world.wait(0.2)
    (record,) = world.leaves(lost)
    assert (record.outcome, record.cause) == ("unanswered", cause)
    world.socket.gone(world.now_s + 1.0, lost)
    assert len(world.turns) == 1


def test_a_client_that_is_lost_after_its_answer_leaves_a_good_turn(world: World) -> None:
    world.says("where is my order")
    world.answers()
    world.wait(3.0)
    (record,) = world.leaves(lost=True)
    assert record.cause is None


def test_an_ear_that_breaks_is_the_cause(world: World) -> None:
    world.audio(0.3)
    world.begins()
    world.give(world.ear, Failed("broken", fatal=True))
    world.says("again")
    world.answers()
    world.wait(2.0)
    broken, answered = world.turns
    assert (broken.outcome, broken.cause) == ("ignored", "stt")
    assert (checked(answered).outcome, answered.user_text) == ("answered", "again")
    assert spent(answered)["llm"] == 0.4


def test_a_silence_that_the_agent_breaks_is_no_turn(world: World) -> None:
    update(world, audio={"input": {"turn_detection": {"type": "server_vad", "idle_timeout_ms": 5000}}})
    world.says("where is my order")
    world.answers()
    world.audio(8.0)
    assert any(f["type"] == "input_audio_buffer.timeout_triggered" for f in world.frames)
    world.answers("Are you there?")
    world.wait(3.0)
    assert [record.turn for record in world.leaves()] == [1]


def test_what_the_client_throws_away_is_no_turn(world: World) -> None:
    world.audio(0.3)
    world.begins()
    world.send("input_audio_buffer.clear")
    (record,) = world.leaves()
    assert (record.outcome, record.cause) == ("ignored", None)


@pytest.mark.parametrize("leaving", [True, False])
def test_a_server_that_ends_the_session_is_nobodys_fault(world: World, leaving: bool) -> None:
    world.says("where is my order")
    error = Unready("leaving") if leaving else EngineFailed("internal error")
    world.do(list(world.socket.close(error)))
    (record,) = world.leaves(lost=True)
    assert (record.outcome, record.cause) == ("unanswered", None)


def test_a_turn_whose_start_was_missed(world: World) -> None:
    world.audio(1.0, loud=True)
    world.give(world.ear, Heard("hello", 5, True), TurnEnded("hello", EAR_RATE_HZ, "model"))
    world.answers()
    world.wait(2.0)
    assert (world.turns[0].outcome, world.turns[0].user_text) == ("answered", "hello")


def test_a_record_that_fails_does_not_end_the_conversation(caplog: pytest.LogCaptureFixture) -> None:
    world = World()

    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    world.socket._turns.heard = fail
    with caplog.at_level(logging.ERROR, "antiphon"):
        world.says("where is my order")
        world.answers()
        world.leaves()
    assert len(caplog.records) == 1
    assert world.frames[-1]["type"] == "response.done"


def test_nothing_grows_over_a_long_session(world: World) -> None:
    for index in range(80):
        world.send("input_audio_buffer.append", audio="AAAA" * 400)
        at = index * EAR_RATE_HZ
        world.give(world.ear, TurnStarted(at), TurnEnded("and", at + 100, "model"))
        if index % 2:
            call_id = f"call_{index}"
            world.give(world.brain, ToolCall(call_id, "look_up", "{}"), BrainDone("tool_calls"))
            output = {"type": "function_call_output", "call_id": call_id, "output": "{}"}
            world.send("conversation.item.create", item=output)
            world.send("response.create")
        world.answers(seconds=0.2)
        world.wait(1.0)
    assert len(world.turns) == 80
    socket = world.socket
    assert not socket._answers._calls
    assert not socket._turns._waiting
    assert len(socket._voice._speeches) <= 64
    assert not socket._voice._keys
