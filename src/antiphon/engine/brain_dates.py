"""Days and times as people say them, resolved against a given today."""

import calendar
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from antiphon.engine.brain_numbers import SMALL, ordinal_at
from antiphon.engine.brain_words import Token

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
PARTS = {
    "morning": "morning", "forenoon": "morning", "afternoon": "afternoon",
    "evening": "evening", "tonight": "evening", "night": "evening",
}  # fmt: skip
_SMALL_COUNT = {"a": 1, "an": 1, **{word: value for word, value in SMALL.items() if value < 32}}


@dataclass(frozen=True, slots=True)
class Found:
    """A value said in tokens ``start`` to ``end``."""

    value: str
    start: int
    end: int


def dates_in(tokens: Sequence[Token], today: date) -> list[Found]:
    """Days, as ISO dates. A weekday is its next occurrence after today; "next Friday" is the one of the coming week;
    a day that has passed this month or year is meant for the next."""
    return _scan(tokens, lambda at: _date_at(tokens, at, today))


def times_in(tokens: Sequence[Token]) -> list[Found]:
    """Times of day as HH:MM; "at five" without am or pm is the one in office hours (8 to 19)."""
    return _scan(tokens, lambda at: _time_at(tokens, at))


def parts_in(tokens: Sequence[Token]) -> list[Found]:
    """Parts of the day: morning, afternoon, evening. Not in "good morning"."""
    return [
        Found(PARTS[token.text], at, at + 1)
        for at, token in enumerate(tokens)
        if token.text in PARTS and not (at and tokens[at - 1].text == "good")
    ]


def _scan(tokens: Sequence[Token], read: Callable[[int], tuple[str, int]]) -> list[Found]:
    found, at = [], 0
    while at < len(tokens):
        value, end = read(at)
        if value:
            found.append(Found(value, at, end))
        at = end if value else at + 1
    return found


def _words(tokens: Sequence[Token], at: int, size: int) -> list[str]:
    return [token.text for token in tokens[at : at + size]] + [""] * max(0, at + size - len(tokens))


def weekday_of(word: str) -> int | None:
    """0 for Monday; plural and possessive forms count."""
    name = word.removesuffix("'s").removesuffix("s")
    return WEEKDAYS.index(name) if name in WEEKDAYS else None


def _date_at(tokens: Sequence[Token], at: int, today: date) -> tuple[str, int]:
    day, end = _day_at(tokens, at, today)
    if day is None:
        return "", at
    # "Friday the fourth": the number only explains the weekday.
    if weekday_of(tokens[at].text) is not None and end + 1 < len(tokens) and tokens[end].text == "the":
        number, after = ordinal_at(tokens, end + 1)
        if number:
            day, end = _in_month(number, today) or day, after
    return day.isoformat(), end


def _day_at(tokens: Sequence[Token], at: int, today: date) -> tuple[date | None, int]:
    one, two, three, four = _words(tokens, at, 4)
    iso = _iso(one)
    if iso is not None:
        return iso, at + 1
    if (one, two, three) == ("day", "after", "tomorrow"):
        return today + timedelta(2), at + 3
    if one in ("today", "tonight"):
        return today, at + 1
    if one in ("tomorrow", "tomorrow's"):
        return today + timedelta(1), at + 1
    if one == "weekend":
        return today + timedelta((5 - today.weekday()) % 7), at + 1
    weekday = weekday_of(two)
    if one == "next" and weekday is not None:
        return today + timedelta(7 - today.weekday() + weekday), at + 2
    weekday = weekday_of(one)
    if weekday is not None:
        ahead = (weekday - today.weekday() - 1) % 7 + 1
        return today + timedelta(ahead + 7 * (two == "week")), at + 1 + (two == "week")
    if one == "in" and three.rstrip("s") in ("day", "week"):
        count = _SMALL_COUNT.get(two, int(two) if two.isdecimal() and len(two) < 3 else 0)
        return (today + timedelta(count * (7 if three[0] == "w" else 1)), at + 3) if count else (None, at)
    if (one, two, three, four) == ("a", "week", "from", "today"):
        return today + timedelta(7), at + 4
    return _calendar_day(tokens, at, today)


def _calendar_day(tokens: Sequence[Token], at: int, today: date) -> tuple[date | None, int]:
    """ "the fifth (of december)", "december fifth", "december 5"."""
    one, two = _words(tokens, at, 2)
    if one in MONTHS and two:
        number, end = ordinal_at(tokens, at + 1)
        if not number and two.isdecimal() and len(two) < 3:
            number, end = int(two), at + 2
        if not number and SMALL.get(two, 0) and one != "may":
            number, end = SMALL[two], at + 2
        return (_in_year(MONTHS.index(one) + 1, number, today), end) if number else (None, at)
    number, end = ordinal_at(tokens, at)
    if not number and one.isdecimal() and len(one) < 3:
        number, end = int(one), at + 1
        plain = True
    else:
        plain = False
    if not number:
        return None, at
    of, month, *_ = _words(tokens, end, 2)
    if of == "of" and month in MONTHS:
        return _in_year(MONTHS.index(month) + 1, number, today), end + 2
    if of in MONTHS:
        return _in_year(MONTHS.index(of) + 1, number, today), end + 1
    before = tokens[at - 1].text if at else ""
    return (_in_month(number, today), end) if before == "the" and not plain and of != "one" else (None, at)


def _iso(word: str) -> date | None:
    try:
        return date.fromisoformat(word) if len(word) == 10 else None
    except ValueError:
        return None


def _in_month(number: int, today: date) -> date | None:
    year, month = today.year, today.month
    for _ in range(3):
        if number <= calendar.monthrange(year, month)[1] and date(year, month, number) >= today:
            return date(year, month, number)
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return None


def _in_year(month: int, number: int, today: date) -> date | None:
    for year in range(today.year, today.year + 5):
        if number <= calendar.monthrange(year, month)[1] and date(year, month, number) >= today:
            return date(year, month, number)
    return None


def _time_at(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    one, two, three = _words(tokens, at, 3)
    if one in ("noon", "midday"):
        return "12:00", at + 1
    if one == "midnight":
        return "00:00", at + 1
    if one in ("half", "quarter") and two in ("past", "to"):
        hour = _hour(three)
        if hour is None:
            return "", at
        minutes = {"half": 30, "quarter": 15}[one]
        return (
            _clock(tokens, hour, minutes, at + 3) if two == "past" else _clock(tokens, hour - 1, 60 - minutes, at + 3)
        )
    if ":" in one:
        hour_text, minute_text = one.split(":")
        if int(hour_text) < 24 and int(minute_text) < 60:
            return _clock(tokens, int(hour_text), int(minute_text), at + 1)
        return "", at
    hour = _hour(one)
    if hour is None:
        return "", at
    if two in ("o'clock", "am", "pm", "a", "p") and (two not in ("a", "p") or three == "m"):
        return _clock(tokens, hour, 0, at + 1 + (two == "o'clock"))
    before = tokens[at - 1].text if at else ""
    if before in ("at", "by", "around", "about", "until", "till", "after", "before") and not _number_like(two):
        return _clock(tokens, hour, 0, at + 1)
    return "", at


def _hour(word: str) -> int | None:
    hour = SMALL.get(word, int(word) if word.isdecimal() and len(word) < 3 else None)
    return hour if hour is not None and 0 <= hour <= 24 and word != "zero" else None


def _number_like(word: str) -> bool:
    return word in SMALL or word.isdecimal() or word in ("double", "hundred", "thousand")


def _clock(tokens: Sequence[Token], hour: int, minute: int, end: int) -> tuple[str, int]:
    one, two = _words(tokens, end, 2)
    half = one[:1] if one in ("am", "pm") or (one in ("a", "p") and two == "m") else ""
    if half:
        end += 1 if one in ("am", "pm") else 2
        hour = hour % 12 + (12 if half == "p" else 0)
    elif 1 <= hour < 8:
        hour += 12
    return f"{hour % 24:02d}:{minute:02d}", end
