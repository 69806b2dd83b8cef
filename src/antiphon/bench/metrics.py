"""Figures of a report by the name of their path, for gates and comparisons. Pure.

Paths, for each group (system and load) of a report:

- ``ttfa_s.p95``: a distribution's ``count``, ``mean``, ``p50``, ``p90``, ``p95``, ``p99`` or ``max``; also of
  ``connects`` and ``round_trips``;
- ``failed``, ``underruns``, ``gap_s``, ``takes``, ``faults``: sums over the takes;
- ``failed_share``, ``underrun_share``: of takes;
- ``quality.wer``, ``quality.clicks``, ``quality.overall.p50``, ...: see :class:`~antiphon.bench.quality.Quality`.

And for any report, ``table/TITLE/ROW/COLUMN``: a number in a table, in the first row one of whose cells is ROW.
"""

from collections.abc import Iterator

from antiphon.bench.measure import Distribution
from antiphon.bench.report import Group, Report

QUANTILES = ("count", "mean", "p50", "p90", "p95", "p99", "max")
SUMS = ("takes", "failed", "underruns", "gap_s", "faults", "failed_share", "underrun_share")


def group_metric(group: Group, path: str) -> float | None:
    """None: the group has no such figure. Raises ``ValueError`` for a path that no group can have."""
    name, _, rest = path.partition(".")
    if name in SUMS:
        return _sum(group, name)
    if name == "quality":
        return _quality(group, rest)
    if rest not in QUANTILES:
        raise ValueError(f"{path!r}: wanted is figure.quantile with one of {', '.join(QUANTILES)}")
    spread = getattr(group, name) if name in ("connects", "round_trips") else group.distributions.get(name)
    return None if spread is None else float(getattr(spread, rest))


def table_metric(report: Report, path: str) -> float | None:
    """``table/TITLE/ROW/COLUMN``. Raises ``ValueError`` where the path has not these parts."""
    parts = path.split("/")
    if len(parts) != 4 or parts[0] != "table":
        raise ValueError(f"{path!r}: wanted is table/TITLE/ROW/COLUMN")
    _, title, label, column = parts
    for table in report.tables:
        if table.title != title or column not in table.columns:
            continue
        at = table.columns.index(column)
        for row in table.rows:
            if label in (str(cell) for cell in row):
                value = row[at]
                return float(value) if isinstance(value, int | float) else None
    return None


def group_metrics(group: Group) -> Iterator[tuple[str, float]]:
    """What a comparison lists of a group."""
    for name in ("ttfb_s", "ttfa_s", "heard_s", "sustained_s", "last_byte_s", "needed_pre_roll_s"):
        for quantile in ("p50", "p95", "p99"):
            value = group_metric(group, f"{name}.{quantile}")
            if value is not None:
                yield f"{name}.{quantile}", value
    for path in ("failed_share", "underrun_share", "gap_s", "quality.wer", "quality.overall.p50", "quality.clicks"):
        value = group_metric(group, path)
        if value is not None:
            yield path, value


def _sum(group: Group, name: str) -> float:
    takes = group.takes
    failed = sum(1 for take in takes if take.error)
    match name:
        case "takes":
            return len(takes)
        case "failed":
            return failed
        case "failed_share":
            return failed / len(takes) if takes else 0.0
        case "underruns":
            return sum(take.underruns for take in takes)
        case "underrun_share":
            return sum(1 for take in takes if take.underruns) / len(takes) if takes else 0.0
        case "gap_s":
            return sum(take.gap_s for take in takes)
        case _:
            return len(group.faults)


def _quality(group: Group, rest: str) -> float | None:
    name, _, quantile = rest.partition(".")
    if group.quality is None:
        return None
    if name not in type(group.quality).__dataclass_fields__:
        raise ValueError(f"'quality.{rest}': there is no {name!r}")
    value = getattr(group.quality, name)
    if isinstance(value, Distribution):
        if (quantile or "p50") not in QUANTILES:
            raise ValueError(f"'quality.{rest}': wanted is one of {', '.join(QUANTILES)}")
        return float(getattr(value, quantile or "p50"))
    return None if value is None else float(value)
