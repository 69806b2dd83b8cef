"""``antiphon voices``: who can speak here."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.house import open_house
from antiphon.core.speech import VoiceInfo
from antiphon.engine.voices import speaks


@app.command()
def voices(
    language: Annotated[
        str, typer.Option("--language", "-l", help="Only those that speak it (de, pt-BR).")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
    config: ConfigOption = None,
) -> None:
    """List the voices on this machine, with engine, language, quality and licence of each, and what is missing."""
    with open_house(config) as house:
        known = [(info, "") for info in house.registry.voices()]
        known += [(voice.info, voice.needs) for voice in house.registry.missing]
        default = house.registry.default_voice
    infos = [(info, needs) for info, needs in known if not language or speaks(info, language)]
    if as_json:
        fields = ("id", "name", "engine", "language", "locales", "gender", "quality", "licence", "description")
        listed = [{field: getattr(info, field) for field in fields} | {"needs": needs} for info, needs in infos]
        typer.echo(json.dumps(listed, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("language", "name", "engine", "quality", "gender", "licence", "id"):
        table.add_column(column, overflow="fold")
    for info, _ in (ready := [item for item in infos if not item[1]]):
        name = f"{info.name} (default)" if info is default else info.name
        quality = info.quality.partition(";")[0]
        table.add_row(info.locales[0], name, info.engine, quality, info.gender, info.licence, info.id)
    # Into a pipe each voice is one line.
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for needs, names in _not_here(infos[len(ready) :]).items():
        console.print(f"\nnot here yet: {', '.join(names)}\n  {needs}", highlight=False, markup=False)


def _not_here(infos: Sequence[tuple[VoiceInfo, str]]) -> dict[str, list[str]]:
    """What it takes -> the voices that would speak then."""
    found: dict[str, list[str]] = {}
    for info, needs in infos:
        found.setdefault(needs, []).append(info.name)
    return found
