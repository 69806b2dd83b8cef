"""The JSON schema of a Python callable's arguments, from its type hints and its docstring."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.outcome import ToolContext

KEY = "idempotency_key"
"""A parameter of this name gets the call's key; the brain does not see it."""


@dataclass(frozen=True, slots=True)
class Signature:
    """``schema`` of the arguments that the brain gives; ``shape`` reads them into the hinted types (None: any).

    ``takes_key``: wants the call's key. ``context``: the parameter that wants the :class:`ToolContext`, or empty.
    """

    description: str
    schema: dict[str, Any]
    shape: type[msgspec.Struct] | None
    takes_key: bool
    context: str


def signature_of(call: Callable[..., Any], *, derive: bool, where: str) -> Signature:
    """``derive``: also the schema. Raises ``InvalidInput`` that says what to declare, for hints that have no schema."""
    try:
        given = inspect.signature(call)
        hints = get_type_hints(_hinted(call), include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise InvalidInput(f"{where}: its parameters cannot be read ({error}); declare `parameters`") from None
    description, notes = read_docstring(inspect.getdoc(call) or "")
    wants = (name for name, hint in hints.items() if hint is ToolContext or ToolContext in get_args(hint))
    context = next((name for name in wants if name in given.parameters), "")
    takes_key = KEY in given.parameters
    if not derive:
        return Signature(description, {}, None, takes_key, context)
    fields: list[Any] = []
    for name, parameter in given.parameters.items():
        if name in (KEY, context):
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InvalidInput(f"{where}: parameter {name!r} cannot be given by name; declare `parameters`")
        hint = _with_note(hints.get(name, Any), notes.get(name, ""))
        if parameter.default is parameter.empty:
            fields.append((name, hint))
        else:
            fields.append((name, hint if hint is Any else hint | msgspec.UnsetType, msgspec.UNSET))
    try:
        # msgspec wants the required ones first unless all are keyword-only.
        shape = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)
        schema = msgspec.json.schema(shape)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{where}: its type hints have no JSON schema ({error}); declare `parameters`") from None
    return Signature(description, _unwrapped(schema), shape, takes_key, context)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """(what it does, parameter -> what it is): the part before the parameters, and ``Args:`` or ``:param name:``."""
    notes = {name: _one_line(note) for name, note in _PARAM.findall(text)}
    head, _, rest = text.partition("\nArgs:\n")
    for name, note in _ARG.findall(re.split(r"\n\w+:\n", rest)[0]):
        notes[name] = _one_line(note)
    head = re.split(r"\n\s*:\w+|\n(?:Returns|Raises|Yields|Examples?):\s*\n", head)[0]
    return _one_line(head), notes


_PARAM = re.compile(r"^\s*:param\s+(?:\S+\s+)?(\w+):\s*(.+(?:\n\s+[^:\s].*)*)", re.MULTILINE)
_ARG = re.compile(r"^ {2,8}(\w+)(?:\s*\([^)]*\))?:\s*(.+(?:\n {6,}.+)*)", re.MULTILINE)


def _with_note(hint: Any, note: str) -> Any:
    if get_origin(hint) is Annotated:
        inner, *extras = get_args(hint)
        texts = [extra for extra in extras if isinstance(extra, str)]
        metas = [extra for extra in extras if isinstance(extra, msgspec.Meta)]
        note = next((meta.description for meta in metas if meta.description), None) or " ".join(texts) or note
        for meta in metas:
            inner = Annotated[inner, meta]
        hint = inner
    return Annotated[hint, msgspec.Meta(description=note)] if note else hint


def _unwrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """msgspec gives a reference to the struct; a model is better served with the object itself."""
    definitions = dict(schema.get("$defs", {}))
    top = dict(definitions.pop(str(schema.get("$ref", "")).rpartition("/")[2], schema))
    top.pop("title", None)
    top.setdefault("required", [])
    text = msgspec.json.encode(definitions).decode().replace("#/$defs/Arguments.", "#/$defs/")
    return {**top, "$defs": msgspec.json.decode(text)} if definitions else top


def _hinted(call: Callable[..., Any]) -> Any:
    inner = inspect.unwrap(getattr(call, "func", call))  # of a partial, its function
    return inner if inspect.isroutine(inner) else type(inner).__call__


def _one_line(text: str) -> str:
    return " ".join(text.split())
