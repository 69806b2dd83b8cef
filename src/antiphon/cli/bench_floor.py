"""``antiphon bench floor``: the house's own cost, without any model."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.floor import IDLE_SESSIONS, WIRES, floor_report, measure_floor
from antiphon.bench.process import serving_pid
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import StoreOption, finish, own_server, progress
from antiphon.core.errors import InvalidInput, ModelUnavailable


@bench.command()
def floor(
    wire: Annotated[str, typer.Option(help=f"{' or '.join(WIRES)}.")] = WIRES[0],
    blocks: Annotated[int, typer.Option(help="Blocks in which server and echo take turns.", min=1)] = 6,
    requests: Annotated[int, typer.Option(help="Requests of a block, at least.", min=1)] = 200,
    sessions: Annotated[int, typer.Option(help="Idle sessions of a round.", min=2)] = IDLE_SESSIONS,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """What a message costs beside an echo at 1, 32 and 100 streams, and what an idle session keeps in memory."""
    if wire not in WIRES:
        raise InvalidInput(f"--wire must be {' or '.join(WIRES)}; not {wire!r}")
    with own_server(config, scripted=True) as url:
        pid = serving_pid(url)
        if pid is None:
            raise ModelUnavailable("the server's process cannot be found: this needs Linux")
        found = measure_floor(url, pid, wire=wire, blocks=blocks, requests=requests, sessions=sessions,
                              progress=progress)  # fmt: skip
    report = floor_report(found, tuple(note or ()))
    finish(report, out, config, store)
