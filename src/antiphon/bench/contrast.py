"""Two reports side by side: what is better, what is worse, and what the noise of the runs allows to say. Pure."""

from antiphon.bench.measure import Distribution
from antiphon.bench.metrics import group_metrics
from antiphon.bench.report import Cell, Group, Report, Table


def contrast(before: Report, after: Report) -> list[Table]:
    """Figures of the groups that both have, and differences of the conditions, which come first: figures of different
    workloads or machines are not comparable."""
    tables = [_conditions(before, after)]
    pairs = [
        (old, new)
        for new in after.groups
        for old in before.groups
        if (old.system, old.load) == (new.system, new.load)
    ]
    rows = [row for old, new in pairs for row in _rows(old, new)]
    only = {(group.system, group.load) for group in (*before.groups, *after.groups)}
    left = sorted(only - {(new.system, new.load) for _, new in pairs})
    notes: tuple[str, ...] = ("Apart: the 95 % intervals of the quantiles do not overlap. Seconds, shares, counts.",)
    notes += tuple(f"only in one report: {system}, {load}" for system, load in left)
    columns = ("system", "load", "figure", "before", "after", "change %", "verdict")
    return [*tables, Table("Figures", columns, tuple(rows), notes)]


def _rows(old: Group, new: Group) -> list[tuple[Cell, ...]]:
    then = dict(group_metrics(old))
    rows: list[tuple[Cell, ...]] = []
    for path, value in group_metrics(new):
        if path not in then:
            continue
        change = None if then[path] == 0 else 100 * (value / then[path] - 1)
        rows.append((new.system, new.load, path, _short(then[path]), _short(value),
                     None if change is None else round(change, 1), _verdict(old, new, path)))  # fmt: skip
    return rows


def _verdict(old: Group, new: Group, path: str) -> str:
    name, _, quantile = path.partition(".")
    then, now = old.distributions.get(name), new.distributions.get(name)
    low, high = _interval(then, quantile), _interval(now, quantile)
    if low is None or high is None or then is None or now is None:
        return ""
    if high[0] > low[1]:
        return "worse, apart"
    if high[1] < low[0]:
        return "better, apart"
    return "not apart"


def _interval(spread: Distribution | None, quantile: str) -> tuple[float, float] | None:
    found = getattr(spread, f"{quantile}_ci", None)
    return None if found is None else (found.low, found.high)


def _conditions(before: Report, after: Report) -> Table:
    then, now = before.conditions, after.conditions
    rows: list[tuple[Cell, ...]] = []
    fields = ("at", "cpu", "cores", "system", "python", "git", "network", "region")
    pairs = [(name, str(getattr(then, name)), str(getattr(now, name))) for name in fields]
    pairs.append(("load average", _load(then.load_average), _load(now.load_average)))
    for kind in ("packages", "models", "workloads", "settings"):
        old, new = getattr(then, kind), getattr(now, kind)
        pairs += [
            (f"{kind}: {name}", str(old.get(name, "-"))[:16], str(new.get(name, "-"))[:16])
            for name in dict.fromkeys([*old, *new])
        ]
    rows += [(name, one, other) for name, one, other in pairs if one != other]
    same = then.workloads == now.workloads
    note = "Same workload." if same else "**The workloads differ: the figures below are not comparable.**"
    return Table("What differs in the conditions", ("condition", "before", "after"), tuple(rows), (note,))


def _load(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _short(value: float) -> float:
    return float(f"{value:.4g}")
