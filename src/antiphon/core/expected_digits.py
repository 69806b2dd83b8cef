"""What callers will have to say, as an agent's tools tell it: how long the numbers are that they ask for."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

LEAST, MOST = 3, 20
"""Digits: fewer are no dictation, and nobody dictates more without a pause."""

_COUNTS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
           "fifteen", "sixteen")  # fmt: skip
_TOLD = re.compile(rf"\b(\d{{1,2}}|{'|'.join(_COUNTS)})[ -]digits?\b", re.IGNORECASE)
_DIGIT = r"(?:\\d|\[0-9\])"
_PATTERN = re.compile(rf"\^?[A-Za-z]{{0,3}}-?({_DIGIT}+)(?:\{{(\d+)(?:,(\d+))?\}})?\$?")


def expected_digits(schemas: Iterable[object]) -> tuple[int, ...]:
    """How many digits the numbers have that these JSON schemas of parameters ask for.

    Told by a pattern (``^\\d{4}$``), by an integer's bounds (1000 to 9999), or by words of a description ("four
    digits", "a 10-digit number"). Sorted; empty: nothing is known.
    """
    found = {count for schema in schemas for prop in _properties(schema) for count in _of(prop)}
    return tuple(sorted(count for count in found if LEAST <= count <= MOST))


def _properties(schema: object) -> list[dict[str, Any]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return [one for one in properties.values() if isinstance(one, dict)] if isinstance(properties, dict) else []


def _of(prop: dict[str, Any]) -> Iterator[int]:
    pattern, told = prop.get("pattern"), prop.get("description")
    if isinstance(pattern, str) and (match := _PATTERN.fullmatch(pattern)):
        single = len(re.findall(_DIGIT, match[1]))
        least = int(match[2] or 1)
        yield from _range(single - 1 + least, single - 1 + int(match[3] or least))
    if isinstance(told, str):
        for match in _TOLD.finditer(told):
            yield int(match[1]) if match[1].isdigit() else LEAST + _COUNTS.index(match[1].lower())
    low, high = prop.get("minimum"), prop.get("maximum")
    bounded = prop.get("type") == "integer" and isinstance(low, int) and isinstance(high, int) and 0 < low <= high
    if bounded and len(str(low)) == len(str(high)):
        yield len(str(low))


def _range(low: int, high: int) -> Iterable[int]:
    return range(low, min(high, MOST) + 1)
