from collections.abc import Callable
from itertools import pairwise

import pytest

from antiphon.core.brain import BrainRequest
from antiphon.core.hearing import EAR_RATE_HZ, Heard, SpeechStopped
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import EarSaid
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.ledger import Entry
from antiphon.dialog.turn_record import TurnRecord
from antiphon.dialog.turn_records import TurnRecords

from .logged_world import LEAD_SAMPLES, LoggedWorld
from .talking import asks, tokens
from .world import RATE_HZ

ANSWER = "It is on its way to you and comes tomorrow."


def answer(request: BrainRequest) -> list[object]:
    return tokens(ANSWER)  # type: ignore[return-value]


def looks_up(request: BrainRequest) -> list[object]:
    told = any(message.role == "tool" for message in request.messages)
    return tokens("It comes tomorrow.") if told else asks("look_up", '{"order":"12"}')  # type: ignore[return-value]


def run(
    script: Callable[[LoggedWorld], object], brain: Callable[..., list[object]] = answer, reports: bool = False
) -> list[TurnRecord]:
    world = LoggedWorld(brain, ConversationSettings(), reports=reports).listen(TurnRecords())  # type: ignore[arg-type]
    script(world)
    world.run()
    return world.finish()


def checked(record: TurnRecord) -> TurnRecord:
    """Whatever happened: stages without gaps, from the end of speech to the first sound."""
    stages, times = record.stages, record.times
    assert all(one.end_s == other.begin_s for one, other in pairwise(stages))
    if record.outcome in ("answered", "interrupted") and stages:
        assert (stages[0].begin_s, stages[-1].end_s) == (times.speech_end_s, times.heard_s)
        assert sum(stage.seconds for stage in stages) == pytest.approx(record.silence_s)
    return record


@pytest.mark.parametrize("reports", [False, True])
def test_the_silence_is_that_between_the_users_last_and_the_agents_first_sound(reports: bool) -> None:
    (record,) = run(lambda world: world.says(1.0, "where is my order"), reports=reports)
    checked(record)
    assert record.outcome == "answered"
    assert record.cause is None
    assert record.times.speech_end_s == pytest.approx(2.2)  # four words of 0.3 s from 1.0 on
    assert record.times.final_s == pytest.approx(2.4)
    assert record.times.turn_end_s == pytest.approx(2.6)
    world = LoggedWorld(answer, reports=reports).listen(TurnRecords())  # type: ignore[arg-type]
    world.says(1.0, "where is my order")
    world.run()
    sounded_s = world.sounds[0].begin_s + LEAD_SAMPLES / RATE_HZ
    assert record.times.heard_s == pytest.approx(sounded_s, abs=1e-6)
    assert record.silence_s == pytest.approx(sounded_s - 2.2, abs=1e-6)
    assert record.clock is not reports
    assert (record.user_text, record.reply_text, record.heard_text) == ("where is my order", ANSWER, ANSWER)


def test_a_guess_that_was_right_and_one_that_was_wrong() -> None:
    (right,) = run(lambda world: world.says(1.0, "where is my order"))
    assert (right.speculation, right.guesses) == ("right", 1)
    assert right.times.llm_first_s is not None
    assert right.times.turn_end_s is not None
    assert right.times.llm_first_s < right.times.turn_end_s
    (none,) = run(lambda world: world.says(1.0, "where is my order", eager=False))
    assert none.speculation == "none"
    assert none.silence_s is not None
    assert right.silence_s is not None
    assert right.silence_s < none.silence_s
    (again,) = run(lambda world: world.hesitates(1.0, "where is", " my order"))
    assert (again.speculation, again.guesses) == ("right", 2)
    assert again.reply_text == ANSWER


def test_a_slow_brain_is_the_cause() -> None:
    def script(world: LoggedWorld) -> None:
        world.first_token_s = 3.0
        world.says(1.0, "where is my order", eager=False)

    (record,) = run(script)
    assert checked(record).cause == "llm"
    assert {stage.name: round(stage.seconds, 3) for stage in record.stages}["llm"] == 3.0


@pytest.mark.parametrize(("ok", "seconds", "state", "cause"), [
    (True, 0.3, "done", None), (False, 0.3, "failed", "tool"), (True, 4.0, "done", "tool"),
    (True, float("inf"), "timed_out", "tool"),
])  # fmt: skip
def test_tools_are_recorded_with_how_they_ended(ok: bool, seconds: float, state: str, cause: str | None) -> None:
    def script(world: LoggedWorld) -> None:
        world.results["look_up"] = (seconds, '{"status":"sent"}', ok)
        world.says(1.0, "where is my order")

    (record,) = run(script, looks_up)
    checked(record)
    (tool,) = record.tools
    assert (tool.name, tool.effect, tool.arguments, tool.state) == ("look_up", "read", '{"order":"12"}', state)
    assert record.cause == cause
    if state != "timed_out":
        assert tool.content == '{"status":"sent"}'


def test_an_interruption_keeps_what_was_heard() -> None:
    def script(world: LoggedWorld) -> None:
        world.says(1.0, "where is my order")
        world.says(4.0, "no stop that please")

    first, second = run(script)
    assert checked(first).outcome == "interrupted"
    assert ANSWER.startswith(first.heard_text)
    assert 0 < len(first.heard_text) < len(ANSWER)
    assert first.interrupted
    assert checked(second).outcome == "answered"


def test_a_listeners_word_is_no_turn_and_does_not_end_the_record_before() -> None:
    def script(world: LoggedWorld) -> None:
        world.says(1.0, "where is my order")
        world.says(3.5, "mhm")

    ignored, first = run(script)
    assert (ignored.turn, ignored.outcome, ignored.cause) == (2, "ignored", None)
    assert (first.turn, first.outcome, first.ended_by) == (1, "answered", "answer.finished")
    assert first.heard_text == ANSWER


def test_a_voice_that_died_is_the_cause_and_no_word_is_told_twice() -> None:
    def script(world: LoggedWorld) -> None:
        world.voice_fault = lambda speech_id, index: "broke" if speech_id.endswith("-3") and index == 4 else ""
        world.says(1.0, "where is my order", eager=False)

    (record,) = run(script)
    assert checked(record).cause == "tts"
    assert record.heard_text.split() == ANSWER.split()
    assert record.reply_text.split() == ANSWER.split()
    assert len(record.speeches) == 2


def test_the_end_of_the_conversation_ends_the_record() -> None:
    def script(world: LoggedWorld) -> None:
        world.first_token_s = 60.0
        world.says(1.0, "where is my order", eager=False)

    world = LoggedWorld(answer).listen(TurnRecords())  # type: ignore[arg-type]
    script(world)
    world.run(5.0)
    (record,) = world.finish()
    assert (record.outcome, record.cause, record.heard_text) == ("unanswered", "llm", "")


def test_the_same_conversation_gives_the_same_records() -> None:
    def script(world: LoggedWorld) -> None:
        world.says(1.0, "where is my order")
        world.says(4.0, "no stop that please")

    assert run(script, looks_up) == run(script, looks_up)


def fed(loud_end: Callable[[int, int], int | None] | None, jitter_s: float = 0.0) -> TurnRecord:
    """Audio in pieces of 20 ms, which the network delays by 0 to ``jitter_s``; the user stops at 1.0 s, dead right."""
    records = TurnRecords(loud_end=loud_end)
    records.observe(Moment(0.0, 0), TurnStarted(0))
    records.observe(Moment(0.0, 0), Entry(1, 0.0, 0, "turn.started"))
    for index in range(100):
        now_s = 5.0 + (index + 1) * 0.02 + jitter_s * (index % 7) / 6
        records.audio(Moment(now_s, index * 320), 320)
    at = Moment(7.2, 32_000)
    records.observe(at, EarSaid(SpeechStopped(EAR_RATE_HZ - 400)))
    records.observe(at, EarSaid(Heard("yes", 3, True)))
    records.observe(at, TurnEnded("yes", 32_000, "model"))
    records.observe(at, Entry(1, 7.2, 0, "turn.ended", "yes"))
    return records.end(Moment(8.0, 32_000))[0]


def test_media_time_becomes_monotonic_time_by_what_came_least_late() -> None:
    assert fed(lambda start, stop: EAR_RATE_HZ).times.speech_end_s == pytest.approx(6.0)
    assert fed(lambda start, stop: EAR_RATE_HZ, jitter_s=0.08).times.speech_end_s == pytest.approx(6.0)
    assert fed(None).times.speech_end_s == pytest.approx(6.0 - 400 / EAR_RATE_HZ)


def test_a_loud_end_far_from_the_pause_is_not_believed() -> None:
    assert fed(lambda start, stop: 100).times.speech_end_s == pytest.approx(6.0 - 400 / EAR_RATE_HZ)


def test_nothing_grows_over_a_long_conversation() -> None:
    world = LoggedWorld(answer).listen(TurnRecords())  # type: ignore[arg-type]
    for index in range(60):
        world.says(1.0 + index * 8, "where is my order")
    world.run(500.0)
    assert len(world.turns) == 60
    records = world.records
    assert not records._open
    assert not records._calls
    assert len(records._speeches._all) <= 2


def test_the_words_are_known_when_they_last_changed_not_when_a_final_confirms_them() -> None:
    records = TurnRecords()
    records.observe(Moment(0.0, 0), TurnStarted(0))
    records.observe(Moment(0.0, 0), Entry(1, 0.0, 0, "turn.started"))
    for at_s, text, final in ((1.0, "yes", False), (1.3, "Yes, please", False), (2.5, "Yes, please.", True)):
        records.observe(Moment(at_s, 0), EarSaid(Heard(text, len(text), final)))
    records.observe(Moment(2.5, 0), EarSaid(Heard("", 0, False)))
    records.observe(Moment(2.6, 0), Entry(1, 2.6, 0, "turn.ended", "Yes, please."))
    assert records.end(Moment(3.0, 0))[0].times.final_s == 1.3
