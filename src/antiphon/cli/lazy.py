"""Commands that are imported when they are asked for: ``antiphon --help`` must not load every model's library.

A table names each command, the module that registers it and one line of help. The module is imported when the command
runs; a list of commands is written from the table alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group


@dataclass(frozen=True, slots=True)
class Lazy:
    """``module`` registers the command on its typer application when it is imported; ``help`` stands in lists.
    ``hidden``: not in lists."""

    module: str
    help: str
    hidden: bool = False


def lazy_group(whole: Callable[[], typer.Typer], table: Mapping[str, Lazy]) -> type[TyperGroup]:
    """A group for ``typer.Typer(cls=...)`` whose commands are those of ``table``, in its order.

    ``whole`` gives the application on which the modules register.
    """

    class Group(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return [*table, *(name for name in super().list_commands(ctx) if name not in table)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            entry = table.get(cmd_name)
            if entry is not None and cmd_name not in self.commands:
                import_module(entry.module)
                self.commands.update(get_group(whole()).commands)
            return super().get_command(ctx, cmd_name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            near = get_close_matches(args[0], [name for name, entry in table.items() if not entry.hidden], n=1)
            if near and args[0] not in table and args[0] not in self.commands and not args[0].startswith("-"):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, entry.help) for name, entry in table.items() if not entry.hidden])

    return Group
