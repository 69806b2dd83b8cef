"""The typer application that the commands hang on, and the options that they share."""

from pathlib import Path
from typing import Annotated

import typer

import antiphon
from antiphon.cli.lazy import Lazy, lazy_group

COMMANDS = {
    "serve": Lazy("antiphon.cli.serve", "Speak and listen over Cartesia's and OpenAI's protocols."),
    "say": Lazy("antiphon.cli.say", "Say text aloud, or into a file."),
    "hear": Lazy("antiphon.cli.hear", "Write down what a file, standard input or the microphone says."),
    "talk": Lazy("antiphon.cli.talk", "Talk with the agent, by voice or in typed lines."),
    "voices": Lazy("antiphon.cli.voices", "List the voices on this machine."),
    "models": Lazy("antiphon.cli.models", "List, pull and verify model files."),
    "check": Lazy("antiphon.cli.check", "Say what this machine is and has, and what would be slow or fail."),
    "bench": Lazy("antiphon.cli.bench", "Measure a server over its wire protocol."),
    "scripted": Lazy("antiphon.cli.scripted", "The server with a scripted voice.", hidden=True),
}
"""Every command: the module that registers it, and what lists say of it. A module is imported when its command runs."""

app: typer.Typer = typer.Typer(
    cls=lazy_group(lambda: app, COMMANDS),
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
