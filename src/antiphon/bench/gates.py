"""A gate file: bounds that a report must keep, so that a build fails on a regression. Pure but for reading the file.

    [[gate]]
    metric = "ttfa_s.p95"        # a path, see antiphon.bench.metrics
    system = "antiphon"          # only there (default: every system)
    load = "1 stream"            # only there (default: every load)
    op = "<="                    # <=, <, >=, > or ==
    bound = 0.05

    [[gate]]
    metric = "ttfa_s.p95"
    op = "<="
    baseline = 1.1               # times the same figure of the baseline report

A gate that finds no figure is not kept: a figure that is gone is a regression too.
"""

import operator
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from antiphon.bench.metrics import group_metric, table_metric
from antiphon.bench.report import Group, Report
from antiphon.core.errors import InvalidInput

_OPS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq,
}  # fmt: skip


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either ``bound`` or ``baseline`` (a factor) is set."""

    metric: str
    op: str
    bound: float | None = None
    baseline: float | None = None
    system: str = ""
    load: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    gate: tuple[Gate, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``where``: system and load, or the table. ``value``/``bound`` None: there was no such figure."""

    gate: Gate
    where: str
    value: float | None
    bound: float | None
    kept: bool

    @property
    def text(self) -> str:
        if self.value is None:
            return f"{self.where}: {self.gate.metric}: the report has no such figure"
        if self.bound is None:
            return f"{self.where}: {self.gate.metric} is {self.value:g}, and the baseline has no such figure"
        factor = "" if self.gate.baseline is None else f" ({self.gate.baseline:g} times the baseline)"
        return f"{self.where}: {self.gate.metric} is {self.value:g}; wanted {self.gate.op} {self.bound:g}{factor}"


def read_gates(path: Path) -> tuple[Gate, ...]:
    """Raises ``InvalidInput`` naming what is wrong."""
    try:
        gates = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _File).gate
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "gates") from None
    except (msgspec.ValidationError, ValueError) as error:
        raise InvalidInput(f"{path} is no gate file: {error}", "gates") from None
    for number, gate in enumerate(gates, 1):
        if gate.op not in _OPS:
            raise InvalidInput(f"{path}, gate {number}: op must be one of {', '.join(_OPS)}; not {gate.op!r}", "gates")
        if (gate.bound is None) == (gate.baseline is None):
            raise InvalidInput(f"{path}, gate {number}: set either bound or baseline (a factor)", "gates")
    return gates


def judge(report: Report, gates: tuple[Gate, ...], baseline: Report | None = None) -> list[Outcome]:
    """Every gate against every group that it names. Raises ``InvalidInput`` for a path that cannot be, or where a gate
    needs a baseline and there is none."""
    outcomes: list[Outcome] = []
    for gate in gates:
        if gate.baseline is not None and baseline is None:
            raise InvalidInput(f"the gate of {gate.metric} is relative: give a report with --baseline", "baseline")
        try:
            outcomes += _judged(report, gate, baseline)
        except ValueError as error:
            raise InvalidInput(str(error), "gates") from None
    return outcomes


def _judged(report: Report, gate: Gate, baseline: Report | None) -> list[Outcome]:
    if gate.metric.startswith("table/"):
        before = table_metric(baseline, gate.metric) if baseline is not None else None
        return [_outcome(gate, report.title, table_metric(report, gate.metric), before)]
    groups = [group for group in report.groups if _named(group, gate)]
    if not groups:
        return [Outcome(gate, ", ".join(filter(None, (gate.system, gate.load))) or report.title, None, None, False)]
    found = []
    for group in groups:
        same = [other for other in baseline.groups if (other.system, other.load) == (group.system, group.load)] \
            if baseline is not None else []  # fmt: skip
        before = group_metric(same[0], gate.metric) if same else None
        found.append(_outcome(gate, f"{group.system}, {group.load}", group_metric(group, gate.metric), before))
    return found


def _outcome(gate: Gate, where: str, value: float | None, before: float | None) -> Outcome:
    bound = gate.bound
    if gate.baseline is not None:
        bound = None if before is None else gate.baseline * before
    kept = value is not None and bound is not None and _OPS[gate.op](value, bound)
    return Outcome(gate, where, value, bound, kept)


def _named(group: Group, gate: Gate) -> bool:
    return gate.system in ("", group.system) and gate.load in ("", group.load)
