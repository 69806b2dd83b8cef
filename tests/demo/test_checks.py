"""The demo says so when the conversation goes wrong, and only then."""

from dataclasses import replace

import pytest
from examples.demo import __main__ as demo
from examples.demo.checks import checks

from .planted_story import MOVED, READ, WRITE, Plan, book


def wrong(plan: Plan) -> set[str]:
    return {check.name for check in checks(plan.story()) if not check.ok}


BOOKED = "order 4711 comes on a Thursday afternoon"
ONCE = "the correction is one change, not two"
UNTOUCHED = "no other order is touched"
REMEMBERED = "the interrupted answer is remembered as far as it was heard"
NOTHING_FOLLOWS = "nothing of a reply that was cut off follows"
MOVE = "'Please move it to Friday, no, Thursday afternoon.' is answered"


def test_a_conversation_that_goes_well_has_nothing_wrong() -> None:
    found = checks(Plan().story())
    assert [check.name for check in found if not check.ok] == []
    assert len(found) == 14
    assert all(check.found for check in found)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Plan(after=book("2026-12-04", "afternoon", changes=1)), {BOOKED}),
        (Plan(after=book("2026-12-03", "", changes=1)), {BOOKED}),
        (Plan(after=book("2026-11-26", "afternoon", changes=1)), {BOOKED}),
        (Plan(after=book("2026-12-03", "afternoon", changes=1, other="evening")), {UNTOUCHED}),
        (Plan(changes=2), {ONCE}),
        (Plan(changes=0), {ONCE}),
        (Plan(writes=(WRITE, replace(WRITE, call_id="w2"))), {ONCE}),
        (Plan(writes=(replace(WRITE, state="failed"),)), {ONCE}),
        (Plan(writes=(replace(WRITE, state="running"),)), {ONCE, "every tool call came to its end"}),
        (Plan(moved_text=MOVED.replace("Thursday", "Friday")), {MOVE}),
        (Plan(answered=False), {MOVE}),
        (Plan(heard_of_other=""), {REMEMBERED}),
        (Plan(heard_of_other="Order 4 7 1 5"), {REMEMBERED}),
        (Plan(sound_after_clear=True), {NOTHING_FOLLOWS}),
        (Plan(greets=False), {"the agent greets first"}),
    ],
    ids=lambda value: "" if isinstance(value, set) else None,
)
def test_what_went_wrong_is_named_and_nothing_else(plan: Plan, expected: set[str]) -> None:
    assert wrong(plan) == expected


def test_a_listeners_word_that_stops_the_agent_is_wrong() -> None:
    assert "'Uh-huh.' does not stop the agent" in wrong(Plan(backchannel_stops=True))


def test_an_interruption_that_does_not_interrupt_is_wrong() -> None:
    found = wrong(Plan(interruption_stops=False))
    assert {REMEMBERED, NOTHING_FOLLOWS} <= found


def test_silence_is_told_as_silence() -> None:
    story = Plan(answered=False).story()
    assert "silence: no answer was heard" in next(check.found for check in checks(story) if check.name == MOVE)


@pytest.fixture
def small_out(tmp_path, monkeypatch):
    def run(plan: Plan) -> int:
        monkeypatch.setattr(demo, "play", plan.story)
        return demo.main(["--out", str(tmp_path)])

    return run


def test_the_exit_code_is_one_and_says_why(small_out, capsys) -> None:
    assert small_out(Plan(after=book("2026-12-04", "", changes=2))) == 1
    said = capsys.readouterr().err
    assert "did not go as it should: 2 of 14" in said
    assert "Friday 2026-12-04" in said
    assert "2 changes in the book" in said


def test_the_exit_code_is_zero_where_all_is_well(small_out, capsys, tmp_path) -> None:
    assert small_out(Plan()) == 0
    assert capsys.readouterr().err == ""
    assert {path.name for path in tmp_path.iterdir()} == {"demo.wav", "demo.html"}


def test_a_demo_that_cannot_be_held_is_one_line(monkeypatch, capsys, tmp_path) -> None:
    def fail():
        raise demo.DemoFailed("the server did not start")

    monkeypatch.setattr(demo, "play", fail)
    assert demo.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "the demo could not be held: the server did not start\n"


def test_a_busy_machine_is_named_only_where_something_was_late() -> None:
    calm = Plan(facts={"load": 9.0, "cores": 2}).story()
    assert demo.busy(calm) == ""
    late = replace(calm, call=replace(calm.call, behind_s=0.3))
    assert "load average 9.0 on 2 cores" in demo.busy(late)
    assert demo.busy(replace(late, load=0.5)) == ""


def test_reads_are_no_writes() -> None:
    assert wrong(Plan(writes=(WRITE, READ))) == set()
