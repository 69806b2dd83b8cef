"""The tables say what the outcomes say."""

from dataclasses import replace

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.conversation_feeding import FEEDS, feeding, turning_order
from antiphon.bench.conversation_measure import Outcome, Turn
from antiphon.bench.conversation_stages import Stages
from antiphon.bench.conversation_tables import causes, groups_of, interruptions, stages, tasks, waits, worst_turns
from antiphon.bench.measure import Measured, measure
from antiphon.bench.recording import Take

STAGES = Stages({"final": 0.2, "turn end": 0.1, "heard": 0.3}, 3.0)
GOOD = Turn(1, "one", 0, "turn", "x", "said", end_s=2.0, v2v_s=0.5, stages=STAGES, stage_error_s=0.004, met=True)
SLOW = replace(GOOD, step=1, v2v_s=1.5, cause="stt", why="final took 1.20 s")
CUT = replace(GOOD, v2v_s=None, cut_off=True, stages=None, stage_error_s=None, met=False, cause="turn", why="cut")
OVER = replace(GOOD, kind="interruption", barge_in_s=0.2, stopped=True)
MHM = replace(GOOD, kind="backchannel", v2v_s=None, stopped=False, hole_s=0.4, stages=None, met=None)


def outcome(*turns: Turn, scenario: str = "one", success: bool = True, wrong: int = 0) -> Outcome:
    return Outcome(1, scenario, success, wrong, 0, None, 0, 2, 0.01, "", turns)


BY_LOAD = {
    1: [outcome(GOOD, SLOW), outcome(CUT, OVER, MHM, scenario="two", success=False, wrong=1)],
    4: [outcome(GOOD)],
}


def test_loads_and_scenarios_have_rows_of_their_own() -> None:
    groups = groups_of(BY_LOAD)
    assert list(groups) == [("all", 1), ("one", 1), ("two", 1), ("all", 4), ("one", 4)]
    table = waits(groups)
    rows = {row[:2]: row for row in table.rows}
    assert rows[("all", 1)][2:4] == (4, 500.0)  # three have a time: 0.5, 1.5, 0.5
    assert rows[("all", 1)][9:] == (1, 0, 4)
    assert rows[("one", 1)][7] == 1500.0
    assert "10 ms late" in table.notes[1]


def test_tasks_are_counted() -> None:
    rows = {row[:2]: row for row in tasks(groups_of(BY_LOAD)).rows}
    assert rows[("all", 1)][2:7] == (2, 1, 3, 4, 1)
    assert rows[("all", 1)][8:10] == (None, None)


def test_who_has_the_floor() -> None:
    rows = {row[:2]: row for row in interruptions(groups_of(BY_LOAD)).rows}
    assert set(rows) == {("all", 1), ("two", 1)}
    assert rows[("two", 1)][2:5] == (1, 1, 200.0)
    assert rows[("two", 1)][9:] == (1, 1, 400.0, 400.0)


def test_stages_and_their_error() -> None:
    table = stages({1: [outcome(GOOD, replace(GOOD, stage_error_s=-0.03))]})
    assert [(row[0], *row[2:4]) for row in table.rows] == [
        ("final", 2, 200.0), ("turn end", 2, 100.0), ("heard", 2, 300.0),
    ]  # fmt: skip
    assert "at most 30.0 ms; 1 of 2 turns beyond 20 ms" in table.notes[1]


def test_one_cause_a_turn() -> None:
    rows = causes(BY_LOAD).rows
    assert {row[:3] for row in rows} == {("stt", 1, 1), ("turn", 1, 1), ("none", 1, 3), ("none", 4, 1)}
    assert worst_turns(BY_LOAD).rows[0][:5] == ("one", 0, 1, None, "turn")


def test_each_way_of_feeding_takes_each_turn() -> None:
    order = turning_order(3)
    assert [order.count(feed) for feed in FEEDS] == [3, 3, 3]
    assert {order[0], order[3], order[6]} == set(FEEDS)
    assert ClosedLoop(1, 0, len(order)).requests == 9


def test_feeding_is_compared_with_the_whole_reply() -> None:
    def taken(first_s: float) -> Measured:
        loud = (b"\x00\x40" + b"\x00\xc0") * 1200
        return measure(Take(0, "x", 0.0, 0.0, 10.0, 10.0, (10.0 + first_s,), (loud,), 12.0, 24_000))

    table = feeding({"tokens": [taken(0.2)], "sentences": [taken(0.4)], "reply": [taken(1.0)]}, 0.1, 0.02)
    assert [(row[0], row[2], round(float(row[7] or 0), 6)) for row in table.rows] == [
        ("token by token", 200.0, 5.0), ("sentence by sentence", 400.0, 2.5), ("whole reply", 1000.0, 1.0),
    ]  # fmt: skip
