"""Small reports to store, draw and hold against gates."""

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.conditions import Conditions
from antiphon.bench.duel import Score
from antiphon.bench.planted import PLANS, Plan
from antiphon.bench.player import Player
from antiphon.bench.report import Group, Report, Table
from antiphon.bench.target.contract import Line
from antiphon.bench.target.planted import Planted
from antiphon.bench.target.virtual import virtual
from antiphon.core.clock import ManualClock

AT = Conditions("2026-01-01T00:00:00+00:00", "m", "Some CPU", 2, 1 << 30, (), "Linux", "3.11", {}, {}, {"w": "ab"}, "")


def group(plan: Plan, load: str = "1 stream", streams: float = 1.0, takes: int = 4) -> Group:
    clock = ManualClock(1.0)
    target = Planted(plan, clock)
    with Player(clock=clock, loop=virtual(clock)) as player:
        played = player.play(target, [Line(f"t {at}") for at in range(takes)], ClosedLoop(1, 0, takes))
    score = Score(plan.name)
    score.add(played, 0.0)
    return score.group(load, streams=streams, connects_s=target.links.connects_s)


def plan(name: str) -> Plan:
    return next(each for each in PLANS if each.name == name)


def report(*groups: Group, notes: tuple[str, ...] = (), tables: tuple[Table, ...] = ()) -> Report:
    at = Conditions(**{name: getattr(AT, name) for name in AT.__dataclass_fields__} | {"notes": notes})
    return Report("a report", at, tables, groups)
