"""``antiphon models``: list, pull and verify model files."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.house import open_store
from antiphon.core.errors import InvalidInput
from antiphon.settings import load
from antiphon.store.commands import list_models, pull_models, verify_models
from antiphon.store.progress import PullProgress

models = typer.Typer(help="List, pull and verify model files.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(models, name="models")

NamesArgument = Annotated[list[str] | None, typer.Argument(help="Model names, or 'all'. Default: the embedded set.")]


@models.command("list")
def list_(config: ConfigOption = None) -> None:
    """Every known model: state, size, licence, languages."""
    list_models(open_store(load(config)), typer.echo)


@models.command()
def pull(
    names: NamesArgument = None,
    embedded: Annotated[bool, typer.Option("--embedded", help="The embedded set (the default).")] = False,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Fill this wheelhouse folder with the archives instead.", file_okay=False),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Take archives from this wheelhouse folder first.", file_okay=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Fetch models, each file checked against its pinned hash. The only command that uses the network."""
    if embedded and names:
        raise InvalidInput("give model names or --embedded, not both")
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(progress: PullProgress) -> None:
            label = f"{progress.model}: {progress.phase} {progress.item}".rstrip()
            task = tasks.get(progress.model)
            if task is None:
                task = tasks[progress.model] = bars.add_task(label)
            bars.update(task, description=label, completed=progress.done_bytes, total=progress.total_bytes)

        pull_models(open_store(load(config)), names or (), bars.console.print, show, to=to, source=source)


@models.command()
def verify(names: NamesArgument = None, config: ConfigOption = None) -> None:
    """Hash every file of the named models (default: all that are here). Exit 1 if one is missing or damaged."""
    raise typer.Exit(0 if verify_models(open_store(load(config)), names or (), typer.echo) else 1)
