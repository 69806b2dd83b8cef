"""A report: tables for people, all figures as JSON for machines, and the conditions, without which neither counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from antiphon.bench.conditions import Conditions
from antiphon.bench.diagnosis import Fault, Waterfall
from antiphon.bench.measure import Distribution, Measured
from antiphon.bench.quality import Quality

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """``columns`` carry their units; a cell None means that there is no such figure. ``notes``: how to read it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """All measured takes of one system under one load, and their distributions by the name of the figure.

    ``faults`` and ``waterfalls`` (p50, p95) say who made the caller wait; ``connects`` and ``round_trips`` are those of
    the target's connections, made before any request. ``streams``: the load as a number (0: none, as of a burst).
    ``quality``: of some of the takes, where it was asked for.
    """

    system: str
    load: str
    takes: tuple[Measured, ...]
    distributions: dict[str, Distribution]
    faults: tuple[Fault, ...] = ()
    waterfalls: tuple[Waterfall, ...] = ()
    connects: Distribution | None = None
    round_trips: Distribution | None = None
    streams: float = 0.0
    quality: Quality | None = None


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    conditions: Conditions
    tables: tuple[Table, ...]
    groups: tuple[Group, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


def markdown(report: Report) -> str:
    """The tables and the conditions as Markdown, without the single takes."""
    parts = [f"# {report.title}", ""]
    for table in report.tables:
        parts += table_lines(table)
    return "\n".join([*parts, "## Conditions", "", *condition_lines(report.conditions), ""])


def table_lines(table: Table) -> list[str]:
    """One table with its title and notes as lines of Markdown."""
    notes = [f"- {note}" for note in table.notes]
    return [f"## {table.title}", "", *_markdown_table(table), "", *notes, *([""] if notes else [])]


def json_bytes(report: Report) -> bytes:
    """Everything, for later comparison; two spaces of indentation, so that a diff can be read."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2)


def write(report: Report, path: Path) -> None:
    """``path`` gets the JSON, a ``.md`` beside it the tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json_bytes(report))
    path.with_suffix(".md").write_text(markdown(report), "utf-8")


def milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(1e3 * seconds, 1)


def ms_at(spread: Distribution | None, quantile: str) -> float | None:
    """``quantile``: "p50", ..., "max"."""
    return None if spread is None else milliseconds(getattr(spread, quantile))


def _markdown_table(table: Table) -> list[str]:
    rows = [[cell_text(cell) for cell in row] for row in table.rows]
    widths = [max([len(name), *(len(row[at]) for row in rows)]) for at, name in enumerate(table.columns)]
    numeric = [all(not isinstance(row[at], str) for row in table.rows) for at in range(len(table.columns))]

    def line(cells: list[str]) -> str:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * (width - 1) + (":" if right else "-") for width, right in zip(widths, numeric, strict=True)]
    return [line(list(table.columns)), "| " + " | ".join(rule) + " |", *(line(row) for row in rows)]


def cell_text(cell: Cell) -> str:
    """As in Markdown's tables."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.3g}" if abs(cell) < 1 else f"{cell:.1f}"
    return str(cell).replace("|", "\\|").replace("\n", " ")


def condition_lines(at: Conditions) -> list[str]:
    """A list in Markdown."""
    lines = [
        f"- {at.at}; {at.cpu}, {at.machine}, {at.cores} cores, {at.memory_bytes / 2**30:.0f} GiB; {at.system}",
        f"- load average before the run: {', '.join(f'{value:.2f}' for value in at.load_average) or 'not known'}",
        f"- Python {at.python}; " + ", ".join(f"{name} {version}" for name, version in at.packages.items()),
        f"- source: {at.git or 'not a checkout'}",
    ]
    if at.clock_resolution_s is not None:
        lines.append(f"- clock of the client: monotonic, steps of {1e9 * at.clock_resolution_s:.0f} ns")
    if at.network or at.region:
        lines.append(f"- network: {at.network or 'not known'}" + (f"; region {at.region}" if at.region else ""))
    lines += [f"- settings: {', '.join(f'{name} {value}' for name, value in at.settings.items())}"] * bool(at.settings)
    lines += [f"- model {name}: sha256 {digest[:16]}" for name, digest in at.models.items()]
    lines += [f"- workload {name}: sha256 {digest[:16]}" for name, digest in at.workloads.items()]
    return lines + [f"- {note}" for note in at.notes]
