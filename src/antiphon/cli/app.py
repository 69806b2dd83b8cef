"""The typer application that the commands hang on, and the options that they share."""

from pathlib import Path
from typing import Annotated

import typer

import antiphon

app = typer.Typer(
    name="antiphon",
    help="A self-hosted, real-time voice AI server.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings file (TOML). Default: $ANTIPHON_CONFIG.", dir_okay=False)
]
VoiceOption = Annotated[str | None, typer.Option("--voice", help="A voice's name or id (see `antiphon voices`).")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(antiphon.__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A self-hosted, real-time voice AI server."""
