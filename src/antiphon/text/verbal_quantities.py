"""Sums of money, measures, plain numbers and long runs of digits, with names in the right plural."""

import re
from functools import cache
from typing import Any

from antiphon.text.verbal_forms import Forms, plain_digits

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
_NEGATIVE = re.compile(r"(?<![\w)\]-])[-−](?=\d)")
_PERCENT = re.compile(rf"({_NUMBER}){_SPACE}?[%٪]")
_LEADING_ZERO = re.compile(r"(?<![\w.,:])0\d+(?![\w.,:]\d)")
_GROUPED = re.compile(r"\d{1,3}([.,'’ \u00a0\u202f\u2009])(?:\d{2,3}\1)*\d{3}(?:(?!\1)[.,]\d+)?")


def say_phones(text: str) -> str:
    """Telephone numbers by groups of single digits."""
    return _PHONE.sub(_phone, text)


def say_money(text: str, forms: Forms) -> str:
    """Needs the CLDR, as :func:`say_measures` does: ``forms.locale``."""
    signs, before, after = _sign_patterns(forms.code)
    if not any(sign in text for sign in signs):
        return text
    text = before.sub(lambda m: _money(m[2], signs[m[1]], forms), text)
    return after.sub(lambda m: _money(m[1], signs[m[2]], forms), text)


def say_measures(text: str, forms: Forms) -> str:
    return _unit_pattern().sub(lambda m: _measure(m[1], _UNITS[m[2]], forms), text)


def say_numbers(text: str, forms: Forms) -> str:
    """What is left: percent, signs, codes that begin with 0, grouped and fractional numbers."""
    if (percent := forms.words.get("percent")) is not None:
        # The space keeps a comma after the sign from joining what comes next to the number.
        text = _PERCENT.sub(lambda m: percent.format(n=m[1]) + " ", text)
    if (minus := forms.words.get("minus")) is not None:
        text = _NEGATIVE.sub(f"{minus} ", text)
    text = _LEADING_ZERO.sub(lambda m: " ".join(m[0]), text)
    return re.sub(_NUMBER, lambda m: _number(m[0], forms), text)


@cache
def _sign_patterns(code: str) -> tuple[dict[str, str], re.Pattern[str], re.Pattern[str]]:
    signs = {**_SIGNS, **_LOCAL_SIGNS.get(code, {}), **{name: name for name in _CODES.split()}}
    any_sign = "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))
    before = re.compile(rf"(?<![A-Za-z0-9])({any_sign}){_SPACE}?({_NUMBER})")
    after = re.compile(rf"(?<![\w.,])({_NUMBER}){_SPACE}?({any_sign})(?!\w)")
    return signs, before, after


def _money(written: str, currency: str, forms: Forms) -> str:
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


def _measure(written: str, unit: str, forms: Forms) -> str:
    from babel.units import format_unit

    whole, fraction = _parts(written, forms)
    value: Any = float(f"{whole}.{fraction}") if fraction else int(whole)
    said = format_unit(value, unit, "long", format="0.###", locale=forms.locale, numbering_system="latn")
    return plain_digits(said)


def _number(written: str, forms: Forms) -> str:
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


def _phone(match: re.Match[str]) -> str:
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
