"""A report as one HTML page that needs nothing else: verdicts first, then pictures, tables, conditions."""

from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources

from antiphon.bench.diagnosis import ms
from antiphon.bench.plots import Figure, figures
from antiphon.bench.report import Cell, Group, Report, Table, cell_text, condition_lines


def page(reports: Sequence[Report]) -> str:
    """One page of ``reports``, each complete. Raises ``ModelUnavailable`` without matplotlib."""
    title = reports[0].title if len(reports) == 1 else f"{len(reports)} reports"
    body = "\n".join(_report(report) for report in reports)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_style()}</style></head>'
        f"<body>\n{body}\n</body></html>\n"
    )


@cache
def _style() -> str:
    return resources.files("antiphon.bench").joinpath("data/report.css").read_text("utf-8")


def verdicts(groups: Sequence[Group]) -> list[tuple[bool, str, tuple[str, ...]]]:
    """For each group: (whether nothing is wrong, who made the caller wait, what is wrong)."""
    said = []
    for group in groups:
        fall = next((fall for fall in group.waterfalls if fall.quantile == 0.95), None)
        name = f"{group.system}, {group.load}"
        if fall is None or fall.culprit is None:
            head = f"{name}: nobody was heard."
        else:
            worst = fall.culprit
            share = fall.components[worst.component] / fall.total_s
            head = (
                f"{name}: callers near the p95 waited {ms(fall.total_s)}, {100 * share:.0f} % of it for the "
                f"{worst.component} ({worst.name})."
            )
        faults = tuple(f"{fault.kind} ({fault.component}): {fault.text}" for fault in group.faults)
        said.append((not faults and fall is not None and fall.culprit is not None, head, faults))
    return said


def _report(report: Report) -> str:
    at = report.conditions
    where = f"{at.network or 'network not stated'}{', ' + at.region if at.region else ''}"
    facts = (at.at, at.cpu, f"{at.cores} cores", where, f"source {at.git or 'not a checkout'}")
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="at">{escape("; ".join(facts))}</p>',
    ]
    if report.groups:
        parts.append("<h2>Who made the caller wait</h2>")
        for good, head, faults in verdicts(report.groups):
            listed = "".join(f"<li>{escape(text)}</li>" for text in faults)
            inner = f"<ul>{listed}</ul>" if listed else "Nothing out of bounds was found."
            parts.append(f'<div class="verdict{" good" if good else ""}"><b>{escape(head)}</b>{inner}</div>')
    parts += [_figure(figure) for figure in figures(report.groups)]
    parts += [_table(table) for table in report.tables]
    lines = "".join(f"<li>{escape(text.removeprefix('- '))}</li>" for text in condition_lines(at))
    return "\n".join([*parts, f'<h2>Conditions</h2><ul class="note">{lines}</ul>'])


def _figure(figure: Figure) -> str:
    return (
        f"<h2>{escape(figure.title)}</h2><figure>{figure.svg}<figcaption>{escape(figure.reading)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    words = [any(isinstance(row[at], str) for row in table.rows) for at in range(len(table.columns))]
    columns = zip(table.columns, words, strict=True)
    head = "".join(f"<th{_class(is_text)}>{escape(name)}</th>" for name, is_text in columns)
    body = "".join(
        "<tr>" + "".join(_cell(cell, is_text) for cell, is_text in zip(row, words, strict=True)) + "</tr>"
        for row in table.rows
    )
    notes = "".join(f'<li>{escape(note).replace("**", "")}</li>' for note in table.notes)
    return (
        f'<h2>{escape(table.title)}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
        f'</table></div><ul class="note">{notes}</ul>'
    )


def _cell(cell: Cell, is_text: bool) -> str:
    return f"<td{_class(is_text)}>{escape(cell_text(cell))}</td>"


def _class(is_text: bool) -> str:
    return ' class="text"' if is_text else ""
