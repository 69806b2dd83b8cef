"""Checks arguments against a JSON schema, and says what is wrong so that a model can mend it.

The part of JSON Schema (draft 2020-12) that tools use: types, required, additionalProperties, enum, const, bounds,
pattern, format (date, time, date-time), items, anyOf, oneOf, allOf and local references. What it does not know it lets
pass.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

_MOST = 5
_DEEP = 32
_SHOWN = 60
_LONGEST_MATCHED = 2_000
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
}
_FORMATS: dict[str, tuple[Callable[[str], object], str]] = {
    "date": (date.fromisoformat, "a date, YYYY-MM-DD"),
    "time": (time.fromisoformat, "a time, HH:MM"),
    "date-time": (datetime.fromisoformat, "a date with time, YYYY-MM-DDTHH:MM"),
}


def parse_arguments(text: str) -> dict[str, Any] | str:
    """The arguments, or what is wrong with them."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        return f"the arguments are not valid JSON: {error}"
    return read_arguments(value)


def read_arguments(value: object) -> dict[str, Any] | str:
    """The arguments, or what is wrong with them."""
    return dict(value) if isinstance(value, Mapping) else "the arguments are not a JSON object"


def faults(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """What does not fit, five things at most; each names the argument and what it should be."""
    found = []
    for fault in _faults(schema, dict(arguments), "", schema, 0):
        found.append(fault)
        if len(found) >= _MOST:
            break
    return found


def _faults(schema: Any, value: Any, at: str, root: Mapping[str, Any], depth: int) -> Iterator[str]:
    schema = _resolved(schema, root)
    if schema is False:
        yield f"{at or 'the arguments'}: not allowed"
    if not isinstance(schema, Mapping) or depth > _DEEP:
        return
    wanted = schema.get("type")
    kinds = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if kinds and not any(_TYPES.get(kind, _anything)(value) for kind in kinds):
        yield f"{at or 'the arguments'}: should be {' or '.join(kinds)}{_about(schema)}, is {_shown(value)}"
        return
    yield from _choices(schema, value, at)
    for part in schema.get("allOf", ()):
        yield from _faults(part, value, at, root, depth + 1)
    for word in ("anyOf", "oneOf"):
        options = schema.get(word) or ()
        tried = [list(_faults(option, value, at, root, depth + 1)) for option in options]
        if tried and all(tried):
            yield min(tried, key=len)[0]
    if isinstance(value, dict):
        yield from _object(schema, value, at, root, depth)
    elif isinstance(value, list):
        yield from _bounds(schema, len(value), at, "minItems", "maxItems", "items")
        for index, item in enumerate(value):
            yield from _faults(schema.get("items", True), item, f"{at}[{index}]", root, depth + 1)
    elif isinstance(value, str):
        yield from _string(schema, value, at)
    elif _TYPES["number"](value):
        yield from _number(schema, value, at)


def _object(
    schema: Mapping[str, Any], value: dict[str, Any], at: str, root: Mapping[str, Any], depth: int
) -> Iterator[str]:
    known = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            yield f"{_inner(at, name)}: is missing{_about(_resolved(known.get(name), root))}"
    for name, one in value.items():
        if name in known:
            yield from _faults(known[name], one, _inner(at, name), root, depth + 1)
        elif any(re.search(pattern, name) for pattern in schema.get("patternProperties") or ()):
            continue
        elif schema.get("additionalProperties") is False:
            yield f"{_inner(at, name[:_SHOWN])}: there is no such argument; known are {', '.join(known) or 'none'}"
        elif isinstance(schema.get("additionalProperties"), Mapping):
            yield from _faults(schema["additionalProperties"], one, _inner(at, name), root, depth + 1)


def _choices(schema: Mapping[str, Any], value: Any, at: str) -> Iterator[str]:
    options = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(options, list) and not any(type(one) is type(value) and one == value for one in options):
        listed = ", ".join(json.dumps(one, ensure_ascii=False) for one in options[:20])
        yield f"{at}: should be one of {listed}, is {_shown(value)}"


def _string(schema: Mapping[str, Any], value: str, at: str) -> Iterator[str]:
    yield from _bounds(schema, len(value), at, "minLength", "maxLength", "characters")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not (len(value) <= _LONGEST_MATCHED and re.search(pattern, value)):
        yield f"{at}: should match {pattern}{_about(schema)}, is {_shown(value)}"
    read, words = _FORMATS.get(str(schema.get("format")), (None, ""))
    if read is not None:
        try:
            read(value)
        except ValueError:
            yield f"{at}: should be {words}, is {_shown(value)}"


def _number(schema: Mapping[str, Any], value: float, at: str) -> Iterator[str]:
    tests: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
        ("minimum", "at least", lambda limit: value >= limit),
        ("maximum", "at most", lambda limit: value <= limit),
        ("exclusiveMinimum", "more than", lambda limit: value > limit),
        ("exclusiveMaximum", "less than", lambda limit: value < limit),
        ("multipleOf", "a multiple of", lambda limit: limit == 0 or abs(value / limit - round(value / limit)) < 1e-9),
    )
    for word, words, holds in tests:
        limit = schema.get(word)
        if _TYPES["number"](limit) and not holds(limit):
            yield f"{at}: should be {words} {limit}, is {_shown(value)}"


def _bounds(schema: Mapping[str, Any], size: int, at: str, least: str, most: str, what: str) -> Iterator[str]:
    low, high = schema.get(least), schema.get(most)
    if isinstance(low, int) and size < low:
        yield f"{at}: should have at least {low} {what}, has {size}"
    if isinstance(high, int) and size > high:
        yield f"{at}: should have at most {high} {what}, has {size}"


def _resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    for _ in range(_DEEP):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        schema = root
        for part in reference.lstrip("#/").split("/") if reference != "#" else ():
            part = part.replace("~1", "/").replace("~0", "~")
            schema = schema.get(part, True) if isinstance(schema, Mapping) else True
    return True


def _about(schema: Any) -> str:
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return f" ({text[:120]})" if isinstance(text, str) and text else ""


def _inner(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _anything(value: Any) -> bool:
    return True
