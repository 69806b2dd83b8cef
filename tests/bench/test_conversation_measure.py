"""What is planted in two channels is measured exactly: waits, interruptions, stages, outcomes, causes."""

import pytest

from antiphon.bench.conversation_measure import Outcome, Turn, measure_call
from antiphon.bench.scenario import Answer, Call, Kind, Scenario, Step, Tool
from antiphon.client.events import Heard, ToolRan
from antiphon.protocol import native_messages as wire

from .planted_call import BEGIN_S, RATE_HZ, Planted, tone

WINDOW_S = 0.010001


def scenario(*kinds: Kind, expects: str = "", calls: tuple[Call, ...] = (), corrected: bool = False) -> Scenario:
    return Scenario(
        version=1,
        name="planted",
        about="",
        steps=tuple(Step(say=("Where is it?",), kind=kind, expects=expects) for kind in kinds),
        answers=(Answer(say="There."),),
        tools=(Tool("book", "write", "{}"), Tool("find", "read", "{}")),
        calls=calls,
        corrected=corrected,
    )


def only(outcome: Outcome) -> Turn:
    (turn,) = outcome.turns
    return turn


@pytest.mark.parametrize("delay_s", [0.0, 0.21, 0.6, 1.4])
@pytest.mark.parametrize("silent_s", [0.0, 0.25])
def test_voice_to_voice_is_what_was_planted(delay_s: float, silent_s: float) -> None:
    """The silence in front of the first word counts, wherever it is: the listener waits for it."""
    planted = Planted(scenario("turn"))
    planted.line(1.0, 1.5)
    planted.turn_ends(2.6, "where is it")
    planted.reply("r1", 2.5 + delay_s, 1.0, silent_s)
    turn = only(measure_call(planted.call()))
    assert turn.v2v_s == pytest.approx(delay_s + silent_s, abs=WINDOW_S)
    assert not turn.cut_off


def test_quiet_around_the_callers_words_is_not_speech() -> None:
    planted = Planted(scenario("turn"))
    planted.line(1.0, 1.0, silent_s=0.4, tail_s=0.6)
    planted.turn_ends(2.6, "where is it")
    planted.reply("r1", 3.0, 1.0)
    assert only(measure_call(planted.call())).v2v_s == pytest.approx(0.6, abs=WINDOW_S)


def test_an_agent_that_speaks_too_early_has_no_time_and_is_a_cut_off() -> None:
    planted = Planted(scenario("turn"))
    planted.line(1.0, 2.0)
    planted.turn_ends(1.8, "where is")
    planted.reply("r1", 2.0, 1.0)
    turn = only(measure_call(planted.call()))
    assert (turn.v2v_s, turn.cut_off, turn.cause) == (None, True, "turn")


def test_a_write_before_the_caller_had_ended_is_a_cut_off_too() -> None:
    planted = Planted(scenario("turn"))
    planted.line(1.0, 2.0)
    planted.turn_ends(1.8, "where is")
    planted.note(1.9, ToolRan("c1", "book", "{}", "{}", True))
    planted.reply("r1", 3.4, 1.0)
    turn = only(measure_call(planted.call()))
    assert turn.cut_off
    assert turn.v2v_s == pytest.approx(0.4, abs=WINDOW_S)


def test_no_answer_is_named_after_what_is_missing() -> None:
    silent = Planted(scenario("turn"))
    silent.line(1.0, 1.0)
    assert (only(measure_call(silent.call())).cause) == "stt"
    understood = Planted(scenario("turn"))
    understood.line(1.0, 1.0)
    understood.turn_ends(2.3, "where is it")
    turn = only(measure_call(understood.call()))
    assert (turn.v2v_s, turn.cause) == (None, "llm")


@pytest.mark.parametrize("yield_s", [0.08, 0.25, 0.9])
def test_barge_in_to_silence(yield_s: float) -> None:
    planted = Planted(scenario("turn", "interruption"))
    planted.line(1.0, 1.0)
    planted.turn_ends(2.2, "where is it")
    planted.reply("r1", 2.5, 2.5 + yield_s)
    planted.line(5.0, 1.2)
    planted.note(5.0 + yield_s - 0.04, wire.Clear(reply_id="r1", fade_ms=40))
    planted.turn_ends(6.4, "where is it")
    planted.reply("r2", 6.7, 1.0)
    turn = measure_call(planted.call()).turns[1]
    assert turn.stopped
    assert turn.barge_in_s == pytest.approx(yield_s, abs=WINDOW_S)
    assert turn.v2v_s == pytest.approx(0.5, abs=WINDOW_S)
    assert turn.cause == (None if yield_s <= 0.26 else "turn")


def test_pauses_between_words_are_no_silence() -> None:
    planted = Planted(scenario("turn", "interruption"))
    planted.line(1.0, 1.0)
    planted.turn_ends(2.2, "where is it")
    planted.reply("r1", 2.5, 2.3)  # until 4.8
    planted.sound("r1", 5.1, tone(0.5, RATE_HZ), first=round(2.3 * RATE_HZ))  # a pause of 0.3 s, then it goes on to 5.6
    planted.line(4.9, 1.2)
    planted.note(5.56, wire.Clear(reply_id="r1", fade_ms=40))
    planted.reply("r2", 6.6, 1.0)
    assert measure_call(planted.call()).turns[1].barge_in_s == pytest.approx(0.7, abs=WINDOW_S)


def test_an_interruption_that_does_not_stop_the_agent() -> None:
    planted = Planted(scenario("turn", "interruption"))
    planted.line(1.0, 1.0)
    planted.reply("r1", 2.5, 6.0)
    planted.line(5.0, 1.0)
    turn = measure_call(planted.call()).turns[1]
    assert (turn.stopped, turn.barge_in_s, turn.cause) == (False, None, "turn")


def test_a_backchannel_may_leave_a_hole_but_not_stop_the_reply() -> None:
    planted = Planted(scenario("turn", "backchannel", "backchannel"))
    planted.line(1.0, 1.0)
    planted.reply("r1", 2.5, 2.7)  # until 5.2
    planted.line(5.0, 0.4)
    planted.sound("r1", 5.9, tone(6.0, RATE_HZ), first=round(2.7 * RATE_HZ))
    planted.line(10.0, 0.4)
    planted.note(10.5, wire.Clear(reply_id="r1", fade_ms=40))
    first, second = measure_call(planted.call()).turns[1:]
    assert (first.stopped, first.cause) == (False, None)
    assert first.hole_s == pytest.approx(0.7, abs=WINDOW_S)
    assert (second.stopped, second.cause) == (True, "turn")


def staged(heard_s: float = 3.5) -> Planted:
    planted = Planted(scenario("turn"))
    planted.line(1.0, 1.0)  # ends at 2.0
    planted.note(1.7, wire.UserUpdate(transcript="where"))
    planted.note(2.25, wire.UserUpdate(transcript="Where is it"))
    planted.note(2.3, wire.UserEagerEnd(transcript="Where is it?"))
    planted.thinks(2.31, 2.41, tool=True)
    planted.turn_ends(2.6, "Where is it?")
    planted.note(2.75, ToolRan("c1", "find", "{}", "{}", True))
    planted.thinks(2.76, 2.9)
    planted.reply("r1", heard_s - 0.5, 1.0, 0.5, late_s=0.1)
    return planted


def test_stages_are_what_was_planted_and_add_up() -> None:
    turn = only(measure_call(staged().call()))
    assert turn.stages is not None
    assert turn.stages.seconds == {
        "final": pytest.approx(0.25, abs=WINDOW_S),
        "turn end": pytest.approx(0.35),
        "model": 0.0,  # it had been asked on a guess
        "tool": pytest.approx(0.15),
        "model again": pytest.approx(0.15),
        "first byte": pytest.approx(0.0, abs=1e-6),  # with the token
        "audible": pytest.approx(0.5),
        "heard": pytest.approx(0.1),
    }
    assert turn.stages.total_s == pytest.approx(1.5, abs=WINDOW_S)
    assert turn.stage_error_s == pytest.approx(0.0, abs=WINDOW_S)
    assert turn.stages.missing == ()


def test_the_cause_is_the_stage_that_is_furthest_beyond_its_budget() -> None:
    turn = only(measure_call(staged().call()))
    assert (turn.cause, turn.why) == ("tts", "audible took 0.50 s")


def test_without_the_models_log_its_time_is_in_the_next_stage() -> None:
    planted = staged()
    planted.thoughts.clear()
    turn = only(measure_call(planted.call()))
    assert turn.stages is not None
    assert turn.stages.missing == ("model",)
    assert turn.stages.seconds["first byte"] == pytest.approx(0.3)
    assert turn.stage_error_s == pytest.approx(0.0, abs=WINDOW_S)


def test_stamps_that_do_not_fit_the_recording_are_found() -> None:
    planted = staged()
    planted.pieces[0].start_s += 0.0
    call = planted.call()
    call.pieces[0].start_s += 0.05  # the recording was made before; the stamps say something else now
    turn = only(measure_call(call))
    assert turn.stage_error_s == pytest.approx(0.05, abs=WINDOW_S)


def answered(transcript: str, reply: str) -> Turn:
    planted = Planted(scenario("turn", expects="ready"))
    planted.line(1.0, 1.0)
    planted.turn_ends(2.2, transcript)
    planted.reply("r1", 2.4, 1.0, text=reply)
    return only(measure_call(planted.call()))


def test_answers_are_held_against_what_was_expected() -> None:
    right = answered("where is it", "It is Ready.")
    assert (right.met, right.cause, right.transcript, right.reply) == (True, None, "where is it", "It is Ready.")
    misheard = answered("wear a sit", "What?")
    assert (misheard.met, misheard.cause, misheard.why) == (False, "stt", "understood 'wear a sit'")
    wrong = answered("Where is it?", "What?")
    assert (wrong.met, wrong.cause) == (False, "llm")


def test_actions_are_counted_exactly() -> None:
    def outcome(*days: str) -> Outcome:
        wanted = (Call("book", {"day": "thursday"}),)
        planted = Planted(scenario("turn", calls=wanted, corrected=True))
        planted.line(1.0, 1.0)
        planted.turn_ends(2.2, "where is it")
        for number, day in enumerate(days):
            planted.note(2.3, ToolRan(f"c{number}", "book", f'{{"day": "{day}"}}', "{}", True))
        planted.note(2.3, ToolRan("c9", "find", "{}", "{}", True))  # a read is no action
        planted.reply("r1", 2.4, 1.0)
        return measure_call(planted.call())

    right = outcome("thursday")
    assert (right.success, right.wrong_actions, right.missing_actions, right.corrected) == (True, 0, 0, True)
    twice = outcome("tuesday", "thursday")
    assert (twice.success, twice.wrong_actions, twice.missing_actions, twice.corrected) == (False, 1, 0, False)
    again = outcome("thursday", "thursday")
    assert (again.success, again.wrong_actions) == (False, 1)
    none = outcome()
    assert (none.success, none.missing_actions, none.corrected) == (False, 1, False)


def test_repeated_sentences_underruns_and_missed_lines() -> None:
    planted = Planted(scenario("turn", "interruption"))
    planted.line(1.0, 1.0)
    planted.turn_ends(2.2, "where is it")
    planted.reply("r1", 2.4, 1.0, text="We take the wheel off. It is done. We take the wheel off. It is done.")
    planted.note(3.0, Heard("r1", 100, 1, False))
    planted.note(4.0, Heard("r1", 24_000, 3, True))
    planted.missed()
    outcome = measure_call(planted.call())
    assert (outcome.repeated, outcome.underruns, outcome.success) == (1, 3, False)
    assert outcome.turns[1].said == "missed"


def test_the_recording_is_as_long_as_the_call_and_starts_with_it() -> None:
    planted = Planted(scenario("turn"), length_s=4.0)
    planted.line(1.0, 1.0)
    planted.reply("r1", 3.5, 1.0)  # goes on beyond the end
    recording = planted.call().recording
    assert recording.length_s == 4.0
    assert recording.sample(BEGIN_S + 1.5) == round(1.5 * RATE_HZ)
    assert recording.agent[: round(3.49 * RATE_HZ)].max() == 0.0
    assert recording.agent[round(3.51 * RATE_HZ) :].max() > 0.2
