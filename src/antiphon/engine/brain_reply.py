"""Replies: templates over slots and a tool's result.

``{name}`` is a value, ``{name.field}`` a field of it, ``{name|filter}`` a value as it is said: ``digits`` (one by one),
``day`` (a date), ``clock`` (a time), ``money`` (a number of cents with the currency's word after a colon:
``{total_cents|money:euros}``), ``list`` ("a, b and c"). An unknown name is said as nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from antiphon.engine.brain_book import Reply
from antiphon.engine.brain_dates import MONTHS, WEEKDAYS

_FIELD = re.compile(r"\{([\w.]+)(?:\|([a-z]+)(?::([^}]*))?)?\}")


def fill(template: str, values: Mapping[str, Any], today: date) -> str:
    """The template with its values put in, spaces made good."""
    text = _FIELD.sub(lambda m: say(_value(values, m[1]), m[2] or "", m[3] or "", today), template)
    return re.sub(r"\s+([.,?!])", r"\1", re.sub(r"\s+", " ", text)).strip()


def choose(replies: Sequence[Reply], values: Mapping[str, Any]) -> Reply | None:
    """The first reply whose every condition holds."""
    return next((r for r in replies if all(_value(values, name) == wanted for name, wanted in r.when.items())), None)


def result_values(content: str) -> dict[str, Any]:
    """The fields of a tool's result; what is no JSON object is under ``text``."""
    try:
        value = json.loads(content)
    except ValueError:
        value = content
    if isinstance(value, dict):
        return value
    return {"text": value if isinstance(value, str) else json.dumps(value)}


def say(value: Any, how: str, detail: str, today: date) -> str:
    """One value as it is said; a value that does not fit its filter is said as it is."""
    if value is None:
        return ""
    if how == "list" or (isinstance(value, list) and not how):
        return and_list([str(one) for one in value]) if isinstance(value, list) else str(value)
    if how == "digits":
        return " ".join(str(value))
    if how == "money" and isinstance(value, int | float):
        whole, cents = divmod(round(value), 100)
        return f"{whole} {detail}" if not cents else f"{whole} {detail} {cents:02d}"
    if how == "day":
        return say_day(str(value), today)
    if how == "clock" and re.fullmatch(r"\d{2}:\d{2}", str(value)):
        hour, minute = map(int, str(value).split(":"))
        half = "AM" if hour < 12 else "PM"
        return f"{(hour - 1) % 12 + 1}{f':{minute:02d}' if minute else ''} {half}"
    return str(value)


def say_day(value: str, today: date) -> str:
    """An ISO date as it is said: today, tomorrow, or "Thursday, December 3"."""
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return value
    near = {0: "today", 1: "tomorrow"}.get((day - today).days)
    return near or f"{WEEKDAYS[day.weekday()].capitalize()}, {MONTHS[day.month - 1].capitalize()} {day.day}"


def and_list(items: Sequence[str], last: str = "and") -> str:
    """ "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""


def _value(values: Mapping[str, Any], path: str) -> Any:
    value: Any = values
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
