"""The scripted caller speaks when a caller would."""

from antiphon.bench.conversation_director import PATIENCE_S, Director, Heard
from antiphon.bench.scenario import Answer, Kind, Scenario, Step

SILENT = Heard(quiet_since_s=0.0, began_s=None)


def director(*kinds: Kind, greeting: str = "", leaves_after_s: float | None = None, into_s: float = 2.0) -> Director:
    steps = tuple(Step(say=("x",), kind=kind, wait_s=1.0, into_s=into_s) for kind in kinds)
    scenario = Scenario(1, "s", "", steps, (Answer(),), greeting, leaves_after_s=leaves_after_s)
    return Director(scenario, 0.0)


def test_the_first_line_comes_soon_and_the_next_when_the_answer_is_over() -> None:
    it = director("turn", "turn")
    assert it.next_line(0.1, SILENT) is None
    assert it.next_line(0.5, SILENT) == 0
    it.spoken(0, 2.0)
    assert it.next_line(1.9, SILENT) is None  # it speaks itself
    assert it.next_line(2.5, SILENT) is None  # it waits for an answer
    assert it.next_line(4.0, Heard(None, 3.0)) is None
    assert it.next_line(5.9, Heard(5.0, 3.0)) is None
    assert it.next_line(6.0, Heard(5.0, 3.0)) == 1


def test_a_greeting_is_listened_to() -> None:
    it = director("turn", greeting="Hello.")
    assert it.next_line(1.0, SILENT) is None
    assert it.next_line(2.0, Heard(None, 0.2)) is None
    assert it.next_line(3.5, Heard(2.5, 0.2)) == 0


def test_nobody_waits_for_ever() -> None:
    it = director("turn", "turn")
    it.next_line(0.5, SILENT)
    it.spoken(0, 1.0)
    assert it.next_line(1.0 + PATIENCE_S - 0.1, SILENT) is None
    assert it.next_line(1.0 + PATIENCE_S, SILENT) == 1


def test_lines_over_the_agent_come_into_its_speech() -> None:
    it = director("turn", "backchannel", "interruption")
    it.next_line(0.5, SILENT)
    it.spoken(0, 1.0)
    assert it.next_line(3.4, Heard(None, 1.5)) is None
    assert it.next_line(3.5, Heard(None, 1.5, sounding=False)) is None  # in a hole nothing can be interrupted
    assert it.next_line(3.6, Heard(None, 1.5)) == 1
    it.spoken(1, 4.0)
    assert it.next_line(4.1, Heard(None, 1.5)) == 2
    assert it.said == ["said", "said", "said"]


def test_an_interruption_is_missed_when_the_agent_stops_before() -> None:
    it = director("turn", "interruption", "turn", into_s=5.0)
    it.next_line(0.5, SILENT)
    it.spoken(0, 1.0)
    assert it.next_line(2.0, Heard(None, 1.5)) is None
    assert it.next_line(4.0, Heard(3.0, 1.5)) == 2
    assert it.said == ["said", "missed", "said"]


def test_the_call_is_over_when_the_last_answer_is() -> None:
    it = director("turn")
    it.next_line(0.5, SILENT)
    it.spoken(0, 1.0)
    assert not it.is_over(0.9, SILENT)
    assert not it.is_over(3.0, SILENT)
    assert not it.is_over(3.0, Heard(None, 1.5))
    assert it.is_over(4.0, Heard(3.0, 1.5))


def test_a_caller_may_hang_up() -> None:
    it = director("turn", leaves_after_s=2.0)
    it.next_line(0.5, SILENT)
    it.spoken(0, 1.0)
    assert not it.is_over(2.9, Heard(None, 1.5))
    assert it.is_over(3.0, Heard(None, 1.5))
