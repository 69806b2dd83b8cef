"""``antiphon voices``: who can speak here."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.house import open_house


@app.command()
def voices(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
    config: ConfigOption = None,
) -> None:
    """List the voices on this machine: engine, language, quality and licence of each."""
    with open_house(config) as house:
        infos = house.registry.voices()
        default = house.registry.default_voice
    if as_json:
        fields = ("id", "name", "engine", "language", "locales", "gender", "quality", "licence", "description")
        typer.echo(json.dumps([{field: getattr(info, field) for field in fields} for info in infos], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("name", "id", "engine", "language", "gender", "quality", "licence"):
        table.add_column(column, overflow="fold")
    for info in infos:
        name = f"{info.name} (default)" if info is default else info.name
        table.add_row(name, info.id, info.engine, ", ".join(info.locales), info.gender, info.quality, info.licence)
    Console().print(table)
