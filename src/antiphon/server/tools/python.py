"""A tool that is a Python callable."""

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome, said
from antiphon.server.tools.signature import KEY, Signature
from antiphon.server.tools.threads import Crew
from antiphon.server.tools.tool import Offer, OwnSource


class PythonTool(OwnSource):
    """Runs ``call`` with the arguments as keywords: a coroutine function on the loop, any other in a thread.

    A call that is given up on is cancelled if it is a coroutine; a thread runs on, and its result is dropped.
    """

    def __init__(self, offer: Offer, call: Callable[..., Any], signature: Signature, crew: Crew) -> None:
        super().__init__(offer)
        self._call = call
        self._signature = signature
        self._crew = crew
        # An object's own call may be the coroutine function.
        self._on_loop = inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)

    async def run(self, arguments: dict[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        keywords = self._read(arguments)
        if self._signature.takes_key:
            keywords[KEY] = key
        if self._signature.context:
            keywords[self._signature.context] = context
        try:
            if self._on_loop:
                value = await self._call(**keywords)
            else:
                value = await self._crew.run(lambda: self._call(**keywords))
                if inspect.isawaitable(value):
                    value = await value
        except SystemExit as leaving:  # would end the server
            raise ToolFailed("the tool ended with SystemExit") from leaving
        return value if isinstance(value, ToolOutcome) else ToolOutcome(True, said(value))

    def _read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        shape = self._signature.shape
        if shape is None:
            return dict(arguments)
        try:
            read = msgspec.convert(arguments, shape)
        except msgspec.ValidationError as error:
            raise ToolFailed(f"the arguments do not fit: {error}") from None
        values = {name: getattr(read, name) for name in shape.__struct_fields__}
        return {name: value for name, value in values.items() if value is not msgspec.UNSET}


def find_callable(path: str, where: str) -> Callable[..., Any]:
    """Import ``package.module:function`` (``:name.attribute`` goes deeper). Raises ``InvalidInput``."""
    module_name, _, names = path.partition(":")
    if not module_name or not names:
        raise InvalidInput(f"{where}: write it as package.module:function, not {path!r}", "python")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        hint = f" (looked in the installed packages and in {here})" if error.name in module_name.split(".") else ""
        raise InvalidInput(f"{where}: cannot import {module_name}: no module {error.name}{hint}", "python") from None
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"{where}: {module_name} fails on import: {reason}", "python") from error
    for name in names.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise InvalidInput(f"{where}: {module_name} has no function {names}", "python")
    return found  # type: ignore[no-any-return]
