"""Dates and times of day, written out: with their month, an ordinal day, and years as they are read."""

import re
from datetime import date

from antiphon.text.ordinal_days import ordinal_day
from antiphon.text.verbal_forms import Forms, plain_digits

_ISO_DATE = re.compile(r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/-])\.?")
_DATE = re.compile(r"(?<![\d./-])(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d{2})(?![\d/-])(?:\.(?=\s+[^\W\d_A-Z]))?")
_DAY_MONTH = re.compile(r"(?<![\d./-])(\d{1,2})\.(\d{1,2})\.(?![\d.])")
_TIME = re.compile(
    r"(?<![\d:])(?<!\d[.,])([01]?\d|2[0-4])(?::|[hH](?=\d\d\b))([0-5]\d)(?![\d:])(?:\s?(?:Uhr|uur|h)\b)?"
)
_CENTURIES = range(1100, 2000)


def say_dates(text: str, forms: Forms) -> str:
    """Days with the names of their months, and with years if these are written."""
    return _numeric(_written_days(text, forms), forms)


def say_times(text: str, forms: Forms) -> str:
    return _TIME.sub(lambda m: _say_time(int(m[1]), int(m[2]), forms), text)


def _written_days(text: str, forms: Forms) -> str:
    """ "3. Oktober", "3 октября": the day as an ordinal, where the language has one."""
    if not forms.months or ordinal_day(1, forms.code) is None:
        return text
    months = "|".join(map(re.escape, forms.months))
    return re.sub(
        rf"(?<![\d.,])(\d{{1,2}})\.?\s(?=(?:{months})\b)",
        lambda m: (ordinal_day(int(m[1]), forms.code, text[: m.start()]) or m[1]) + " ",
        text,
        flags=re.IGNORECASE,
    )


def _numeric(text: str, forms: Forms) -> str:
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
    said = re.sub(r"\s[гр]\.$|ค\.ศ\.\s?", "", plain_digits(said)).replace(",", "").replace("،", "")
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
