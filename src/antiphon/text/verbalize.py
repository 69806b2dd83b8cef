"""Dates, times, sums of money, measures and numbers in languages other than English, made readable.

Readers of these languages (eSpeak NG) say plain figures by themselves, in every language; what they lack is what this
module writes out: dates with their month and an ordinal day, times, currencies and units with their names in the right
plural, grouped and negative numbers, long runs of digits. Names, plurals and the order of dates come from the Unicode
CLDR by way of Babel (extra ``espeak``); without Babel only digits are put in order. Words that the CLDR has not are in
``data/verbal.toml``.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from antiphon.text.languages import base_language
from antiphon.text.ordinal_days import ordinal_day

_SIGNS = {
    "€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "₴": "UAH",
    "₫": "VND", "฿": "THB", "₪": "ILS", "₱": "PHP", "R$": "BRL", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "лв": "BGN",
}  # fmt: skip
_LOCAL_SIGNS = {"zh": {"¥": "CNY", "元": "CNY"}, "sv": {"kr": "SEK"}, "da": {"kr": "DKK"}, "no": {"kr": "NOK"}}
_CODES = "EUR USD GBP JPY CNY INR RUB TRY KRW UAH CHF SEK NOK DKK PLN CZK HUF RON BGN BRL CAD AUD"
_UNITS = {
    "km/h": "kilometer-per-hour", "m/s": "meter-per-second", "km²": "square-kilometer", "m²": "square-meter",
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "m": "meter", "kg": "kilogram", "mg": "milligram",
    "g": "gram", "ml": "milliliter", "l": "liter", "°C": "celsius", "°F": "fahrenheit", "°": "degree",
    "kWh": "kilowatt-hour", "kW": "kilowatt", "W": "watt", "GB": "gigabyte", "MB": "megabyte", "TB": "terabyte",
    "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz", "Hz": "hertz", "ms": "millisecond", "min": "minute",
}  # fmt: skip
_SPACE = r"[ \u00a0\u202f\u2009]"
_NUMBER = r"(?:[1-9]\d{0,2}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’\u00a0\u202f\u2009]\d+)*)"
_LONG_RUN = 7
"""So many digits without grouping are a code or a telephone number, not a quantity."""
_PHONE = re.compile(r"(?<![\w+])(?:\+\d{1,4}|\(?0\d{1,5}\)?)(?:[ ()/\u00a0-]{1,2}\d{1,8}){1,6}(?!\d)")
_ISO_DATE = re.compile(r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/-])\.?")
_DATE = re.compile(r"(?<![\d./-])(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d{2})(?![\d/-])(?:\.(?=\s+[^\W\d_A-Z]))?")
_DAY_MONTH = re.compile(r"(?<![\d./-])(\d{1,2})\.(\d{1,2})\.(?![\d.])")
_TIME = re.compile(
    r"(?<![\d:])(?<!\d[.,])([01]?\d|2[0-4])(?::|[hH](?=\d\d\b))([0-5]\d)(?![\d:])(?:\s?(?:Uhr|uur|h)\b)?"
)
_NEGATIVE = re.compile(r"(?<![\w)\]-])[-−](?=\d)")
_PERCENT = re.compile(rf"({_NUMBER}){_SPACE}?[%٪]")
_GROUPED = re.compile(r"\d{1,3}([.,'’ \u00a0\u202f\u2009])(?:\d{2,3}\1)*\d{3}(?:(?!\1)[.,]\d+)?")
_LEADING_ZERO = re.compile(r"(?<![\w.,:])0\d+(?![\w.,:]\d)")
_CENTURIES = range(1100, 2000)


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


def verbalize(text: str, language: str) -> str:
    """``text`` with written forms turned into what a reader of ``language`` says. Linear; never fails."""
    text = _plain_digits(text)
    if not any(c.isdigit() for c in text):
        return _tidy(text)
    forms = forms_of(language)
    text = _written_days(text, forms)
    text = _dates(text, forms)
    text = _TIME.sub(lambda m: _say_time(int(m[1]), int(m[2]), forms), text)
    text = _PHONE.sub(_say_phone, text)
    if forms.locale:
        text = _money(text, forms)
        text = _measures(text, forms)
    if (percent := forms.words.get("percent")) is not None:
        # The space keeps a comma after the sign from joining what comes next to the number.
        text = _PERCENT.sub(lambda m: percent.format(n=m[1]) + " ", text)
    if (minus := forms.words.get("minus")) is not None:
        text = _NEGATIVE.sub(f"{minus} ", text)
    text = _LEADING_ZERO.sub(lambda m: " ".join(m[0]), text)
    return _tidy(re.sub(_NUMBER, lambda m: _say_number(m[0], forms), text))


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


def _plain_digits(text: str) -> str:
    """Digits of every script as 0 to 9: readers know those best."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() and not c.isascii() else c for c in text)


# -- dates and times ---------------------------------------------------------------------------


def _written_days(text: str, forms: Forms) -> str:
    """"3. Oktober", "3 октября": the day as an ordinal, where the language has one."""
    if not forms.months or ordinal_day(1, forms.code) is None:
        return text
    months = "|".join(map(re.escape, forms.months))
    return re.sub(
        rf"(?<![\d.,])(\d{{1,2}})\.?\s(?=(?:{months})\b)",
        lambda m: (ordinal_day(int(m[1]), forms.code, text[: m.start()]) or m[1]) + " ",
        text,
        flags=re.IGNORECASE,
    )


def _dates(text: str, forms: Forms) -> str:
    text = _ISO_DATE.sub(lambda m: _say_date(m, (int(m[1]), int(m[3]), int(m[4])), forms), text)
    text = _DATE.sub(lambda m: _say_date(m, _in_order(m, forms), forms), text)
    if forms.decimal == ",":
        text = _DAY_MONTH.sub(lambda m: _say_day(m, forms), text)
    return text


def _in_order(match: re.Match[str], forms: Forms) -> tuple[int, int, int]:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if len(match[4]) == 2:
        year += 2000 if year < 70 else 1900
    month_first = forms.month_first and match[2] != "."
    if (second if not month_first else first) > 12:  # it cannot be the month
        month_first = not month_first
    return (year, first, second) if month_first else (year, second, first)


def _say_date(match: re.Match[str], when: tuple[int, int, int], forms: Forms) -> str:
    try:
        day = date(*when)
    except ValueError:
        return match[0]
    if not forms.locale:
        return match[0]
    from babel.dates import format_date

    said = format_date(day, "long", locale=forms.locale)
    # Marks of the year ("2024 г.", "ค.ศ.") are written, and said by nobody.
    said = re.sub(r"\s[гр]\.$|ค\.ศ\.\s?", "", _plain_digits(said)).replace(",", "").replace("،", "")
    said = re.sub(r"(?<=\d{4})\.$", "", said)
    return _say_years(_ordinal_of(said, match.string[: match.start()], forms), day.year, forms)


def _ordinal_of(said: str, before: str, forms: Forms) -> str:
    day = re.match(r"(\d{1,2})\.?\s", said)
    ordinal = None if day is None else ordinal_day(int(day[1]), forms.code, before)
    return said if day is None or ordinal is None else f"{ordinal} {said[day.end() :]}"


def _say_years(text: str, year: int, forms: Forms) -> str:
    word = forms.words.get("centuries")
    if word is None or year not in _CENTURIES:
        return text
    rest = str(year % 100) if year % 100 else ""
    return text.replace(str(year), f"{year // 100} {word} {rest}".strip())


def _say_day(match: re.Match[str], forms: Forms) -> str:
    day, month = int(match[1]), int(match[2])
    if not (1 <= day <= 31 and 1 <= month <= 12) or not forms.months:
        return match[0]
    ordinal = ordinal_day(day, forms.code, match.string[: match.start()])
    return f"{ordinal or f'{day}.'} {forms.months[month - 1]}"


def _say_time(hour: int, minute: int, forms: Forms) -> str:
    if minute == 0:
        return forms.words.get("hour", "{h}").format(h=hour)
    shown = str(minute) if minute > 9 or "time" in forms.words else f"0 {minute}"
    return forms.words.get("time", "{h} {m}").format(h=hour, m=shown)


# -- quantities --------------------------------------------------------------------------------


@cache
def _sign_patterns(code: str) -> tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]:
    signs = {**_SIGNS, **_LOCAL_SIGNS.get(code, {}), **{name: name for name in _CODES.split()}}
    any_sign = "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))
    before = re.compile(rf"(?<![A-Za-z0-9])({any_sign}){_SPACE}?({_NUMBER})")
    after = re.compile(rf"(?<![\w.,])({_NUMBER}){_SPACE}?({any_sign})(?!\w)")
    return signs, before, after


def _money(text: str, forms: Forms) -> str:
    signs, before, after = _sign_patterns(forms.code)
    if not any(sign in text for sign in signs):
        return text
    text = before.sub(lambda m: _say_money(m[2], signs[m[1]], forms), text)
    return after.sub(lambda m: _say_money(m[1], signs[m[2]], forms), text)


def _say_money(written: str, currency: str, forms: Forms) -> str:
    from babel.numbers import get_currency_name

    whole, fraction = _parts(written, forms)
    name = get_currency_name(currency, count=int(whole), locale=forms.locale)
    cents = fraction if len(fraction) == 2 else fraction + "0" if len(fraction) == 1 else ""
    if len(fraction) > 2:
        return f"{_joined(whole, fraction, forms)} {name}"
    return f"{whole} {name}" + (f" {int(cents)}" if cents and int(cents) else "")


@cache
def _unit_pattern() -> re.Pattern[str]:
    names = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
    return re.compile(rf"(?<![\w.,])({_NUMBER}){_SPACE}?({names})(?![\w/²³])")


def _measures(text: str, forms: Forms) -> str:
    return _unit_pattern().sub(lambda m: _say_measure(m[1], _UNITS[m[2]], forms), text)


def _say_measure(written: str, unit: str, forms: Forms) -> str:
    from babel.units import format_unit

    whole, fraction = _parts(written, forms)
    value: Any = float(f"{whole}.{fraction}") if fraction else int(whole)
    said = format_unit(value, unit, "long", format="0.###", locale=forms.locale, numbering_system="latn")
    return _plain_digits(said)


def _say_number(written: str, forms: Forms) -> str:
    if len(re.findall(r"[.,]", written)) > 1 and not _grouped(written):
        return written  # 1.2.3: no quantity
    whole, fraction = _parts(written, forms)
    if not fraction and len(whole) >= _LONG_RUN and whole == written and not whole.endswith("000"):
        return _digit_groups(whole)
    return _joined(whole, fraction, forms)


def _grouped(written: str) -> bool:
    return _GROUPED.fullmatch(written) is not None


def _parts(written: str, forms: Forms) -> tuple[str, str]:
    """Whole and fractional digits of a number, by the language's own marks first, else by its shape."""
    marks = [c for c in written if not c.isdigit()]
    if not marks:
        return written, ""
    last, tail = marks[-1], re.split(r"\D", written)[-1]
    decimal = last == forms.decimal if last in (forms.decimal, forms.group) else last in ".,"
    if last == forms.group and last in ".," and len(tail) != 3:
        decimal = True  # 3.5 where a point groups thousands
    if last == forms.decimal and len(marks) > 1 and marks[-2] == last:
        decimal = False  # 1,234,567 where a comma is the decimal mark
    digits = re.sub(r"\D", "", written)
    return (digits[: -len(tail)], tail) if decimal and len(digits) > len(tail) else (digits, "")


def _joined(whole: str, fraction: str, forms: Forms) -> str:
    if not fraction:
        return whole
    return f"{whole}{forms.words.get('point', forms.decimal)}{fraction}"


def _say_phone(match: re.Match[str]) -> str:
    written = match[0]
    digits = re.sub(r"\D", "", written)
    plus = written.startswith("+")
    if len(digits) < _LONG_RUN or (not plus and (written[0] not in "0(" or _grouped(written))):
        return written
    groups = ", ".join(" ".join(group) for group in re.findall(r"\d+", written))
    return f"+ {groups}" if plus else groups


def _digit_groups(run: str) -> str:
    size = 4 if len(run) % 4 == 0 else 3
    return ", ".join(" ".join(run[at : at + size]) for at in range(0, len(run), size))


def _tidy(text: str) -> str:
    return re.sub(r" +([,.;:!?](?=\s|$))", r"\1", re.sub(r"\s+", " ", text)).strip()
