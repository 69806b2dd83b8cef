"""Whole dialogues in virtual time."""

import pytest

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta, ToolCall
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnStarted, TurnUpdated
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_actions import (
    CancelBrain,
    CancelSpeech,
    ContinueSpeech,
    EndConversation,
    FinishSpeech,
    FlushSpeech,
    Handover,
    PauseSpeech,
    ReleaseSpeech,
    Speak,
    StartBrain,
)
from antiphon.dialog.conversation_settings import ConversationSettings, Phrases, ReplySettings
from antiphon.dialog.ledger import cause
from antiphon.dialog.tool_run import CallTool, CancelTool, ToolSettings
from tests.dialog.talking import asks, echo, last, tokens
from tests.dialog.world import World, well_formed

LONG = (
    "The first order was sent on Monday. The second order is still being packed. The third one waits for your payment. "
    "All of them should be with you by the end of the week."
)


def recite(request: BrainRequest) -> list[BrainEvent]:
    return tokens(LONG)


def test_an_answer_is_made_on_the_guess_and_released_at_the_end_of_the_turn():
    world = World(echo)
    world.says(1.0, "where is my order", end_s=1.0)
    world.run()
    starts = world.actions(StartBrain)
    ((released_s, _),) = world.actions(ReleaseSpeech)
    assert len(starts) == 1
    assert starts[0][1].speculative
    assert starts[0][0] == pytest.approx(2.7)
    assert released_s == pytest.approx(3.2)
    assert world.sounds[0].begin_s == pytest.approx(3.2)
    assert world.heard == world.recorded == "You said where is my order and that is all."
    assert "guess.right" in world.kinds()


def test_a_guess_is_discarded_when_the_turn_goes_on():
    world = World(echo)
    world.hesitates(1.0, "where is", " my order")
    world.run()
    assert [action.speculative for _, action in world.actions(StartBrain)] == [True, True]
    assert world.heard == "You said where is my order and that is all."
    assert world.users == ["where is my order"]


def test_a_guess_is_made_anew_when_the_words_changed():
    world = World(echo)
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnEagerEnded("book for Friday", 0))
    world.at(2.0, TurnEnded("book for Friday noon", 0, "model"))
    world.run()
    assert world.heard == "You said book for Friday noon and that is all."


def test_marks_and_capitals_do_not_make_a_guess_wrong():
    world = World(echo)
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnEagerEnded("Hello there", 0))
    world.at(2.0, TurnEnded("hello there.", 0, "model"))
    world.run()
    assert len(world.actions(StartBrain)) == 1


def test_nothing_is_guessed_where_the_setting_forbids():
    world = World(echo, ConversationSettings(speculate=False))
    world.says(1.0, "hello there")
    world.run()
    assert [action.speculative for _, action in world.actions(StartBrain)] == [False]


def test_B4_mhm_neither_stops_the_agent_nor_is_answered_later():
    world = World(recite)
    world.says(1.0, "tell me all")
    world.says(5.0, "mhm")
    world.run()
    assert world.heard == LONG
    assert not world.actions(CancelSpeech)
    assert len(world.actions(StartBrain)) == 1
    assert world.users == ["tell me all"]


def test_B5_the_agents_own_words_make_no_turn():
    world = World(recite)
    world.says(1.0, "tell me all")
    world.says(4.6, "was sent on Monday the second", pace_s=0.25)
    world.run()
    assert world.heard == LONG
    assert world.users == ["tell me all"]


def test_B5_an_echo_that_ends_after_the_agent_is_no_turn_either():
    world = World(lambda request: tokens("It will be there on Monday morning."))
    world.says(1.0, "when")
    world.run(2.8)
    end_s = world.sounds[-1].end_s
    world.says(end_s + 0.2, "on Monday morning", pace_s=0.1)
    world.run()
    assert world.users == ["when"]


def test_an_interruption_stops_the_agent_and_history_keeps_what_was_heard():
    world = World(lambda request: tokens(LONG) if last(request) == "tell me all" else echo(request))
    world.says(1.0, "tell me all")
    world.says(6.0, "stop what about the third one")
    world.run()
    ((cancel_s, cancel),) = world.actions(CancelSpeech)
    assert cancel_s == pytest.approx(6.3)
    assert cancel.fade_ms == 40
    assert LONG.startswith(world.replies[0])
    assert 0 < len(world.replies[0]) < len(LONG)
    assert world.replies[1] == "You said stop what about the third one and that is all."
    assert world.heard == world.recorded


def test_B7_audio_that_was_made_long_ago_is_still_cleared():
    world = World(lambda request: tokens(LONG) if last(request) == "tell me all" else echo(request))
    world.says(1.0, "tell me all")
    world.run(7.0)  # all of it is made and sent by now
    world.says(7.5, "no wait")
    world.run()
    assert len(world.actions(CancelSpeech)) == 1
    assert world.heard == world.recorded


def test_C1_after_interruptions_each_answer_is_of_its_own_turn():
    world = World(echo)
    world.first_token_s = 1.0
    world.says(1.0, "question one")
    world.says(2.2, "wait question two")
    world.says(12.0, "question three")
    world.run()
    assert world.replies == [
        "You said question one wait question two and that is all.",
        "You said question three and that is all.",
    ]


def test_B11_a_turn_that_goes_on_before_its_answer_is_heard_gets_one_answer_to_all_of_it():
    world = World(echo)
    world.says(1.0, "I want to go", eager=False)
    world.says(2.7, "to Berlin tomorrow", eager=False, pace_s=0.1)
    world.run()
    assert world.users == ["I want to go to Berlin tomorrow"]
    assert world.heard == "You said I want to go to Berlin tomorrow and that is all."


def test_a_false_interruption_is_resumed_where_it_was_heard():
    world = World(recite)
    world.says(1.0, "tell me all")
    world.at(5.0, TurnStarted(0))
    world.at(8.0, TurnEnded("", 0, "timeout"))
    world.run()
    assert len(world.actions(CancelSpeech)) == 1
    assert world.heard == world.recorded == LONG
    assert "interruption.false" in world.kinds()


def test_a_false_interruption_while_the_brain_still_writes():
    def slow(request: BrainRequest) -> list[BrainEvent]:
        return tokens(" ".join(f"word{i}" for i in range(300)) + ".")

    world = World(slow)
    world.says(1.0, "tell me all")
    world.at(3.0, TurnStarted(0))
    world.at(5.5, TurnEnded("", 0, "timeout"))
    world.run(400)
    assert len(world.actions(CancelBrain)) == 1
    assert world.heard == " ".join(f"word{i}" for i in range(300)) + "."


def test_the_agent_pauses_at_once_and_goes_on_after_a_listeners_word():
    world = World(recite, ConversationSettings(pause_after_s=0.2))
    world.says(1.0, "tell me all")
    world.says(5.0, "mhm", pace_s=0.6)
    world.run()
    assert [at_s for at_s, _ in world.actions(PauseSpeech)] == [pytest.approx(5.2)]
    assert [at_s for at_s, _ in world.actions(ContinueSpeech)] == [pytest.approx(5.6)]
    assert not world.actions(CancelSpeech)
    assert world.heard == world.recorded == LONG


def test_the_agent_pauses_at_once_and_stays_silent_when_it_was_an_interruption():
    world = World(
        lambda request: tokens(LONG) if last(request) == "tell me all" else echo(request),
        ConversationSettings(pause_after_s=0.2),
    )
    world.says(1.0, "tell me all")
    world.says(5.0, "stop it", pace_s=0.8)
    world.run()
    assert [at_s for at_s, _ in world.actions(PauseSpeech)] == [pytest.approx(5.2)]
    first = [sound for sound in world.sounds if sound.speech_id == world.actions(CancelSpeech)[0][1].speech_id]
    assert max(sound.end_s for sound in first if sound.heard) <= 5.2
    assert world.heard == world.recorded


def test_B10_a_protected_greeting_plays_out_and_what_was_said_is_answered_after_it():
    phrases = Phrases(greeting="This call may be recorded for your own safety.")
    world = World(echo, ConversationSettings(phrases=phrases, protect_greeting=True))
    world.at(0.0, happens.Begun())
    world.says(0.5, "I need help")
    world.run()
    assert world.heard == f"{phrases.greeting} You said I need help and that is all."
    assert not world.actions(CancelSpeech)


def test_B10_or_it_is_dropped_by_setting():
    phrases = Phrases(greeting="This call may be recorded for your own safety.")
    world = World(echo, ConversationSettings(phrases=phrases, protect_greeting=True, keep_protected=False))
    world.at(0.0, happens.Begun())
    world.says(0.5, "I need help")
    world.run()
    assert world.heard == phrases.greeting


def test_a_read_runs_on_the_guess_and_a_write_waits_for_the_turn():
    def brain(request: BrainRequest) -> list[BrainEvent]:
        results = [message for message in request.messages if message.role == "tool"]
        if not results:
            return [ToolCall("r", "look_up", "{}"), ToolCall("w", "book", "{}"), BrainDone("tool_calls")]
        return tokens("It is booked.")

    world = World(brain)
    world.says(1.0, "book it now", end_s=1.0)
    world.run()
    calls = {action.call.name: at_s for at_s, action in world.actions(CallTool)}
    assert calls["look_up"] < 2.9
    assert calls["book"] == pytest.approx(2.9)
    assert world.heard == "It is booked."
    assert len(world.executed) == 1


def book(request: BrainRequest) -> list[BrainEvent]:
    if request.messages[-1].role == "tool":
        return tokens("I have put that down.")
    day = next(day for day in ("Thursday", "Friday") if day in last(request))
    return asks("book", f'{{"day":"{day}"}}')


def test_a_correction_within_the_turn_books_the_corrected_day_once():
    world = World(book)
    world.hesitates(1.0, "move it to Friday", " no Thursday afternoon", pause_s=3.0)
    world.run()
    assert [what for _, what in world.executed] == ['book {"day":"Thursday"}']
    assert world.heard == "I have put that down."


GRACE = ConversationSettings(tools=ToolSettings(write_grace_s=0.3))


@pytest.mark.parametrize("eager", [True, False])
def test_a_correction_right_after_the_turns_end_is_in_time_too(eager: bool):
    """The user draws breath for longer than the ear waits, and goes on before anything has been done."""
    world = World(book, GRACE)
    end_s = world.says(1.0, "move it to Friday", eager=eager)
    world.says(end_s + 0.25, "no Thursday afternoon", pace_s=0.4)
    world.run()
    assert [what for _, what in world.executed] == ['book {"day":"Thursday"}']
    assert world.users == ["move it to Friday no Thursday afternoon"]
    assert world.heard == "I have put that down."


def test_a_cough_right_after_the_turns_end_only_delays_a_write():
    world = World(book, GRACE)
    end_s = world.says(1.0, "move it to Friday")
    world.at(end_s + 0.2, TurnStarted(0))
    world.at(end_s + 1.0, TurnEnded("", 0, "timeout"))
    world.run()
    assert [what for _, what in world.executed] == ['book {"day":"Friday"}']
    assert world.actions(CallTool)[0][0] >= end_s + 1.0
    assert world.heard == "I have put that down."


@pytest.mark.parametrize("event", [happens.Closed(), happens.ClientLost()])
def test_who_leaves_right_after_asking_gets_what_was_asked_for(event: happens.ConversationEvent):
    world = World(book, GRACE)
    end_s = world.says(1.0, "move it to Friday")
    world.at(end_s + 0.1, event)
    world.run()
    assert [what for _, what in world.executed] == ['book {"day":"Friday"}']


def test_X1_a_finished_write_is_known_and_not_done_again_after_an_interruption():
    world = World(book)
    world.tool_s = 0.1
    world.says(1.0, "book Friday", eager=False)
    world.says(2.35, "are you there still Friday", eager=False, pace_s=0.1)
    world.run()
    assert len(world.executed) == 1
    requests = [action.request for _, action in world.actions(StartBrain)]
    assert all(well_formed(request.messages) for request in requests)
    assert any(message.content == '{"ok":true}' for message in requests[-1].messages if message.role == "tool")


def test_X3_a_call_cut_off_by_the_user_has_a_result_all_the_same():
    world = World(lambda request: asks("look_up") if last(request) == "where is it" else echo(request))
    world.tool_s = 20.0
    world.says(1.0, "where is it")
    world.says(4.0, "never mind tell me a joke")
    world.run()
    assert len(world.actions(CancelTool)) == 1
    final = world.actions(StartBrain)[-1][1].request
    assert well_formed(final.messages)
    assert any("cancelled" in message.content for message in final.messages if message.role == "tool")


def test_X5_while_a_write_runs_no_answer_is_invented():
    world = World(book)
    world.tool_s = 4.0
    world.says(1.0, "book Friday please")
    world.says(4.0, "are you sure about Friday", eager=True)
    world.run()
    done_s = next(at_s for at_s, action in world.actions(CallTool)) + 4.0
    asked = [at_s for at_s, _ in world.actions(StartBrain)]
    assert not [at_s for at_s in asked if 3.0 < at_s < done_s]
    assert asked[-1] >= done_s
    assert len(world.executed) == 1


def test_X5_ok_during_a_slow_tool_is_no_turn_and_the_wait_is_filled():
    world = World(book)
    world.tool_s = 3.0
    world.says(1.0, "book Friday please")
    world.says(2.9, "ok")
    world.run()
    assert world.heard == "One moment, please. I have put that down."
    assert world.users == ["book Friday please"]
    assert len(world.executed) == 1


def test_a_tool_that_never_answers_is_given_up():
    world = World(lambda request: tokens("No luck.") if request.messages[-1].role != "user" else asks("look_up"))
    world.tool_s = float("inf")
    world.says(1.0, "where is it")
    world.run()
    assert world.heard.endswith("No luck.")
    assert not any(run.open for run in world.conversation.desk.runs.values())
    assert cause(world.conversation.ledger.entries(1)) == "tool"


def test_a_brain_that_breaks_off_is_asked_to_go_on_and_nothing_is_said_twice():
    world = World(recite)
    failed: list[str] = []

    def once(request_id: str, index: int) -> str:
        if index == 12 and not failed:
            failed.append(request_id)
            return "connection reset"
        return ""

    world.brain_fault = once
    world.says(1.0, "tell me all")
    world.run()
    assert failed
    assert world.heard == world.recorded == LONG
    assert cause(world.conversation.ledger.entries(1)) == "llm"


def test_a_brain_that_stays_mute_ends_in_an_apology_not_in_silence():
    world = World(recite)
    world.brain_fault = lambda request_id, index: "mute"
    world.says(1.0, "tell me all")
    world.run()
    assert world.heard == Phrases().apology
    assert cause(world.conversation.ledger.entries(1)) == "llm"


def test_a_voice_that_dies_is_replaced_behind_the_last_heard_word():
    world = World(recite)
    world.voice_fault = lambda speech_id, index: "out of memory" if index == 9 and speech_id.endswith("-3") else ""
    world.says(1.0, "tell me all")
    world.run()
    assert "voice.failed" in world.kinds()
    assert world.heard == world.recorded == LONG
    assert cause(world.conversation.ledger.entries(1)) == "tts"


def test_a_voice_that_is_mute_is_noticed():
    world = World(recite)
    world.voice_fault = lambda speech_id, index: "mute" if index == 9 and speech_id.endswith("-3") else ""
    world.says(1.0, "tell me all")
    world.run()
    assert world.heard == world.recorded == LONG


def test_a_voice_that_is_dead_for_good_ends_the_reply_or_hands_over():
    for setting, kind in ((False, StartBrain), (True, Handover)):
        world = World(recite, ConversationSettings(handover_on_failure=setting))
        world.voice_fault = lambda speech_id, index: "dead"
        world.says(1.0, "tell me all")
        world.run()
        assert world.heard == world.recorded == ""
        assert isinstance(world.actions(kind)[-1][1], kind)
        assert world.conversation.deadline_s is None or not setting


def test_a_client_that_comes_back_hears_the_rest_and_no_second_greeting():
    world = World(recite, ConversationSettings(phrases=Phrases(greeting="Welcome here.")))
    world.at(0.0, happens.Begun())
    world.says(2.0, "tell me all")
    world.lose_client(6.0, 12.0)
    world.run()
    assert world.heard == world.recorded == f"Welcome here. {LONG}"


def test_a_client_that_stays_away_ends_the_conversation():
    world = World(recite)
    world.says(1.0, "tell me all")
    world.lose_client(4.0, None)
    world.run()
    assert [at_s for at_s, _ in world.actions(EndConversation)] == [34.0]
    assert world.heard == world.recorded


def test_an_idle_user_is_asked_twice_and_then_left():
    world = World(echo, ConversationSettings(idle_s=10.0))
    world.at(0.0, happens.Begun())
    world.run()
    assert world.heard == "Are you still there? Are you still there?"
    assert len(world.actions(EndConversation)) == 1


def test_a_turn_without_end_is_answered_and_its_rest_is_not_answered_twice():
    world = World(echo, ConversationSettings(max_turn_s=10.0))
    world.at(1.0, TurnStarted(0))
    for i in range(1, 12):
        world.at(1.0 + i, TurnUpdated(" ".join(f"w{n}" for n in range(i)), 0))
    world.at(13.0, TurnEnded(" ".join(f"w{n}" for n in range(11)), 0, "model"))
    world.run()
    assert world.users[0] == " ".join(f"w{n}" for n in range(10))
    assert world.users[1:] == ["w10"]
    assert cause(world.conversation.ledger.entries(1)) == "turn"


def test_keys_are_gathered_into_one_turn():
    world = World(echo)
    for i, digit in enumerate("421"):
        world.at(1.0 + i, happens.DtmfPressed(digit))
    world.run()
    assert world.users == ["[keypad] 421"]


def test_a_handover_says_so_and_then_stops():
    world = World(lambda request: asks("handover", '{"reason":"angry"}'))
    world.says(1.0, "I want a person")
    world.says(20.0, "hello")
    world.run()
    ((_, handover),) = world.actions(Handover)
    assert world.heard == Phrases().handover
    assert "angry" in handover.reason
    assert well_formed(handover.transcript)
    assert handover.ledger
    assert len(world.actions(StartBrain)) == 1


def test_an_ear_that_dies_in_the_middle_of_a_turn_does_not_lose_it():
    world = World(echo)
    world.at(1.0, TurnStarted(0))
    world.at(2.0, TurnUpdated("send it back", 0))
    world.at(2.5, happens.EarFailed("gone"))
    world.run()
    assert world.heard == "You said send it back and that is all."
    assert cause(world.conversation.ledger.entries(1)) == "stt"


@pytest.mark.parametrize(("feed", "pieces"), [("tokens", 30), ("sentences", 4), ("reply", 1)])
def test_text_is_fed_by_setting(feed, pieces):
    world = World(recite, ConversationSettings(reply=ReplySettings(feed=feed)))
    world.says(1.0, "tell me all")
    world.run()
    assert world.heard == LONG
    spoken = [action.text for _, action in world.actions(Speak)]
    assert "".join(spoken) == LONG
    assert len(spoken) == pieces or (feed == "tokens" and len(spoken) > 30)
    assert len(world.actions(FlushSpeech)) == 1


def test_a_client_that_stops_reporting_does_not_hold_the_line_for_ever():
    world = World(recite, reports=True)
    world.says(1.0, "tell me all")
    world.at(6.0, lambda: setattr(world, "client_here", False))
    world.run()
    assert "answer.finished" in world.kinds()
    assert LONG.startswith(world.recorded)
    assert len(world.recorded) < len(LONG)
    assert cause(world.conversation.ledger.entries(1)) == "client_playback"


def test_the_clients_own_word_for_where_it_stopped_counts():
    world = World(lambda request: tokens(LONG) if last(request) == "tell me all" else echo(request))
    world.says(1.0, "tell me all")
    world.says(6.0, "stop that")
    world.run(6.4)
    ((_, cancel),) = world.actions(CancelSpeech)
    third = [sound for sound in world.sounds if sound.speech_id == cancel.speech_id][2]
    world.at(6.5, happens.Truncated(cancel.speech_id, third.end_sample))
    world.run()
    assert world.replies[0] == "The first order"


def test_tools_without_end_end():
    world = World(lambda request: asks("look_up", text=""))
    world.says(1.0, "where is it")
    world.run()
    assert world.heard.endswith(Phrases().apology)


def test_a_brain_that_says_nothing_is_asked_again():
    answers = [[BrainDone()], tokens("Here I am.")]
    world = World(lambda request: answers.pop(0))
    world.says(1.0, "hello there", eager=False)
    world.run()
    assert world.heard == "Here I am."


def test_text_before_and_after_a_tool_is_one_reply():
    def brain(request: BrainRequest) -> list[BrainEvent]:
        if request.messages[-1].role == "tool":
            return tokens("It left on Monday.")
        return [TextDelta("Let me look."), ToolCall("a", "look_up", "{}"), BrainDone("tool_calls")]

    world = World(brain)
    world.says(1.0, "where is it")
    world.run()
    assert world.heard == world.recorded == "Let me look. It left on Monday."


def test_a_filler_stands_before_the_calls_it_was_said_for():
    def brain(request: BrainRequest) -> list[BrainEvent]:
        if request.messages[-1].role == "tool":
            return tokens("It left on Monday.")
        return asks("look_up", text="Let me see.")

    world = World(brain)
    world.results["look_up"] = (4.0, "sent", True)
    world.says(1.0, "where is my order")
    world.run()
    assert world.heard == "Let me see. One moment, please. It left on Monday."
    _, (_, second) = world.actions(StartBrain)
    assert [message.role for message in second.request.messages] == ["user", "assistant", "tool"]
    assert second.request.messages[1].content == "Let me see. One moment, please."
    assert well_formed(second.request.messages)


def test_a_brain_is_not_told_of_a_filler_that_was_said_before_it_was_asked():
    world = World(lambda request: asks("book") if "book" in last(request) else tokens("Sure."))
    world.results["book"] = (9.0, "booked", True)
    ended_s = world.says(1.0, "book it")
    world.says(ended_s + 0.3, "and one more thing")
    world.run()
    assert "One moment, please." in world.heard
    (_, request) = world.actions(StartBrain)[-1]
    assert request.request.messages[-1].role in ("user", "tool")


def test_what_the_user_writes_is_a_turn_and_stops_the_agent():
    world = World(lambda request: tokens(LONG) if "long" in last(request) else tokens("Fine."))
    world.at(1.0, happens.Written("a long one"))
    world.at(3.0, happens.Written("enough"))
    world.run()
    assert world.users == ["a long one", "enough"]
    assert world.heard.endswith("Fine.")
    assert len(world.actions(CancelSpeech)) == 1


def test_the_user_may_have_silence():
    world = World(recite)
    world.at(1.0, happens.Written("go on"))
    world.at(1.15, happens.Silenced())
    world.run()
    assert world.users == ["go on"]
    assert world.heard == world.recorded == ""
    world.at(world.now_s, happens.Written("again"))
    world.at(world.now_s + 3.0, happens.Silenced())
    world.run(world.now_s + 20.0)
    assert world.recorded == world.heard
    assert LONG.startswith(world.heard)
    assert world.heard


def test_the_end_of_a_speech_is_told_once():
    world = World(echo)
    world.says(1.0, "hello")
    world.run()
    kinds = [type(action) for _, action in world.log]
    assert kinds.count(FinishSpeech) == 1
    assert kinds.index(FinishSpeech) > kinds.index(FlushSpeech)


def test_replies_that_may_not_be_interrupted():
    world = World(recite, ConversationSettings(protect_replies=True))
    asked_s = world.says(1.0, "tell me")
    world.says(asked_s + 1.0, "stop")
    world.run()
    assert not world.actions(CancelSpeech)
    assert world.heard == f"{LONG} {LONG}"
