"""Scripted sessions of the Realtime machine."""

import base64
import json
from typing import Any

import pytest

from antiphon.core.brain import BrainDone, BrainFailed, Message, TextDelta, ToolCall
from antiphon.core.errors import AtCapacity, EngineFailed, NotFound
from antiphon.core.event import Audio, Failed, Flushed, Timed, WordTimes
from antiphon.core.hearing import Heard, HearingConfig
from antiphon.core.speech import SpeechConfig
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol.openai_realtime import RealtimeLimits
from tests.protocol.openai_realtime_shell import Shell, kinds, only

SPOKEN_TURN = [
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.done",
]
CLOSING = [
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
    "response.done",
]


@pytest.fixture
def shell() -> Shell:
    shell = Shell()
    shell.tick()
    return shell


def transcribing(shell: Shell) -> None:
    shell.send("session.update", session={"type": "realtime", "audio": {"input": {"transcription": {"model": "w"}}}})


def manual(shell: Shell) -> None:
    shell.send("session.update", session={"type": "realtime", "audio": {"input": {"turn_detection": None}}})


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], **more}


def error_of(frames: list[dict[str, Any]]) -> dict[str, Any]:
    return only(frames, "error")["error"]


def test_session_created_is_the_first_thing_said(shell: Shell) -> None:
    session = only(shell.frames, "session.created")["session"]
    assert (session["type"], session["object"], session["id"]) == ("realtime", "realtime.session", "sess_1")
    assert session["audio"]["input"]["turn_detection"]["type"] == "server_vad"
    assert session["audio"]["input"]["transcription"] is None
    assert shell.tick() == []


def test_a_spoken_turn_and_its_spoken_answer(shell: Shell) -> None:
    transcribing(shell)
    sent = shell.turn("What time is it?")
    assert kinds(sent) == [
        *SPOKEN_TURN,
        "conversation.item.input_audio_transcription.delta",
        "conversation.item.input_audio_transcription.completed",
        "response.created",
    ]
    assert len({frame["item_id"] for frame in sent[:3]}) == 1
    assert sent[2]["previous_item_id"] is None
    assert sent[0]["audio_start_ms"] == 0  # 100 ms, less the padding of 300
    assert sent[1]["audio_end_ms"] == 1000
    assert sent[3]["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    assert shell.asked[shell.brain].messages == (Message("user", "What time is it?"),)
    answer = shell.say("It is noon.")
    assert kinds(answer) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.delta",
    ]
    assert answer[0]["item"]["status"] == "in_progress"
    assert answer[0]["item"]["content"] == []
    assert answer[1]["previous_item_id"] == sent[0]["item_id"]
    assert sum(len(base64.b64decode(frame["delta"])) for frame in answer[-2:]) == 48 * 400
    end = shell.finish()
    assert kinds(end) == CLOSING
    response = end[-1]["response"]
    assert response["status"] == "completed"
    assert response["usage"]["total_tokens"] == 17
    assert response["output"][0]["content"] == [{"type": "output_audio", "transcript": "It is noon."}]
    assert end[2]["part"]["type"] == "audio"
    assert len({frame["event_id"] for frame in shell.frames}) == len(shell.frames)


def test_text_sessions_answer_in_text(shell: Shell) -> None:
    shell.send("session.update", session={"type": "realtime", "output_modalities": ["text"]})
    shell.turn("Hello?")
    sent = shell.give(shell.brain, TextDelta("Hi "), TextDelta("there."), BrainDone())
    assert kinds(sent)[2:] == [
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert sent[-1]["response"]["output"][0]["content"] == [{"type": "output_text", "text": "Hi there."}]
    assert not any(isinstance(config, SpeechConfig) for config in shell.opened.values())


def test_barge_in_cancels_and_truncate_leaves_what_was_heard(shell: Shell) -> None:
    shell.turn("Tell me a story.")
    shell.say("Once upon a time", ms=400)
    item_id = only(shell.frames, "response.content_part.added")["item_id"]
    voice, brain = shell.voice, shell.brain
    shell.append()
    sent = shell.give(shell.ear, TurnStarted(20_000))
    assert kinds(sent) == ["input_audio_buffer.speech_started", *CLOSING]
    assert sent[-1]["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    assert sent[-2]["item"]["status"] == "incomplete"
    assert {voice, brain} <= set(shell.gone)
    late = shell.give(voice, Audio(b"\0\0", 0, 1, 24_000)) + shell.give(brain, TextDelta(" lived"))
    assert late == []
    truncated = shell.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=230)
    assert truncated[0]["audio_end_ms"] == 230
    shell.give(shell.ear, TurnEnded("Stop.", 30_000, "model"))
    assert shell.asked[shell.brain].messages == (
        Message("user", "Tell me a story."),
        Message("assistant", "Once upon"),
        Message("user", "Stop."),
    )
    retrieved = shell.send("conversation.item.retrieve", item_id=item_id)
    assert retrieved[0]["item"]["content"][0]["transcript"] == "Once upon"


def test_what_a_cancelled_response_had_not_spoken_is_not_history(shell: Shell) -> None:
    shell.turn("Count.")
    shell.say("One two", ms=200)
    shell.give(shell.brain, TextDelta(" three four five"))
    shell.send("response.cancel")
    shell.turn("Go on.")
    assert shell.asked[shell.brain].messages[1] == Message("assistant", "One two")


@pytest.mark.parametrize("truncates", [False, True])
def test_a_greeting_that_is_spoken_over_early_is_history_as_far_as_it_was_heard(shell: Shell, truncates: bool) -> None:
    """All of its audio is made, its last bytes are held back by the resampler, and the brain has yet to say that this
    was all: a user who speaks now has heard it. In the middle of its first word they have heard none of it."""
    shell.send("response.create")
    shell.give(shell.brain, TextDelta("Hello."))
    words = (Timed("Hello.", 0, 9_600),)
    shell.give(shell.voice, WordTimes(words, words, 24_000), Audio(bytes(48 * 395), 0, 9_600, 24_000))
    item_id = only(shell.frames, "response.content_part.added")["item_id"]
    shell.append()
    shell.give(shell.ear, TurnStarted(1_600))
    if truncates:
        shell.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=395)
    shell.give(shell.ear, TurnEnded("Hi.", 16_000, "model"))
    assert shell.asked[shell.brain].messages == (Message("assistant", "Hello."), Message("user", "Hi."))
    shell.say("Yes?")
    shell.finish()
    shell.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=394)
    shell.turn("And?")
    assert shell.asked[shell.brain].messages[0] == Message("user", "Hi.")


def test_a_cut_without_word_times_is_made_once_however_often_it_is_told(shell: Shell) -> None:
    shell.turn("Count.")
    shell.give(shell.brain, TextDelta("one two three four five six seven eight"))
    shell.give(shell.voice, Audio(bytes(48 * 800), 0, 24 * 800, 24_000))
    item_id = shell.finish()[0]["item_id"]
    six = "one two three four five six"
    for end_ms, heard in ((600, six), (600, six), (300, "one two three")):
        shell.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=end_ms)
        shell.turn("And?")
        assert shell.asked[shell.brain].messages[1] == Message("assistant", heard)
        shell.say("Yes.")
        shell.finish()


@pytest.mark.parametrize("end_ms", [10_000, 400])
def test_truncate_beyond_the_end_is_the_end(shell: Shell, end_ms: int) -> None:
    shell.turn("Hello.")
    shell.say("Hello to you.", ms=400)
    item_id = shell.finish()[0]["item_id"]
    sent = shell.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=end_ms)
    assert (sent[0]["type"], sent[0]["audio_end_ms"]) == ("conversation.item.truncated", 400)
    shell.turn("And?")
    assert Message("assistant", "Hello to you.") in shell.asked[shell.brain].messages


def test_a_function_call_and_its_result(shell: Shell) -> None:
    parameters = {"type": "object", "properties": {"id": {"type": "string"}}}
    tool = {"type": "function", "name": "look_up", "description": "Finds", "parameters": parameters}
    updated = shell.send("session.update", session={"type": "realtime", "tools": [tool], "tool_choice": "auto"})
    assert updated[0]["session"]["tools"] == [tool]
    shell.turn("Where is order 7?")
    asked = shell.asked[shell.brain]
    assert (asked.tools[0].name, json.loads(asked.tools[0].parameters)) == ("look_up", parameters)
    sent = shell.give(shell.brain, ToolCall("call_9", "look_up", '{"id":"7"}'), BrainDone("tool_calls"))
    assert kinds(sent) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert sent[1]["item"] | {"id": ""} == {
        "id": "",
        "object": "realtime.item",
        "type": "function_call",
        "status": "in_progress",
        "name": "look_up",
        "call_id": "call_9",
        "arguments": "",
    }
    assert sent[5]["item"]["arguments"] == sent[3]["arguments"] == '{"id":"7"}'
    assert len(shell.asked) == 1  # it does not go on by itself
    result = {"type": "function_call_output", "call_id": "call_9", "output": '{"state":"sent"}'}
    added = shell.send("conversation.item.create", item=result)
    assert added[0]["previous_item_id"] == sent[0]["item"]["id"]
    shell.send("response.create")
    assert shell.asked[shell.brain].messages[1:] == (
        Message("assistant", "", (ToolCall("call_9", "look_up", '{"id":"7"}'),)),
        Message("tool", '{"state":"sent"}', call_id="call_9"),
    )
    assert kinds(shell.say("It was sent.") + shell.finish())[-1] == "response.done"


def test_X3_a_call_without_a_result_does_not_break_the_history(shell: Shell) -> None:
    shell.turn("Look it up.")
    shell.give(shell.brain, ToolCall("c1", "look_up", "{}"), BrainDone("tool_calls"))
    shell.turn("Never mind.")
    messages = shell.asked[shell.brain].messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[2].call_id == "c1"


def test_X1_a_result_that_comes_after_the_next_turn_stands_behind_its_call(shell: Shell) -> None:
    shell.turn("Book it.")
    shell.give(shell.brain, ToolCall("c1", "book", "{}"), BrainDone("tool_calls"))
    shell.turn("Hello?")
    output = {"type": "function_call_output", "call_id": "c1", "output": "done"}
    shell.send("conversation.item.create", item=output)
    shell.send("response.cancel")
    shell.send("response.create")
    assert shell.asked[shell.brain].messages[2] == Message("tool", "done", call_id="c1")


def test_manual_commit_and_response_wait_for_the_words(shell: Shell) -> None:
    manual(shell)
    transcribing(shell)
    shell.append(0.3)
    committed = shell.send("input_audio_buffer.commit")
    assert kinds(committed) == SPOKEN_TURN[2:]
    created = shell.send("response.create")
    assert kinds(created) == ["response.created"]
    assert not shell.asked
    sent = shell.heard(" Good morning.")
    assert kinds(sent) == [
        "conversation.item.input_audio_transcription.delta",
        "conversation.item.input_audio_transcription.completed",
    ]
    assert sent[1]["transcript"] == "Good morning."
    assert sent[1]["usage"] == {"type": "duration", "seconds": 0.3}
    assert shell.asked[shell.brain].messages == (Message("user", "Good morning."),)


def test_words_that_do_not_come_do_not_hold_the_response_for_ever(shell: Shell) -> None:
    manual(shell)
    transcribing(shell)
    shell.append()
    shell.send("input_audio_buffer.commit")
    shell.send("response.create")
    assert shell.socket.due_s == shell.now_s + 5.0
    assert kinds(shell.tick(5.0)) == ["conversation.item.input_audio_transcription.failed"]
    assert len(shell.asked) == 1


def test_a_commit_without_enough_audio_is_the_known_error(shell: Shell) -> None:
    manual(shell)
    shell.append(0.05)
    error = error_of(shell.send("input_audio_buffer.commit", event_id="e1"))
    assert (error["code"], error["type"]) == ("input_audio_buffer_commit_empty", "invalid_request_error")
    assert error["event_id"] == "e1"
    shell.append(0.05)
    assert kinds(shell.send("input_audio_buffer.commit")) == SPOKEN_TURN[2:]
    assert error_of(shell.send("input_audio_buffer.commit"))["code"] == "input_audio_buffer_commit_empty"


def test_manual_sessions_say_nothing_of_turns(shell: Shell) -> None:
    manual(shell)
    shell.append()
    assert shell.give(shell.ear, TurnStarted(0), TurnUpdated("Hi", 9), TurnEnded("Hi", 10, "model")) == []


def test_clear_throws_away_what_was_not_committed(shell: Shell) -> None:
    manual(shell)
    transcribing(shell)
    shell.append()
    shell.give(shell.ear, Heard(" Not this.", 10, True))
    assert kinds(shell.send("input_audio_buffer.clear")) == ["input_audio_buffer.cleared"]
    shell.heard("")
    shell.append()
    shell.send("input_audio_buffer.commit")
    assert shell.heard(" But this.")[-1]["transcript"] == "But this."


def test_clear_in_the_middle_of_a_turn_forgets_it(shell: Shell) -> None:
    shell.append()
    ear = shell.ear
    shell.give(ear, TurnStarted(0))
    shell.send("input_audio_buffer.clear")
    assert shell.give(ear, TurnEnded("Gone", 9000, "model")) == []
    sent = shell.turn("Kept.")
    assert sent[0]["audio_start_ms"] == 300  # after the half second that was cleared, less the padding
    assert shell.ear != ear


def test_a_commit_in_the_middle_of_a_turn_ends_it_with_its_words(shell: Shell) -> None:
    transcribing(shell)
    shell.append()
    ear = shell.ear
    item_id = shell.give(ear, TurnStarted(0))[0]["item_id"]
    sent = shell.send("input_audio_buffer.commit")
    assert kinds(sent) == SPOKEN_TURN[1:]
    shell.append()
    assert shell.ear != ear
    assert shell.give(ear, TurnEnded("Hello", 9000, "closed")) == []
    heard = shell.heard("Hello")
    assert (heard[-1]["item_id"], heard[-1]["transcript"]) == (item_id, "Hello")
    assert ear in shell.gone


def test_cancel_when_nothing_runs_is_the_known_error(shell: Shell) -> None:
    error = error_of(shell.send("response.cancel", event_id="c1"))
    assert error["code"] == "response_cancel_not_active"
    assert error["message"] == "Cancellation failed: no active response found"
    assert error["event_id"] == "c1"


def test_cancel_before_the_first_word_and_twice(shell: Shell) -> None:
    shell.send("response.create")
    response_id = only(shell.frames, "response.created")["response"]["id"]
    sent = shell.send("response.cancel", response_id=response_id)
    assert kinds(sent) == ["response.done"]
    assert sent[0]["response"]["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert error_of(shell.send("response.cancel", response_id=response_id))["code"] == "response_cancel_not_active"


def test_cancel_while_the_voice_still_speaks(shell: Shell) -> None:
    shell.turn("Hello")
    shell.say("Hello. How are you?")
    shell.give(shell.brain, BrainDone())
    assert kinds(shell.send("response.cancel")) == CLOSING
    assert shell.give(shell.voice, Flushed("end")) == []
    assert shell.gone.count(shell.voice) == 1


def test_cancel_of_a_response_that_is_done_leaves_the_next_alone(shell: Shell) -> None:
    shell.turn("One")
    shell.say("Yes.")
    first = shell.finish()[-1]["response"]["id"]
    shell.turn("Two")
    assert error_of(shell.send("response.cancel", response_id=first))["code"] == "response_cancel_not_active"
    assert kinds(shell.say("No.") + shell.finish())[-1] == "response.done"


def test_two_responses_at_once_are_the_known_error(shell: Shell) -> None:
    shell.send("response.create")
    active = only(shell.frames, "response.created")["response"]["id"]
    error = error_of(shell.send("response.create", event_id="r2"))
    assert error["code"] == "conversation_already_has_active_response"
    assert error["message"].startswith(f"Conversation already has an active response in progress: {active}.")
    assert error["event_id"] == "r2"


def test_metadata_is_echoed(shell: Shell) -> None:
    metadata = {"client_event_id": "response_create_1"}
    created = shell.send("response.create", response={"metadata": metadata})
    assert created[0]["response"]["metadata"] == metadata
    assert shell.finish()[-1]["response"]["metadata"] == metadata
    too_many = {str(n): "x" for n in range(17)}
    assert error_of(shell.send("response.create", response={"metadata": too_many}))["param"] == "response.metadata"


def test_responses_outside_the_conversation(shell: Shell) -> None:
    shell.turn("I am angry.")
    order = {
        "conversation": "none",
        "output_modalities": ["text"],
        "instructions": "Classify.",
        "metadata": {"topic": "mood"},
        "input": [
            {"type": "item_reference", "id": only(shell.frames, "conversation.item.added")["item"]["id"]},
            user("Which mood?"),
        ],
    }
    created = shell.send("response.create", response=order)[0]["response"]
    assert created["conversation_id"] is None
    assert created["metadata"] == {"topic": "mood"}
    assert shell.asked[shell.brain].messages == (
        Message("system", "Classify."),
        Message("user", "I am angry."),
        Message("user", "Which mood?"),
    )
    sent = shell.give(shell.brain, TextDelta("anger"), BrainDone())
    assert not [kind for kind in kinds(sent) if kind.startswith("conversation.")]
    assert sent[-1]["response"]["output"][0]["content"] == [{"type": "output_text", "text": "anger"}]
    shell.send("response.cancel")
    shell.send("response.create")
    assert shell.asked[shell.brain].messages == (Message("user", "I am angry."),)


def test_references_to_nothing_are_refused(shell: Shell) -> None:
    order = {"conversation": "none", "input": [{"type": "item_reference", "id": "item_x"}]}
    assert error_of(shell.send("response.create", response=order))["code"] == "item_reference_invalid_item_id"
    assert not shell.asked


def test_S10_a_transcription_session_never_answers() -> None:
    shell = Shell("transcription")
    created = shell.tick()[0]["session"]
    assert (created["type"], created["object"]) == ("transcription", "realtime.transcription_session")
    vad = {"type": "server_vad", "silence_duration_ms": 350}
    heard = {"transcription": {"model": "gpt-4o-transcribe", "language": "en"}, "turn_detection": vad}
    updated = shell.send("session.update", session={"type": "transcription", "audio": {"input": heard}})
    assert updated[0]["session"]["audio"]["input"]["transcription"] == heard["transcription"]
    shell.append()
    live = shell.give(shell.ear, TurnStarted(1600), TurnUpdated("Good", 4000), TurnUpdated("Good morning", 6000))
    deltas = [frame["delta"] for frame in live[1:]]
    sent = shell.give(shell.ear, TurnEnded("Good morning all.", 16_000, "model"))
    assert kinds(sent) == [
        *SPOKEN_TURN[1:],
        "conversation.item.input_audio_transcription.delta",
        "conversation.item.input_audio_transcription.completed",
    ]
    assert "".join([*deltas, sent[-2]["delta"]]) == sent[-1]["transcript"] == "Good morning all."
    for kind in ("response.create", "response.cancel"):
        assert error_of(shell.send(kind))["param"] == "type"
    assert not shell.asked


def test_client_ids_are_kept_and_items_are_put_where_asked(shell: Shell) -> None:
    first = shell.send("conversation.item.create", item=user("A", id="msg_a"))
    assert kinds(first) == ["conversation.item.added", "conversation.item.done"]
    assert (first[0]["item"]["id"], first[0]["previous_item_id"]) == ("msg_a", None)
    shell.send("conversation.item.create", item=user("C", id="msg_c"))
    between = shell.send("conversation.item.create", item=user("B", id="msg_b"), previous_item_id="msg_a")
    assert between[0]["previous_item_id"] == "msg_a"
    front = shell.send("conversation.item.create", item=user("0", id="msg_0"), previous_item_id="root")
    assert front[0]["previous_item_id"] is None
    shell.send("response.create")
    assert [message.content for message in shell.asked[shell.brain].messages] == ["0", "A", "B", "C"]


def test_a_second_item_of_the_same_id_is_the_known_error(shell: Shell) -> None:
    shell.send("conversation.item.create", item=user("A", id="msg_a"))
    error = error_of(shell.send("conversation.item.create", item=user("B", id="msg_a"), event_id="e9"))
    assert (error["code"], error["event_id"]) == ("item_create_duplicate_item_id", "e9")


@pytest.mark.parametrize("verb", ["retrieve", "delete", "truncate"])
def test_items_that_do_not_exist(shell: Shell, verb: str) -> None:
    error = error_of(shell.send(f"conversation.item.{verb}", item_id="nope", event_id="rci_nope", audio_end_ms=0))
    assert (error["code"], error["event_id"]) == (f"item_{verb}_invalid_item_id", "rci_nope")


def test_deleted_items_are_gone(shell: Shell) -> None:
    shell.send("conversation.item.create", item=user("A", id="msg_a"))
    assert shell.send("conversation.item.delete", item_id="msg_a")[0]["item_id"] == "msg_a"
    assert kinds(shell.send("conversation.item.create", item=user("again", id="msg_a")))[0] == "conversation.item.added"


def test_livekit_seeds_the_history_before_it_reads_session_created() -> None:
    shell = Shell()
    vad = {"type": "semantic_vad", "eagerness": "medium", "create_response": True, "interrupt_response": True}
    pcm = {"type": "audio/pcm", "rate": 24000}
    session = {
        "type": "realtime",
        "model": "gpt-realtime",
        "output_modalities": ["audio"],
        "audio": {
            "input": {
                "format": pcm,
                "transcription": {"model": "gpt-4o-mini-transcribe"},
                "turn_detection": vad,
                "noise_reduction": None,
            },
            "output": {"format": pcm, "voice": "marin", "speed": 1.0},
        },
        "max_output_tokens": "inf",
        "tool_choice": "auto",
        "tracing": None,
    }
    first = shell.send("session.update", session=session, event_id="session_update_1")
    assert kinds(first) == ["session.created", "session.updated"]
    assert first[1]["session"]["audio"]["input"]["turn_detection"] == vad
    for kind, text in (("instructions", "Be kind."), ("instructions", "Be brief.")):
        assert kinds(shell.send("session.update", session={"type": "realtime", kind: text})) == ["session.updated"]
    history = [
        user("Hi", id="item_u"),
        {"type": "message", "role": "assistant", "id": "item_a", "content": [{"type": "output_text", "text": "Hey"}]},
        {"type": "function_call", "id": "item_f", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "id": "item_o", "call_id": "c", "output": "1"},
    ]
    previous = "root"
    for item in history:
        sent = shell.send("conversation.item.create", item=item, previous_item_id=previous, event_id="chat_ctx_create")
        assert kinds(sent) == ["conversation.item.added", "conversation.item.done"]
        assert sent[0]["item"]["id"] == item["id"]
        assert sent[0]["previous_item_id"] == (None if previous == "root" else previous)
        previous = item["id"]
    shell.turn("Now?")
    assert [message.role for message in shell.asked[shell.brain].messages] == [
        "system", "user", "assistant", "assistant", "tool", "user",
    ]  # fmt: skip


def test_create_response_false_never_answers_by_itself(shell: Shell) -> None:
    vad = {"create_response": False, "interrupt_response": False}
    shell.send("session.update", session={"type": "realtime", "audio": {"input": {"turn_detection": vad}}})
    assert kinds(shell.turn("Hello")) == SPOKEN_TURN
    shell.send("response.create")
    assert kinds(shell.turn("Hello?")) == SPOKEN_TURN
    assert kinds(shell.say("Yes.") + shell.finish())[-1] == "response.done"
    assert len(shell.asked) == 1


def test_B11_a_turn_during_an_uninterruptible_answer_is_answered_once_and_after_it(shell: Shell) -> None:
    vad = {"interrupt_response": False}
    shell.send("session.update", session={"type": "realtime", "audio": {"input": {"turn_detection": vad}}})
    shell.turn("Read the notice.")
    shell.say("This call is recorded.")
    assert kinds(shell.turn("One thing.")) == SPOKEN_TURN
    assert kinds(shell.turn("And another.")) == SPOKEN_TURN
    end = shell.finish()
    assert kinds(end) == [*CLOSING, "response.created"]
    assert [m.content for m in shell.asked[shell.brain].messages if m.role == "user"] == [
        "Read the notice.", "One thing.", "And another.",
    ]  # fmt: skip
    shell.say("Sure.")
    assert kinds(shell.finish())[-1] == "response.done"


def test_a_turn_without_words_is_answered_by_nothing(shell: Shell) -> None:
    assert kinds(shell.turn("")) == SPOKEN_TURN
    assert not shell.asked


def test_guesses_about_turns_are_not_on_this_wire(shell: Shell) -> None:
    shell.append()
    shell.give(shell.ear, TurnStarted(0))
    assert shell.give(shell.ear, TurnEagerEnded("Hi", 1), TurnResumed(2)) == []


def test_a_brain_that_breaks_off(shell: Shell) -> None:
    shell.turn("Hello")
    shell.say("Let me")
    sent = shell.give(shell.brain, BrainFailed("upstream closed"))
    assert kinds(sent) == CLOSING
    assert sent[-1]["response"]["status_details"] == {
        "type": "failed",
        "error": {"type": "server_error", "code": "server_error", "message": "upstream closed"},
    }
    assert kinds(shell.turn("Hello?"))[-1] == "response.created"


def test_a_voice_that_breaks_off_or_cannot_be_had(shell: Shell) -> None:
    shell.turn("Hello")
    shell.say("Hi")
    assert shell.give(shell.voice, Failed("no audio"))[-1]["response"]["status"] == "failed"
    assert shell.brain in shell.gone
    shell.turn("Hello?")
    shell.say("Hi")
    sent = shell.do(shell.socket.refused(shell.voice, NotFound("no such voice"), shell.now_s))
    assert sent[-1]["response"]["status_details"]["error"]["type"] == "invalid_request_error"
    shell.turn("Hello??")
    sent = shell.do(shell.socket.refused(shell.brain, AtCapacity("busy"), shell.now_s))
    assert sent[-1]["response"]["status_details"]["error"]["code"] == "server_overloaded"


def test_an_answer_that_grew_too_long_is_incomplete(shell: Shell) -> None:
    shell.turn("Talk.")
    shell.say("Well, then")
    response = shell.finish("length")[-1]["response"]
    assert response["status"] == "incomplete"
    assert response["status_details"] == {"type": "incomplete", "reason": "max_output_tokens"}


def test_an_ear_that_breaks_is_replaced_and_its_turn_is_closed(shell: Shell) -> None:
    transcribing(shell)
    shell.append()
    ear = shell.ear
    shell.give(ear, TurnStarted(0))
    sent = shell.give(ear, Failed("model gone", fatal=True))
    assert kinds(sent) == [*SPOKEN_TURN[1:], "conversation.item.input_audio_transcription.failed"]
    assert kinds(shell.turn("Again."))[-1] == "response.created"
    assert shell.ear != ear


def test_no_place_to_listen_closes_the_socket(shell: Shell) -> None:
    shell.append()
    sent = shell.do(shell.socket.refused(shell.ear, AtCapacity("all places are taken"), shell.now_s))
    assert only(sent, "error")["error"]["code"] == "server_overloaded"
    assert shell.closed == 1013
    assert shell.send("response.create") == []


def test_silence_after_an_answer_makes_the_brain_go_on(shell: Shell) -> None:
    vad = {"idle_timeout_ms": 5000}
    shell.send("session.update", session={"type": "realtime", "audio": {"input": {"turn_detection": vad}}})
    shell.turn("Hello")
    shell.say("Hello, who is there?", ms=1000)
    shell.finish()
    assert shell.socket.due_s == pytest.approx(shell.now_s + 6.0)
    sent = shell.tick(6.0)
    assert kinds(sent) == ["input_audio_buffer.timeout_triggered", *SPOKEN_TURN[2:], "response.created"]
    assert len(shell.asked) == 2


def test_the_ear_is_told_how_long_the_numbers_are_that_tools_take(shell: Shell) -> None:
    schema = {"type": "object", "properties": {"order": {"type": "string", "description": "its number, four digits"}}}
    tool = {"type": "function", "name": "find", "parameters": schema}
    shell.send("session.update", session={"type": "realtime", "tools": [tool]})
    shell.append(1.0, 48_000)
    config = shell.opened[shell.ear]
    assert isinstance(config, HearingConfig)
    assert config.expected_digits == (4,)


@pytest.mark.parametrize(
    ("wire", "encoding", "rate", "bytes_per_s"),
    [("audio/pcm", "pcm_s16le", 24_000, 48_000), ("audio/pcmu", "pcm_mulaw", 8000, 8000),
     ("audio/pcma", "pcm_alaw", 8000, 8000)],
)  # fmt: skip
def test_formats(shell: Shell, wire: str, encoding: str, rate: int, bytes_per_s: int) -> None:
    form = {"type": wire} | ({"rate": 24_000} if wire == "audio/pcm" else {})
    audio = {"input": {"format": form}, "output": {"format": form}}
    updated = shell.send("session.update", session={"type": "realtime", "audio": audio})
    assert updated[0]["session"]["audio"]["output"]["format"] == form
    shell.append(1.0, bytes_per_s)
    config = shell.opened[shell.ear]
    assert isinstance(config, HearingConfig)
    assert (config.encoding, config.sample_rate_hz) == (encoding, rate)
    shell.give(shell.ear, TurnStarted(0), TurnEnded("Hi", 16_000, "model"), )
    shell.give(shell.brain, TextDelta("Hello"))
    voice = shell.opened[shell.voice]
    assert isinstance(voice, SpeechConfig)
    assert (voice.format.encoding, voice.format.sample_rate_hz) == (encoding, rate)
    shell.give(shell.voice, Audio(bytes(bytes_per_s // 2), 0, 12_000, 24_000))
    item_id = shell.finish()[0]["item_id"]
    assert shell.send("conversation.item.truncate", item_id=item_id, audio_end_ms=9999)[0]["audio_end_ms"] == 500


@pytest.mark.parametrize(
    "frame",
    ["", "[]", "{", "7", '{"type":7}', '{"type":"nope","event_id":"e"}', '{"type":"session.update"}',
     '{"type":"input_audio_buffer.append","audio":"?"}', b"\0\1",
     '{"type":"conversation.item.create","item":{"type":"message"}}',
     '{"type":"conversation.item.create","item":{"type":"function_call"}}',
     '{"type":"conversation.item.create","item":{"type":"item_reference","id":"x"}}',
     '{"type":"session.update","session":{"type":"transcription"}}',
     '{"type":"session.update","session":{"audio":{"input":{"format":{"type":"audio/pcm","rate":16000}}}}}',
     '{"type":"session.update","session":{"audio":{"output":{"speed":9}}}}',
     '{"type":"session.update","session":{"tools":[{"type":"mcp","server_label":"x"}]}}'],
)  # fmt: skip
def test_what_is_not_understood_is_an_error_and_nothing_else(shell: Shell, frame: str | bytes) -> None:
    (sent,) = shell.raw(frame)
    assert sent["type"] == "error"
    assert sent["error"]["type"] == "invalid_request_error"
    assert kinds(shell.turn("Still here?"))[-1] == "response.created"


def test_the_voice_is_fixed_once_it_has_spoken(shell: Shell) -> None:
    voice = {"type": "realtime", "audio": {"output": {"voice": "cedar"}}}
    assert shell.send("session.update", session=voice)[0]["session"]["audio"]["output"]["voice"] == "cedar"
    shell.turn("Hi")
    shell.say("Hello")
    assert kinds(shell.send("session.update", session=voice)) == ["session.updated"]
    voice["audio"] = {"output": {"voice": {"id": "marin"}}}
    assert error_of(shell.send("session.update", session=voice))["code"] == "cannot_update_voice"


def test_a_leaving_server_finishes_its_answer(shell: Shell) -> None:
    shell.turn("Hi")
    shell.say("Hello")
    assert shell.do(shell.socket.drain(shell.now_s)) == []
    assert kinds(shell.finish())[-1] == "response.done"
    assert shell.closed == 1012


def test_a_closing_socket_ends_every_response(shell: Shell) -> None:
    shell.turn("Hi")
    shell.say("Hello")
    sent = shell.do(shell.socket.close(EngineFailed("bye")))
    assert kinds(sent) == [*CLOSING, "error"]
    assert sent[-2]["response"]["status"] == "failed"


def test_old_items_make_room_for_new_ones() -> None:
    shell = Shell(limits=RealtimeLimits(max_items=3))
    for number in range(3):
        shell.send("conversation.item.create", item=user(str(number), id=f"m{number}"))
    assert error_of(shell.send("conversation.item.create", item=user("3")))["param"] == "item"
    sent = shell.turn("Hello")
    assert [frame["item_id"] for frame in sent if frame["type"] == "conversation.item.deleted"] == ["m0"]


def test_livekit_understands_every_item_and_finds_what_comes_before_it(shell: Shell) -> None:
    lk = pytest.importorskip("livekit.agents.llm._realtime.openai_utils")
    realtime = pytest.importorskip("openai.types.realtime")
    history = pytest.importorskip("livekit.agents.llm.remote_chat_context").RemoteChatContext()
    transcribing(shell)
    shell.send("conversation.item.create", item=user("Hi", id="u1"), previous_item_id="root")
    shell.turn("Where is it?")
    shell.say("One moment.")
    shell.give(shell.brain, ToolCall("c1", "look_up", "{}"))
    shell.finish("tool_calls")
    shell.send("conversation.item.create", item={"type": "function_call_output", "call_id": "c1", "output": "7"})
    for frame in shell.frames:
        if frame["type"] == "conversation.item.added":
            event = realtime.ConversationItemAdded.construct(**frame)
            history.insert(event.previous_item_id, lk.openai_item_to_livekit_item(event.item))
    items = history.to_chat_ctx().items
    assert [item.type for item in items] == ["message", "message", "message", "function_call", "function_call_output"]
    assert (items[0].id, items[3].name, items[4].output) == ("u1", "look_up", "7")
