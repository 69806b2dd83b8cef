"""``antiphon voices``: who can speak here."""

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.house import open_house
from antiphon.engine.voices import speaks


@app.command()
def voices(
    language: Annotated[
        str, typer.Option("--language", "-l", help="Only those that speak it (de, pt-BR).")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
    config: ConfigOption = None,
) -> None:
    """List the voices on this machine: engine, language, quality and licence of each."""
    with open_house(config) as house:
        infos = [info for info in house.registry.voices() if not language or speaks(info, language)]
        default = house.registry.default_voice
    if as_json:
        fields = ("id", "name", "engine", "language", "locales", "gender", "quality", "licence", "description")
        typer.echo(json.dumps([{field: getattr(info, field) for field in fields} for info in infos], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("language", "name", "engine", "quality", "gender", "licence", "id"):
        table.add_column(column, overflow="fold")
    for info in infos:
        name = f"{info.name} (default)" if info is default else info.name
        quality = info.quality.partition(";")[0]
        table.add_row(info.locales[0], name, info.engine, quality, info.gender, info.licence, info.id)
    # Into a pipe each voice is one line.
    Console(width=None if sys.stdout.isatty() else 160).print(table)
