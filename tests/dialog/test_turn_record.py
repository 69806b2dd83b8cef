from itertools import pairwise

import pytest

from antiphon.dialog.ledger import Entry
from antiphon.dialog.turn_record import STAGES, Budget, Span, Stage, Times, TurnRecord, cause_of, stages_between

PLAIN = Times(10.0, 10.2, 10.5, 10.8, 10.9, 11.0, 11.02, 11.1)


def spent(stages: tuple[Stage, ...]) -> dict[str, float]:
    out: dict[str, float] = {}
    for stage in stages:
        out[stage.name] = round(out.get(stage.name, 0.0) + stage.seconds, 6)
    return out


def contiguous(stages: tuple[Stage, ...]) -> bool:
    return all(one.end_s == other.begin_s for one, other in pairwise(stages))


def test_stages_follow_each_other_and_sum_to_the_silence() -> None:
    stages = stages_between(PLAIN, [Span(10.5, 10.8)])
    assert contiguous(stages)
    assert (stages[0].begin_s, stages[-1].end_s) == (10.0, 11.1)
    expected = {"final": 0.2, "turn": 0.3, "llm": 0.3, "unit": 0.1, "tts": 0.1, "send": 0.02, "playback": 0.08}
    assert spent(stages) == pytest.approx(expected)


def test_what_was_ready_on_a_right_guess_takes_no_time() -> None:
    times = Times(10.0, 10.2, 10.5, 10.3, 10.35, 10.4, 10.52, 10.6)
    stages = stages_between(times, [Span(10.2, 10.3)])
    assert contiguous(stages)
    assert sum(stage.seconds for stage in stages) == pytest.approx(0.6)
    assert spent(stages) == pytest.approx(
        {"final": 0.2, "turn": 0.3, "unit": 0.0, "tts": 0.0, "send": 0.02, "playback": 0.08}
    )


def test_tools_and_the_brain_share_the_time_until_the_first_words() -> None:
    times = Times(0.0, 0.1, 0.5, 0.7, 2.4, 2.5, 2.5, 2.6)
    stages = stages_between(times, asked=[Span(0.5, 0.7), Span(2.0, 2.3)], ran=[Span(0.8, 2.0)])
    assert contiguous(stages)
    assert [stage.name for stage in stages] == [
        "final", "turn", "llm", "unit", "tool", "llm", "unit", "tts", "send", "playback"
    ]  # fmt: skip
    assert spent(stages)["tool"] == pytest.approx(1.2)
    assert spent(stages)["llm"] == pytest.approx(0.5)
    assert sum(stage.seconds for stage in stages) == pytest.approx(2.6)


def test_without_an_end_of_speech_or_a_sound_there_is_no_silence_to_share() -> None:
    assert stages_between(Times(None, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)) == ()
    assert stages_between(Times(1.0, 1.0, 1.2)) == ()
    record = TurnRecord(1, "unanswered", Times(1.0), (), None)
    assert record.silence_s is None


def test_a_wait_without_an_answer_counts_up_to_where_it_ended() -> None:
    stages = stages_between(Times(0.0, 0.2, 0.4), asked=[Span(0.4, 5.0)], until_s=5.0)
    assert contiguous(stages)
    assert spent(stages)["llm"] == pytest.approx(4.6)
    stages = stages_between(Times(0.0, 0.2, 0.4, 0.5, 0.6), asked=[Span(0.4, 0.5)], until_s=3.0)
    assert spent(stages)["tts"] == pytest.approx(2.4)


@pytest.mark.parametrize(
    ("late", "owner"),
    [
        (Times(0.0, 1.0, 1.2, 1.3, 1.4, 1.5, 1.5, 1.6), "stt"),
        (Times(0.0, 0.1, 1.9, 2.0, 2.1, 2.2, 2.2, 2.3), "turn"),
        (Times(0.0, 0.1, 0.3, 1.9, 2.0, 2.1, 2.1, 2.2), "llm"),
        (Times(0.0, 0.1, 0.3, 0.4, 1.4, 1.5, 1.5, 1.6), "llm"),
        (Times(0.0, 0.1, 0.3, 0.4, 0.5, 1.5, 1.5, 1.6), "tts"),
        (Times(0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1.4, 1.5), "network"),
        (Times(0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 0.6, 1.5), "client_playback"),
    ],
)
def test_the_stage_beyond_its_budget_is_the_cause(late: Times, owner: str) -> None:
    assert late.turn_end_s is not None
    assert late.llm_first_s is not None
    stages = stages_between(late, [Span(late.turn_end_s, late.llm_first_s)])
    assert cause_of((), stages, "answered") == owner


def test_a_good_turn_has_no_cause_and_a_fault_comes_first() -> None:
    stages = stages_between(PLAIN, [Span(10.5, 10.8)])
    assert cause_of((), stages, "answered") is None
    entries = (Entry(1, 1.0, 0, "voice.failed", "", "tts"), Entry(1, 2.0, 0, "playing.underrun", "", "client_playback"))
    assert cause_of(entries, stages, "answered") == "tts"


def test_a_silence_too_long_without_a_single_stage_at_fault_is_the_most_burdened_stages() -> None:
    times = Times(0.0, 0.6, 1.9, 2.4, 2.6, 2.8, 2.8, 2.9)
    stages = stages_between(times, [Span(1.9, 2.4)])
    assert cause_of((), stages, "answered") == "turn"
    assert cause_of((), stages, "answered", Budget(silence=3.0)) is None


def test_an_answer_taken_back_without_a_delay_came_too_early() -> None:
    stages = stages_between(Times(0.0, 0.2, 0.4), [Span(0.4, 0.8)], until_s=0.8)
    assert cause_of((), stages, "taken_back") == "turn"
    stages = stages_between(Times(0.0, 0.2, 0.4), [Span(0.4, 4.0)], until_s=4.0)
    assert cause_of((), stages, "taken_back") == "llm"


def test_a_slow_tool_is_a_cause_even_under_a_filler() -> None:
    stages = stages_between(PLAIN, [Span(10.5, 10.8)])
    assert cause_of((), stages, "answered", ran=[Span(10.5, 14.0)]) == "tool"
    assert cause_of((), stages, "answered", ran=[Span(10.5, 12.0)]) is None


def test_every_stage_has_a_budget() -> None:
    assert all(getattr(Budget(), name) > 0 for name in STAGES)
