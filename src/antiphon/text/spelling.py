"""Readings made of letters and digits: codes, telephone numbers, spelled text. English."""

import re
import unicodedata

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

SYMBOLS = {
    ".": "dot", ",": "comma", "-": "dash", "–": "dash", "—": "dash", "_": "underscore", "/": "slash", "\\": "backslash",
    "@": "at", "#": "hash", "+": "plus", "=": "equals", "&": "and", "*": "star", "%": "percent", "$": "dollar",
    "£": "pound", "€": "euro", ":": "colon", ";": "semicolon", "!": "exclamation mark", "?": "question mark",
    "'": "apostrophe", '"': "quote", "(": "open bracket", ")": "close bracket", "[": "open bracket",
    "]": "close bracket", "<": "less than", ">": "greater than", "~": "tilde", "^": "caret", "|": "bar", "°": "degree",
}  # fmt: skip


def cardinal(number: int) -> str:
    """A number below a million in words: ``cardinal(192) == "one hundred ninety two"``; larger ones digit by digit."""
    if number >= 1_000_000:
        return digits(str(number))
    if number >= 1_000:
        high, low = divmod(number, 1_000)
        return f"{cardinal(high)} thousand" + (f" {cardinal(low)}" if low else "")
    if number >= 100:
        high, low = divmod(number, 100)
        return f"{DIGITS[high]} hundred" + (f" {cardinal(low)}" if low else "")
    if number >= 20:
        high, low = divmod(number, 10)
        return _TENS[high] + (f" {DIGITS[low]}" if low else "")
    return _TEENS[number - 10] if number >= 10 else DIGITS[number]


def digits(run: str) -> str:
    """Digits one by one, in groups of three or four: "one two three, four five six seven"."""
    return ", ".join(" ".join(DIGITS[int(d)] for d in group) for group in _groups(run))


def _groups(run: str) -> list[str]:
    size = 4 if len(run) % 4 == 0 and len(run) > 4 else 3
    groups = [run[at : at + size] for at in range(0, len(run), size)]
    if len(groups) > 1 and len(groups[-1]) == 1:
        last = groups.pop()
        groups[-1] += last
    return groups


def letters(run: str) -> str:
    """Letters one by one, without accents. "A" takes a full stop, or a reader would take it for the article."""
    plain = unicodedata.normalize("NFD", run)
    return " ".join("A." if c in "aA" else c.upper() for c in plain if not unicodedata.combining(c))


def short_number(run: str) -> str:
    """Digits inside a code: up to two as a number ("MP 3", "F 16"), more of them one by one."""
    return digits(run) if len(run) > 2 or (len(run) == 2 and run[0] == "0") else cardinal(int(run))


def tidy(text: str) -> str:
    """Single spaces, none before punctuation, and no doubled marks after a letter "A."."""
    text = re.sub(r"\bA\.(?=\s*[,.;:!?])", "A", text)
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"\s+([,.;:!?](?=\s|$))", r"\1", text).strip()


def spell(text: str) -> str:
    """A speakable spelling: ``spell("AB12-C") == "A. B, one two, dash, C"``.

    Letters stand apart, digits are words, symbols are named; groups of three or four have a small pause between them.
    Letters of other scripts stand apart as they are.
    """
    parts: list[str] = []
    for run in re.findall(r"[0-9]+|[^\W\d_]+|\S", text):
        if run.isascii() and run.isdigit():
            parts.append(digits(run))
        elif run.isalpha():
            parts += [letters(group) for group in ([run] if len(run) <= 5 else _groups(run))]
        elif run.isdigit():
            parts.append(" ".join(run))
        else:
            parts.append(SYMBOLS.get(run, run))
    return tidy(", ".join(parts))
