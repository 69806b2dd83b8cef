"""The bench's reports: listed, shown, searched, compared, drawn, and held against gates."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.gates import judge, read_gates
from antiphon.bench.library import Entry, Library, read_file
from antiphon.bench.report import Report, Table, json_bytes, table_lines
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import show as print_report
from antiphon.core.errors import InvalidInput
from antiphon.settings import load

ReportArgument = Annotated[str, typer.Argument(help="A report's number, or its JSON file.")]


@bench.command("list")
def list_(
    limit: Annotated[int, typer.Option(help="At most as many.", min=1)] = 20, config: ConfigOption = None
) -> None:
    """The reports that were kept, the newest first."""
    _listing(_library(config).newest(limit))


@bench.command()
def search(
    words: Annotated[list[str], typer.Argument(help="Of notes, failures, systems, models or conditions.")],
    limit: Annotated[int, typer.Option(help="At most as many.", min=1)] = 20,
    config: ConfigOption = None,
) -> None:
    """Find reports by words of their notes and of what went wrong."""
    _listing(_library(config).search(" ".join(words), limit))


@bench.command()
def show(
    report: ReportArgument,
    json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
    config: ConfigOption = None,
) -> None:
    """A kept report, as Markdown or JSON."""
    found = _report(report, config)
    if json:
        typer.echo(json_bytes(found).decode())
    else:
        print_report(found)


@bench.command("report")
def report_(
    reports: Annotated[list[str], typer.Argument(help="Numbers of reports, or JSON files.")],
    html: Annotated[Path | None, typer.Option("--html", help="Where the page goes.", dir_okay=False)] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Where a sheet of the first goes.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """One HTML page that needs nothing else: who made the caller wait, pictures, tables, conditions."""
    if html is None and png is None:
        raise InvalidInput("say where it goes: --html FILE, or --png FILE for the pictures alone")
    found = [_report(each, config) for each in reports]
    if html is not None:
        from antiphon.bench.page import page

        _written(html, page(found).encode())
    if png is not None:
        from antiphon.bench.sheet import sheet

        _written(png, sheet(found[0]))


def _written(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    typer.echo(f"{path}: {len(data) // 1024} kB")


@bench.command()
def compare(
    before: Annotated[str, typer.Argument(help="A report's number or JSON file, or a snapshot.")],
    after: Annotated[str, typer.Argument(help="Another of the same kind.")],
    config: ConfigOption = None,
) -> None:
    """Two reports, or two snapshots of a model: what changed, and what the noise of the runs allows to say."""
    tables = _snapshots(before, after) if _is_snapshot(before) else _reports(before, after, config)
    for table in tables:
        typer.echo("\n".join(table_lines(table)))


@bench.command()
def gate(
    report: ReportArgument,
    gates: Annotated[Path, typer.Option("--gates", help="The gate file (TOML).", dir_okay=False)],
    baseline: Annotated[str, typer.Option(help="The report that relative gates refer to.")] = "",
    config: ConfigOption = None,
) -> None:
    """Hold a report against bounds. Exit 1 if one is not kept."""
    outcomes = judge(_report(report, config), read_gates(gates), _report(baseline, config) if baseline else None)
    for outcome in outcomes:
        typer.echo(f"{'kept  ' if outcome.kept else 'BROKEN'}  {outcome.text}")
    raise typer.Exit(0 if outcomes and all(outcome.kept for outcome in outcomes) else 1)


def _reports(before: str, after: str, config: Path | None) -> list[Table]:
    from antiphon.bench.contrast import contrast

    return contrast(_report(before, config), _report(after, config))


def _snapshots(before: str, after: str) -> list[Table]:
    from antiphon.bench.snapshot import compare as compare_snapshots
    from antiphon.bench.snapshot import read_snapshot

    return compare_snapshots(read_snapshot(Path(before)), read_snapshot(Path(after)))


def _is_snapshot(name: str) -> bool:
    from antiphon.bench.snapshot import FORMAT

    path = Path(name)
    if name.isdecimal() or not path.is_file():
        return False
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(200)


def _report(name: str, config: Path | None) -> Report:
    if name.isdecimal():
        return _library(config).report(int(name))
    path = Path(name)
    if not path.is_file():
        raise InvalidInput(f"{name} is neither a report's number nor a file", "report")
    return read_file(path)


def _library(config: Path | None) -> Library:
    return Library(load(config).bench.db)


def _listing(entries: list[Entry]) -> None:
    if not entries:
        typer.echo("no reports")
        return
    for each in entries:
        faults = f"{each.faults} faults" if each.faults else "no faults"
        typer.echo(f"{each.id:>5}  {each.at[:16].replace('T', ' ')}  {each.title}: {each.systems or '-'}; {faults}")
        if each.excerpt:
            typer.echo(f"       {' '.join(each.excerpt.split())}")
