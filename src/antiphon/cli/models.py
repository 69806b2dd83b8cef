"""``antiphon models``: list, pull and verify model files."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.house import open_store
from antiphon.settings import load

models = typer.Typer(help="List, pull and verify model files.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(models, name="models")
