"""How each language writes figures: marks, the order of dates, names of months, words around times and numbers.

From the Unicode CLDR by way of Babel (extra ``espeak``); words that it has not are in ``data/verbal.toml``.
"""

import tomllib
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from antiphon.text.languages import base_language


@dataclass(frozen=True, slots=True)
class Forms:
    """How one language writes and says figures. ``months``: names as they stand after a day."""

    code: str
    locale: str = ""
    decimal: str = "."
    group: str = ","
    month_first: bool = False
    months: tuple[str, ...] = ()
    words: dict[str, str] = field(default_factory=dict)


@cache
def forms_of(language: str) -> Forms:
    """Without Babel, or for a language that it does not know: plain figures."""
    code = base_language(language)
    words = _tables().get(code, {})
    try:
        from babel import Locale, UnknownLocaleError
        from babel.dates import get_date_format, get_month_names
        from babel.numbers import get_decimal_symbol, get_group_symbol
    except ImportError:
        return Forms(code, words=words)
    named = {"no": "nb", "tl": "fil", "pt": "pt_BR"}.get(code, code)
    asked = language.replace("-", "_")
    try:
        locale = Locale.parse(asked if asked.lower() != code and code not in ("no", "tl", "zh") else named)
    except (UnknownLocaleError, ValueError):
        try:
            locale = Locale.parse(named)
        except (UnknownLocaleError, ValueError):
            return Forms(code, words=words)
    pattern = get_date_format("short", locale).pattern
    return Forms(
        code,
        str(locale),
        get_decimal_symbol(locale, numbering_system="latn"),
        get_group_symbol(locale, numbering_system="latn"),
        pattern.find("M") < pattern.find("d") and not pattern.lstrip("\u200e\u200f").startswith("y"),
        tuple(get_month_names("wide", "format", locale)[month] for month in range(1, 13)),
        words,
    )


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("antiphon.text") / "data" / "verbal.toml").read_text("utf-8"))


def plain_digits(text: str) -> str:
    """Digits of every script as 0 to 9: readers know those best."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() and not c.isascii() else c for c in text)
