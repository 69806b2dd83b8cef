"""``antiphon bench selftest``: does the bench measure what is there?"""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.selftest import report
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import StoreOption, finish, progress


@bench.command()
def selftest(
    live: Annotated[bool, typer.Option(help="Also against a faulty server on this machine.")] = True,
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Plant faults, measure them, name them. Exit 1 if one is measured wrongly or not named."""
    made, trusted = report(live, progress)
    finish(made, out, config, store)
    raise typer.Exit(0 if trusted else 1)
