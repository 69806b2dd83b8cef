"""Whole dialogues through the agent socket's machine, with the shell done in virtual time."""

import pytest

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta, ToolCall, ToolSpec
from antiphon.core.event import Failed
from antiphon.core.turns import TurnEnded, TurnStarted, TurnUpdated
from antiphon.dialog.conversation_actions import Speak, StartBrain
from antiphon.dialog.conversation_events import FromBrain, Played
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, PlayedTo, SpeechOpened
from antiphon.dialog.ledger import Entry

from ...dialog.talking import echo, last, tokens
from .world import AgentWorld

LONG = "The first order was sent on Monday. The second one is still being packed. The third one waits for payment."


def recite(request: BrainRequest) -> list[BrainEvent]:
    return tokens(LONG)


def test_a_turn_is_answered_and_every_word_of_it_is_heard_and_recorded() -> None:
    world = AgentWorld(echo)
    world.connect()
    world.says(1.0, "where is my order")
    world.run(20.0)
    assert world.heard == "You said where is my order and that is all."
    assert world.history == ["user: where is my order", f"assistant: {world.heard}"]
    kinds = world.kinds()
    assert kinds[0] == "ready"
    order = ["turn.start", "turn.update", "turn.eager_end", "turn.end", "reply.start", "reply.text", "reply.words",
             "reply.mark", "reply.end"]  # fmt: skip
    assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)
    assert "".join(m["delta"] for m in world.messages("reply.text")) == world.heard
    assert world.messages("reply.end")[0]["reason"] == "completed"
    assert not world.client.lines, "the voice's place is free"


def test_the_answer_is_prepared_on_the_guess_and_nothing_of_it_leaves_before_the_turn_ends() -> None:
    world = AgentWorld(echo)
    world.connect()
    ended_s = world.says(1.0, "where is my order", end_s=1.0)
    world.run(ended_s - 0.01)
    assert not world.replies
    assert world.voice.spoken, "it is made already"
    world.run(ended_s + 0.001)
    assert world.replies
    assert next(iter(world.player.pieces)).start_s == pytest.approx(ended_s, abs=0.001)


def test_a_guess_that_was_wrong_leaves_nothing() -> None:
    world = AgentWorld(echo)
    world.connect()
    world.hesitates(1.0, "where is", " my order")
    world.run(20.0)
    assert world.heard == "You said where is my order and that is all."
    assert len(world.replies) == 1


def test_an_interruption_stops_the_reply_and_history_keeps_what_was_heard() -> None:
    world = AgentWorld(lambda request: tokens(LONG) if "order" in last(request) else tokens("All right."))
    world.connect()
    asked_s = world.says(1.0, "tell me about my order")
    world.says(asked_s + 2.0, "stop talking please")
    world.run(asked_s + 2.5)
    (clear,) = world.messages("clear")
    cut = world.replies[0]
    assert (clear["reply_id"], clear["fade_ms"]) == (cut, 40)
    world.run(30.0)
    assert world.heard.endswith("All right.")
    assert world.history[1] == f"assistant: {world.heard.removesuffix(' All right.')}"
    assert LONG.startswith(world.history[1].removeprefix("assistant: "))
    after = world.client.messages[world.kinds().index("clear") + 1 :]
    assert not [m for _, m in after if m.get("reply_id") == cut]


def test_the_agent_pauses_for_a_sound_and_goes_on_when_it_was_nothing() -> None:
    world = AgentWorld(recite, {"pause_after_s": 0.1})
    world.connect()
    asked_s = world.says(1.0, "tell me everything")
    hum_s = asked_s + 2.0
    world.ear(hum_s, TurnStarted(0))
    world.ear(hum_s + 0.6, TurnUpdated("mhm", 0))
    world.ear(hum_s + 0.9, TurnEnded("mhm.", 0, "model"))
    world.run(40.0)
    assert world.times("reply.pause") == [pytest.approx(hum_s + 0.1, abs=0.01)]
    assert world.times("reply.continue") == [pytest.approx(hum_s + 0.9, abs=0.4)]
    assert not world.messages("clear")
    assert world.heard == LONG
    assert world.history[-1] == f"assistant: {LONG}"


def test_words_over_the_greeting_wait_where_it_is_protected() -> None:
    world = AgentWorld(echo, {"greeting": "Welcome to the order desk of the shop.", "protect_greeting": True})
    world.connect()
    world.says(0.5, "hello there you")
    world.run(20.0)
    assert not world.messages("clear")
    assert world.heard.startswith("Welcome to the order desk of the shop. You said hello there you")


def test_a_client_may_forbid_interruptions_and_change_the_greeting() -> None:
    world = AgentWorld(recite)
    world.connect(agent={"interruptible": False, "greeting": "Good day.", "instructions": "Be brief."})
    asked_s = world.says(3.0, "tell me everything")
    world.says(asked_s + 1.0, "stop stop stop")
    world.run(60.0)
    assert world.messages("clear") == []
    assert world.heard == f"Good day. {LONG} {LONG}"
    assert world.session.conversation.history.messages()[0].content == "Be brief."


def test_written_turns_keys_and_the_silence_button() -> None:
    world = AgentWorld(lambda request: tokens(LONG) if "long" in last(request) else tokens(f"It is {last(request)}."))
    world.connect()
    world.at(1.0, lambda: world.send("text", text="noon"))
    world.at(5.0, lambda: world.send("dtmf", digits="42#"))
    world.at(10.0, lambda: world.send("text", text="a long one"))
    world.at(13.0, lambda: world.send("interrupt"))
    world.run(30.0)
    assert world.heard.startswith("It is noon. It is [keypad] 42#. The first order")
    assert world.messages("clear")[0]["reply_id"] == world.replies[-1]
    assert len(world.replies) == 3
    assert world.history[-1].startswith("assistant: The first order")
    assert not world.history[-1].endswith("payment.")


def calls(name: str, arguments: str = "{}"):
    def brain(request: BrainRequest) -> list[BrainEvent]:
        if request.messages[-1].role == "tool":
            return tokens(f"It says {request.messages[-1].content}.")
        return [TextDelta("Let me see."), ToolCall("c", name, arguments), BrainDone("tool_calls")]

    return brain


def test_the_servers_tools_run_once_the_turn_is_certain_and_the_result_is_told() -> None:
    world = AgentWorld(calls("book", '{"day":"friday"}'))
    world.tools.results["book"] = (0.5, "booked", True)
    world.connect()
    ended_s = world.says(1.0, "book friday", end_s=1.0)
    world.run(ended_s - 0.01)
    assert not world.tools.started
    world.run(20.0)
    assert [call.call.name for call in world.tools.started] == ["book"]
    assert world.heard == "Let me see. It says booked."


def test_a_result_outlives_the_interruption_and_the_end() -> None:
    world = AgentWorld(calls("book"))
    world.tools.results["book"] = (5.0, "booked", True)
    world.connect()
    ended_s = world.says(1.0, "book it")
    world.at(ended_s + 1.0, lambda: world.send("close"))
    world.run(ended_s + 2.0)
    assert world.client.closed_with == 1000
    assert not world.diary.ended, "the write is still on its way"
    world.run(20.0)
    assert world.tools.returned == {"c": "booked"}
    assert world.session.conversation.history.results == {"c": "booked"}
    assert world.diary.ended


def test_the_clients_own_tools() -> None:
    world = AgentWorld(calls("dim", '{"to":3}'))
    world.connect(agent={"tools": [{"name": "dim", "effect": "write", "timeout_ms": 60_000}]})
    ended_s = world.says(1.0, "dim the light")
    world.run(ended_s + 1.0)
    (asked,) = world.messages("tool.call")
    assert (asked["name"], asked["arguments"]) == ("dim", '{"to":3}')
    assert not world.tools.started
    world.send("tool.result", call_id=asked["call_id"], content="dimmed")
    world.run(20.0)
    assert world.heard.endswith("It says dimmed.")


def test_a_client_tool_named_like_the_servers_is_refused() -> None:
    world = AgentWorld(echo)
    client = world.connect(agent={"tools": [{"name": "book"}]})
    (error,) = world.messages("error")
    assert (error["fatal"], error["param"], client.closed_with) == (True, "agent.tools", 1008)


def test_a_slow_tool_gets_a_filler() -> None:
    world = AgentWorld(calls("look_up"), {"filler_after_s": 1.0})
    world.tools.results["look_up"] = (5.0, "done", True)
    world.connect()
    world.says(1.0, "look it up")
    world.run(20.0)
    assert world.heard == "Let me see. One moment, please. It says done."


def test_a_person_takes_over() -> None:
    def brain(request: BrainRequest) -> list[BrainEvent]:
        call = ToolCall("h", "handover", '{"reason":"asked"}')
        return [TextDelta("I will get someone."), call, BrainDone("tool_calls")]

    world = AgentWorld(brain, specs=(ToolSpec("handover", "Calls a person", effect="write"),))
    world.connect()
    world.says(1.0, "a person please")
    world.run(20.0)
    assert world.heard == "I will get someone."
    assert world.messages("handover") == [{"type": "handover", "reason": "asked"}]
    assert world.kinds()[-2:] == ["handover", "closed"]
    assert world.client.closed_with == 1000
    assert len(world.tools.handovers) == 1
    assert world.diary.ended == ["handover"]


def test_a_dropped_socket_goes_on_where_it_was_heard_without_a_second_greeting() -> None:
    world = AgentWorld(recite, {"greeting": "Hello."})
    world.connect()
    asked_s = world.says(3.0, "tell me everything")
    world.at(asked_s + 2.0, world.lose)
    world.at(asked_s + 5.0, world.come_back)
    world.run(60.0)
    first, second = world.messages("ready")
    assert (first["resumed"], second["resumed"], first["session_id"]) == (False, True, second["session_id"])
    assert first["resume_token"] != second["resume_token"]
    assert world.heard == f"Hello. {LONG}"
    assert len(world.replies) == 3
    assert world.history == ["assistant: Hello.", "user: tell me everything", f"assistant: {LONG}"]


def test_a_socket_that_is_only_half_dead_is_taken_over() -> None:
    world = AgentWorld(recite)
    old = world.connect()
    asked_s = world.says(1.0, "tell me everything")
    world.run(asked_s + 2.0)
    world.come_back()
    assert old.closed_with == 1006
    world.run(60.0)
    assert world.session.held
    heard = world.heard.split()
    assert heard[-1] == "payment."
    assert len(heard) <= len(LONG.split()) + 3, "the client did not say what it had heard since its last report"


def test_a_client_that_does_not_come_back_ends_the_session() -> None:
    world = AgentWorld(recite, {"resume_window_s": 10.0})
    world.connect()
    asked_s = world.says(1.0, "tell me everything")
    world.at(asked_s + 2.0, world.lose)
    world.run(asked_s + 11.0)
    assert not world.diary.ended
    world.run(asked_s + 13.0)
    assert world.diary.ended == ["the client did not come back"]
    client = world.come_back()
    assert world.messages("ready")[-1]["resumed"] is False
    assert client.closed_with is None


def test_calls_of_the_clients_tools_come_again_after_a_resume() -> None:
    world = AgentWorld(calls("dim"))
    world.connect(agent={"tools": [{"name": "dim", "timeout_ms": 60_000}]})
    ended_s = world.says(1.0, "dim the light")
    world.at(ended_s + 2.0, world.lose)
    world.at(ended_s + 3.0, world.come_back)
    world.run(ended_s + 4.0)
    first, again = world.messages("tool.call")
    assert first == again
    world.send("tool.result", call_id=again["call_id"], content="dimmed")
    world.run(30.0)
    assert world.heard.endswith("It says dimmed.")


def test_no_place_to_listen_is_said_and_closed() -> None:
    world = AgentWorld(echo, {"greeting": "Hello."})
    world.full()
    client = world.connect()
    assert world.kinds() == ["error"]
    assert (world.messages("error")[0]["code"], client.closed_with) == ("at_capacity", 1013)
    assert not client.lines
    world.run(1.0)
    assert world.diary.ended == ["refused"]


def test_a_session_that_finds_no_place_may_try_again() -> None:
    world = AgentWorld(recite)
    world.connect()
    asked_s = world.says(1.0, "tell me everything")
    world.run(asked_s + 2.0)
    world.lose()
    world.full()
    token = world.messages("ready")[0]["resume_token"]
    assert world.come_back(token).closed_with == 1013
    world.run(asked_s + 3.0)
    world.refuse_ear = None
    world.clients[-1].last_heard = world.clients[0].last_heard
    world.come_back(token)
    world.run(60.0)
    assert world.heard == LONG


def test_a_voice_without_a_place_is_told_and_the_session_lives() -> None:
    world = AgentWorld(echo)
    world.connect()
    places = [world.engine.places.take() for _ in range(8)]
    ended_s = world.says(1.0, "hello")
    world.run(ended_s + 10.0)
    assert world.messages("error")[0]["code"] == "at_capacity"
    assert not world.messages("error")[0]["fatal"]
    for place in places:
        place.release()
    world.says(world.now_s + 1.0, "once more")
    world.run(world.now_s + 20.0)
    assert world.heard == "You said once more and that is all."


def test_a_voice_that_dies_is_replaced_behind_the_last_heard_word() -> None:
    world = AgentWorld(recite)
    world.connect()
    asked_s = world.says(1.0, "tell me everything")
    world.at(asked_s + 1.5, world.break_voice)
    world.run(60.0)
    assert world.heard == LONG
    assert [m["type"] for m in world.messages("clear")] == ["clear"]
    assert len(world.replies) == 2


def test_a_brain_that_dies_goes_on_where_it_broke_off() -> None:
    world = AgentWorld(recite)
    world.brain_fault = lambda request, index: "gone" if (request, index) == (0, 6) else ""
    world.connect()
    world.says(1.0, "tell me everything", eager=False)
    world.run(60.0)
    assert world.heard == LONG


def test_an_ear_that_breaks_is_replaced_and_one_that_always_breaks_ends_it() -> None:
    world = AgentWorld(echo)
    client = world.connect()
    first = client.ear
    world.run(1.0)
    world.hear(Failed("gone"))
    assert client.ear != first
    world.says(1.5, "still there")
    world.run(15.0)
    assert world.heard == "You said still there and that is all."
    for _ in range(3):
        world.hear(Failed("gone"))
    (error,) = world.messages("error")
    assert (error["fatal"], client.closed_with) == (True, 1011)


def test_an_ear_that_says_nothing_is_replaced() -> None:
    world = AgentWorld(echo)
    client = world.connect()
    first = client.ear
    world.run(20.0)
    assert client.ear == first
    world.deaf = True
    world.run(30.0)
    assert client.ear != first
    assert "ear.failed" in [entry.kind for entry in world.session.conversation.ledger.entries()]


def test_silence_of_both_is_asked_about_and_then_ended() -> None:
    world = AgentWorld(echo, {"idle_s": 5.0, "max_idle_prompts": 1, "greeting": "Hello."})
    world.connect()
    world.run(60.0)
    assert world.heard == "Hello. Are you still there?"
    assert world.messages("closed")[0]["reason"] == "nobody answers"
    assert world.client.closed_with == 1000


def test_a_turn_that_never_ends_is_cut_off_and_answered() -> None:
    world = AgentWorld(echo, {"max_turn_s": 5.0})
    world.connect()
    world.ear(1.0, TurnStarted(0))
    world.ear(2.0, TurnUpdated("on and on", 0))
    world.run(20.0)
    assert world.heard == "You said on and on and that is all."


def test_a_leaving_server_finishes_the_answer() -> None:
    world = AgentWorld(recite)
    client = world.connect()
    asked_s = world.says(1.0, "tell me everything")
    world.run(asked_s + 1.0)
    world._do(client, client.machine.drain(world.now_s))
    assert client.closed_with is None
    world.run(60.0)
    assert client.closed_with == 1012
    assert world.messages("closed")[0]["reason"] == "restart"
    sent = world.messages("reply.end")[0]["samples"]
    assert sent == sum(piece.samples for piece in world.player.pieces)


def test_a_leaving_server_leaves_at_once_where_nothing_is_owed() -> None:
    world = AgentWorld(recite)
    client = world.connect()
    world.run(1.0)
    world._do(client, client.machine.drain(world.now_s))
    assert client.closed_with == 1012


def test_the_log_has_everything_in_order() -> None:
    world = AgentWorld(echo)
    world.connect()
    world.says(1.0, "hello")
    world.run(20.0)
    diary = world.diary
    kinds = [type(entry) for _, entry in diary.entries]
    order: list[type] = [TurnStarted, StartBrain, FromBrain, Speak, TurnEnded, SpeechOpened, AudibleLeft, AudioLeft]
    order += [PlayedTo, Played]
    assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)
    moments = [moment for moment, _ in diary.entries]
    assert moments == sorted(moments, key=lambda moment: (moment.now_s, moment.sample))
    assert moments[-1].sample == pytest.approx(moments[-1].now_s * 16_000, abs=2_000)
    assert diary.of(Entry) == list(world.session.conversation.ledger.entries())
    (opened,) = diary.of(SpeechOpened)
    assert (opened.turn, opened.reply_id, opened.rate_hz) == (1, world.replies[0], 24_000)
    sent = sum(left.samples for left in diary.of(AudioLeft))
    assert sent == world.messages("reply.end")[0]["samples"] == len(diary.said[opened.speech_id]) // 2
    assert diary.of(PlayedTo)[-1].sample == sent
    assert diary.heard_bytes > 0


def test_refusals_of_a_start_are_told() -> None:
    world = AgentWorld(echo)
    assert world.connect(version=7).closed_with == 1008


def test_all_right_is_an_answer_at_once_only_where_the_agent_has_asked_for_one() -> None:
    said = {"hello": "What can I do for you?", "book friday": "Friday it is. Shall I book it?", "all right": "Booked."}
    world = AgentWorld(lambda request: tokens(said.get(last(request), "I see.")))
    world.connect()

    def waits() -> bool:
        return world.configured[-1].opener_s is not None

    begins: list[bool] = []
    at_s = 1.0
    for text in ("hello", "book friday", "all right", "well"):
        world.says(at_s, text)
        world.at(at_s + 0.01, lambda: begins.append(waits()))
        at_s += 8.0
    world.run(at_s)
    assert begins == [True, True, False, True]
    assert world.heard == "What can I do for you? Friday it is. Shall I book it? Booked. I see."


def test_a_question_that_was_not_heard_to_its_end_was_not_asked() -> None:
    world = AgentWorld(lambda request: tokens("I have a very long list of days for you here. Shall I book Friday?"))
    world.connect()
    ended_s = world.says(1.0, "book something")
    world.says(ended_s + 1.5, "all right")
    world.run(ended_s + 1.6)
    assert world.configured[-1].opener_s is not None
    world = AgentWorld(lambda request: tokens("Shall I book Friday for you then?"))
    world.connect()
    ended_s = world.says(1.0, "book something")
    world.says(ended_s + 1.9, "all right")  # a moment before its last word is over
    world.run(ended_s + 2.0)
    assert world.configured[-1].opener_s is None
