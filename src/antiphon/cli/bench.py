"""``antiphon bench``: figures, made the same way everywhere."""

import typer

from antiphon.cli.app import app

bench = typer.Typer(help="Measure a server over its wire protocol.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")
