"""``antiphon bench capacity``: how much this machine carries, and the limit that a server then keeps."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.admission import Admission, admit, write_limits
from antiphon.bench.capacity import Limits
from antiphon.bench.report import Cell, Table
from antiphon.bench.systems import Server
from antiphon.bench.tts import run
from antiphon.bench.tts_options import TtsOptions
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import VOICE_FILES, StoreOption, files_of, finish, kind, own_server, progress, show
from antiphon.cli.house import open_store
from antiphon.core.errors import ModelUnavailable
from antiphon.settings import load


@bench.command()
def capacity(
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    wire: Annotated[str, typer.Option(help="cartesia-ws, cartesia-sse, cartesia-bytes or openai.")] = "cartesia-ws",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    ttfa_ms: Annotated[float, typer.Option("--slo-ttfa-p95-ms", help="First audible sample, p95; 0: any.")] = 200.0,
    underruns: Annotated[float, typer.Option("--slo-underruns", help="Share of takes that may run dry.")] = 0.0,
    failed: Annotated[float, typer.Option("--slo-failed", help="Share of requests that may fail.")] = 0.0,
    start: Annotated[int, typer.Option(help="Where the search begins.", min=1)] = 16,
    highest: Annotated[int, typer.Option(help="Where it ends.", min=1)] = 512,
    starts: Annotated[int, typer.Option(help="Measured starts of each probe.", min=1)] = 200,
    text: Annotated[str, typer.Option(help="Kind of text: words5, words25, agent, answer3, mixed.")] = "words25",
    price_per_hour: Annotated[float, typer.Option("--price-per-hour", help="Of the machine, in dollars.", min=0)] = 0.0,
    gpus: Annotated[int, typer.Option(help="GPUs of the server.", min=0)] = 0,
    limits_out: Annotated[
        Path | None, typer.Option("--limits-out", help="Write the limit that `antiphon serve --limits` reads.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Then play twice the load to a server that keeps the limit.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of texts and arrivals.")] = 1,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """The largest load that keeps an objective, streams per core, GPU and dollar, and the limit to admit by."""
    files = open_store(load(config))
    limits = Limits(ttfa_ms / 1000 if ttfa_ms else None, underrun_share=underruns, failed_share=failed)
    with contextlib.ExitStack() as stack:
        options = TtsOptions(
            Server(url or stack.enter_context(own_server(config, True)), wire, api_key=api_key),  # type: ignore[arg-type]
            streams=(), text=kind(text), seed=seed, starts=starts, blocks=1, capacity=True, capacity_bursts=True,
            capacity_start=start, capacity_highest=highest, limits=limits,
            models=files_of(files, VOICE_FILES), notes=tuple(note or ()),
        )  # fmt: skip
        report = run(options, progress=progress)
    steady, burst = report.details["capacity"], report.details["capacity_bursts"]
    try:
        found = admit(steady, burst, limits, report.conditions.cores, gpus, price_per_hour)
    except ValueError as error:
        show(report)
        raise ModelUnavailable(str(error)) from None
    report = replace(report, title="antiphon bench capacity", tables=(_table(found, bool(url)), *report.tables),
                     details={**report.details, "admission": found})  # fmt: skip
    if limits_out is not None:
        at = report.conditions
        write_limits(found, limits_out, f"antiphon bench capacity, {at.at}, {at.cpu}, {at.cores} cores")
        progress(f"{limits_out}: antiphon serve --limits {limits_out}")
        if verify and not url:
            with own_server(config, limits=limits_out) as address:
                loaded = replace(options, server=Server(address), capacity=False, capacity_bursts=False,
                                 overload=2 * found.streams)  # fmt: skip
                report = replace(report, tables=(*report.tables, *run(loaded, progress=progress).tables))
    finish(report, out, config, store)


def _table(found: Admission, remote: bool) -> Table:
    def row(name: str, value: float | None, digits: int = 1) -> tuple[Cell, ...]:
        return name, None if value is None else round(value, digits)

    where = "of the player's machine; the server's may differ" if remote else "shared with the player"
    return Table(
        "Capacity",
        ("figure", "value"),
        (
            row("streams (listeners at any moment)", found.streams),
            row("requests at once (what a server counts and admits)", found.places),
            row("streams per core", found.per_core),
            row("streams per GPU", found.per_gpu),
            row("hours of one stream per dollar", found.per_dollar),
            row("dollars per hour of one stream", found.dollars_per_hour, 6),
        ),
        (f"Objective: {found.limits.text}. {found.cores} cores, {where}.",),
    )
