"""Measures and currencies in English words: "60 km/h", "5 mg/dL", "20 CHF"."""

import re

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"

_SIMPLE = {
    "km": "kilometer", "m": "meter", "cm": "centimeter", "mm": "millimeter", "nm": "nanometer", "µm": "micrometer",
    "μm": "micrometer", "kg": "kilogram", "g": "gram", "mg": "milligram", "µg": "microgram", "μg": "microgram",
    "mcg": "microgram", "t": "ton", "L": "liter", "l": "liter", "mL": "milliliter", "ml": "milliliter",
    "dL": "deciliter", "dl": "deciliter", "cl": "centiliter", "h": "hour", "min": "minute", "ms": "millisecond",
    "µs": "microsecond", "ns": "nanosecond", "V": "volt", "kV": "kilovolt", "mV": "millivolt", "W": "watt",
    "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt", "mA": "milliamp", "mAh": "milliamp hour", "Ah": "amp hour",
    "Wh": "watt hour", "kWh": "kilowatt hour", "MWh": "megawatt hour", "GWh": "gigawatt hour", "kN": "kilonewton",
    "Nm": "newton meter", "kJ": "kilojoule", "MJ": "megajoule", "kcal": "kilocalorie", "dB": "decibel",
    "Pa": "pascal", "hPa": "hectopascal", "kPa": "kilopascal", "ha": "hectare", "bit": "bit", "kbit": "kilobit",
    "Mbit": "megabit", "Gbit": "gigabit", "kB": "kilobyte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte",
    "TB": "terabyte", "PB": "petabyte", "KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte", "TiB": "tebibyte",
    "px": "pixel", "mmol": "millimole", "mol": "mole", "IU": "international unit", "ft": "foot", "mi": "mile",
    "yd": "yard", "lb": "pound", "oz": "ounce", "gal": "gallon", "MP": "megapixel", "s": "second", "sec": "second",
}  # fmt: skip
_SAME = {
    "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz", "THz": "terahertz", "rpm": "R P M",
    "bpm": "beats per minute", "ppm": "parts per million", "ppb": "parts per billion", "psi": "P S I", "bar": "bar",
    "mmHg": "millimeters of mercury", "fps": "frames per second", "dpi": "dots per inch", "mph": "miles per hour",
    "kph": "kilometers per hour", "kmh": "kilometers per hour", "mpg": "miles per gallon",
    "kbps": "kilobits per second", "Kbps": "kilobits per second", "Mbps": "megabits per second",
    "Gbps": "gigabits per second", "VAC": "volts A C", "VDC": "volts D C",
}  # fmt: skip
_PER = {
    "s": "second", "sec": "second", "h": "hour", "hr": "hour", "min": "minute", "d": "day",
    "100km": "hundred kilometers",
}  # fmt: skip
_POWERS = {"²": "square", "2": "square", "³": "cubic", "3": "cubic"}
# A lone letter needs care: "5 s" and "5 t" are measures, "5s" and "5t" may be anything.
_SPACE_ONLY = frozenset({"s", "t", "MP", "mol"})

_SIMPLE_ALT = "|".join(sorted(map(re.escape, _SIMPLE), key=len, reverse=True))
_SAME_ALT = "|".join(sorted(_SAME, key=len, reverse=True))
_COMPOUND = re.compile(
    rf"(?<![\w.])({_NUMBER})\s?({_SIMPLE_ALT})([²³])?\s?/\s?({_SIMPLE_ALT}|sec|hr|d|100\s?km)([²³])?(?![\w/])"
)
_SQUARE = re.compile(
    rf"(?<![\w.])({_NUMBER})\s?(km|cm|mm|m|ft|mi|in|yd)([²³23])(?!\w)"
    rf"|(?<![\w.])({_NUMBER})\s?(sq|cu)\.?\s(ft|mi|m|km|in|yd)\b"
)
_PLAIN = re.compile(rf"(?<![\w.$£€¥])({_NUMBER})(\s?)({_SIMPLE_ALT}|{_SAME_ALT})(?![\w'’/])")
_FEET = re.compile(r"(?<![\w.])(\d{1,2})['′]\s?(\d{1,2})(?:[\"″]|'')")
_INCHES = re.compile(rf"(?<![\w.])({_NUMBER})(?:″|-inch\b)")

_WORDS = {
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "m": "meter", "ft": "foot", "mi": "mile", "in": "inch",
    "yd": "yard",
}  # fmt: skip
_IRREGULAR = {"foot": "feet", "inch": "inches", "hertz": "hertz"}

_CURRENCIES = {
    "US$": ("U.S. dollar", "U.S. dollars"), "C$": ("Canadian dollar", "Canadian dollars"),
    "CA$": ("Canadian dollar", "Canadian dollars"), "A$": ("Australian dollar", "Australian dollars"),
    "AU$": ("Australian dollar", "Australian dollars"), "NZ$": ("New Zealand dollar", "New Zealand dollars"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars"), "S$": ("Singapore dollar", "Singapore dollars"),
    "R$": ("real", "reais"), "₽": ("ruble", "rubles"), "₺": ("lira", "lira"), "₴": ("hryvnia", "hryvnia"),
    "₪": ("shekel", "shekels"), "฿": ("baht", "baht"), "₫": ("dong", "dong"), "₱": ("peso", "pesos"),
    "₦": ("naira", "naira"), "₿": ("bitcoin", "bitcoin"), "₹": ("rupee", "rupees"), "₩": ("won", "won"),
    "¥": ("yen", "yen"), "zł": ("zloty", "zlotys"), "kr": ("krona", "kronor"),
    "USD": ("U.S. dollar", "U.S. dollars"), "EUR": ("euro", "euros"), "GBP": ("pound", "pounds"), "JPY": ("yen", "yen"),
    "CHF": ("Swiss franc", "Swiss francs"), "CAD": ("Canadian dollar", "Canadian dollars"),
    "AUD": ("Australian dollar", "Australian dollars"), "NZD": ("New Zealand dollar", "New Zealand dollars"),
    "INR": ("rupee", "rupees"), "CNY": ("yuan", "yuan"), "RMB": ("yuan", "yuan"), "SEK": ("krona", "kronor"),
    "NOK": ("krone", "kroner"), "DKK": ("krone", "kroner"), "PLN": ("zloty", "zlotys"), "BRL": ("real", "reais"),
    "MXN": ("Mexican peso", "Mexican pesos"), "SGD": ("Singapore dollar", "Singapore dollars"), "BTC": ("bitcoin",
    "bitcoin"),
}  # fmt: skip
_SCALE = {
    "k": "thousand", "m": "million", "mn": "million", "mio": "million", "b": "billion", "bn": "billion",
    "t": "trillion", "tn": "trillion",
}  # fmt: skip
_CURRENCY_ALT = "|".join(sorted(map(re.escape, _CURRENCIES), key=len, reverse=True))
_SCALE_ALT = r"(?:\s?(hundred|thousand|million|billion|trillion)\b|(k|K|mn|m|M|mio|bn|b|B|T)\b)?"
_BEFORE = re.compile(rf"(?<![\w$])({_CURRENCY_ALT})\s?({_NUMBER}){_SCALE_ALT}")
_AFTER = re.compile(rf"(?<![\w.$£€])({_NUMBER}){_SCALE_ALT}\s?({_CURRENCY_ALT})(?!\w)")
_SIGN_AFTER = re.compile(rf"(?<![\w.$£€])({_NUMBER})\s?([$£€])(?![\d\w])")
_COMMA_AMOUNT = re.compile(r"(?<![\w.,])(?:(€)\s?(\d+),(\d\d)|(\d+),(\d\d)\s?€)(?!\w)")
_SIGN_RANGE = re.compile(rf"([$£€])({_NUMBER}) to ({_NUMBER})(?![\w%,])(?!\.\d)")
_SIGN_BEFORE = re.compile(
    rf"([$£€])\s?({_NUMBER})"
    r"(?:\s?(hundred|thousand|million|billion|trillion)\b|\s?(k|K|mn|m|M|mio|bn|b|B|tn|T)\b)?"
)
_SIGNS = {"$": ("dollar", "cent", "cents"), "£": ("pound", "penny", "pence"), "€": ("euro", "cent", "cents")}


def measures(text: str) -> str:
    """Numbers with units in words; a unit without a number stays."""
    text = _FEET.sub(lambda m: f"{m.group(1)} {_plural(m.group(1), 'foot')} {m.group(2)}", text)
    text = _INCHES.sub(lambda m: f"{m.group(1)} inch" if m.group().endswith("h") else f"{m.group(1)} inches", text)
    text = _COMPOUND.sub(_compound, text)
    text = _SQUARE.sub(_square, text)
    return _PLAIN.sub(_plain, text)


def currencies(text: str) -> str:
    """Amounts of money in words: "$29.50" is "29 dollars and 50 cents"."""
    text = _COMMA_AMOUNT.sub(lambda m: f"€{m.group(2) or m.group(4)}.{m.group(3) or m.group(5)}", text)
    text = _SIGN_AFTER.sub(r"\2\1", text)
    text = _BEFORE.sub(lambda m: _amount(m.group(2), m.group(3) or m.group(4), m.group(1)), text)
    text = _AFTER.sub(lambda m: _amount(m.group(1), m.group(2) or m.group(3), m.group(4)), text)
    text = _SIGN_RANGE.sub(lambda m: f"{m.group(2)} to {m.group(3)} {_SIGNS[m.group(1)][0]}s", text)
    return _SIGN_BEFORE.sub(_signed, text)


def _signed(match: re.Match[str]) -> str:
    sign, number, scale, short = match.groups()
    unit, small, smalls = _SIGNS[sign]
    if scale or short:
        return f"{number} {scale or _SCALE[short.lower()]} {unit}s"
    whole, point, fraction = number.partition(".")
    if len(fraction) == 2 and fraction != "00":
        cents = f"{int(fraction)} {small if fraction == '01' else smalls}"
        return cents if whole == "0" else f"{whole} {_plural(whole, unit)} and {cents}"
    if point and fraction != "00":
        return f"{number} {unit}s"
    return f"{whole} {_plural(whole, unit)}"


def _amount(number: str, scale: str | None, currency: str) -> str:
    one, many = _CURRENCIES[currency]
    if scale:
        return f"{number} {_SCALE.get(scale.lower(), scale)} {many}"
    return f"{number} {one if number in ('1', '1.00') else many}"


def _plural(number: str, word: str) -> str:
    if number in ("1", "1.0"):
        return word
    head, _, last = word.rpartition(" ")
    last = _IRREGULAR.get(last, last + "s")
    return f"{head} {last}" if head else last


def _compound(match: re.Match[str]) -> str:
    number, unit, power, per, per_power = match.groups()
    said = f"{_POWERS[power]} {_SIMPLE[unit]}" if power else _SIMPLE[unit]
    per = per.replace(" ", "")
    below = _PER.get(per) or _SIMPLE[per]
    if per_power and per == "s":
        return f"{number} {_plural(number, said)} per second squared"
    return f"{number} {_plural(number, said)} per {_POWERS[per_power] + ' ' if per_power else ''}{below}"


def _square(match: re.Match[str]) -> str:
    number, unit, power, number_b, kind, unit_b = match.groups()
    if number is None:
        return f"{number_b} {_plural(number_b, ('square ' if kind == 'sq' else 'cubic ') + _WORDS[unit_b])}"
    return f"{number} {_plural(number, _POWERS[power] + ' ' + _WORDS[unit])}"


def _plain(match: re.Match[str]) -> str:
    number, space, unit = match.groups()
    if unit in _SPACE_ONLY and not space:
        return match.group()
    if unit in _SAME:
        return f"{number} {_SAME[unit]}"
    return f"{number} {_plural(number, _SIMPLE[unit])}"
