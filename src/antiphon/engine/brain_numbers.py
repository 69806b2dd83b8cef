"""Numbers as people say them: digit by digit, in pairs, as cardinals, or typed."""

from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.engine.brain_words import Token

_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SMALL = {
    **{word: value for value, word in enumerate(_ONES + _TEENS)},
    **{word: 20 + 10 * step for step, word in enumerate(_TENS)},
    "fourty": 40,
}
"""Number words below one hundred and their values."""
_ORDINAL_ONES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
                 "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
                 "eighteenth", "nineteenth", "twentieth"]  # fmt: skip
ORDINALS = {**{word: value for value, word in enumerate(_ORDINAL_ONES, 1)}, "thirtieth": 30}
_TIMES = {"double": 2, "triple": 3}
_ZERO = ("o", "oh", "nought", "naught")
# What recognisers write for a digit.
_SOUNDS = {"for": 4, "fore": 4, "to": 2, "too": 2, "won": 1, "ate": 8, "tree": 3}
_LAST_SOUNDS = ("won", "ate", "tree")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A number in tokens ``start`` to ``end``: its ``digits`` as said, and its ``value`` as one number."""

    digits: str
    start: int
    end: int

    @property
    def value(self) -> int:
        return int(self.digits)


def numbers_in(
    tokens: Sequence[Token], used: Sequence[bool] | None = None, *, sounds: bool = False
) -> list[Spoken]:
    """All numbers, in order. Neighbouring groups are one number ("forty-seven eleven" is 4711); ``used`` tokens and
    punctuation after four digits or more part them. ``sounds``: words that sound like digits count beside digits."""
    found: list[Spoken] = []
    at = 0
    while at < len(tokens):
        end = at
        groups: list[str] = []
        while end < len(tokens) and not (used is not None and used[end]):
            group, after = _group(tokens, end, inside=bool(groups), sounds=sounds)
            if not group or (groups and tokens[end].after_break and len("".join(groups)) >= 4):
                break
            groups.append(group)
            end = after
        if groups:
            found.append(Spoken("".join(groups), at, end))
        at = max(end, at + 1)
    return found


def _group(tokens: Sequence[Token], at: int, *, inside: bool, sounds: bool) -> tuple[str, int]:
    """One group of digits at ``at``, and where it ends; empty if there is none."""
    word = tokens[at].text
    follows = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if word.isdecimal():
        return word, at + 1
    if word in _TIMES and (follows in SMALL or follows.isdecimal()):
        digit = follows if follows.isdecimal() else str(SMALL[follows])
        return digit * _TIMES[word], at + 2
    if word in _ZERO and (inside or follows in SMALL):
        return "0", at + 1
    single = SMALL.get(follows, 10) < 10 or (follows.isdecimal() and len(follows) == 1)
    if sounds and word in _SOUNDS and (single or (inside and word in _LAST_SOUNDS)):
        return str(_SOUNDS[word]), at + 1
    if word in SMALL:
        return _cardinal(tokens, at)
    return "", at


def _cardinal(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """Grammar of one cardinal: [n thousand] [n hundred] [and] [tens] [ones]; ends where no word can attach."""
    total, current, end = 0, 0, at
    room = 100  # what may still be added must be smaller than this
    while end < len(tokens):
        word = tokens[end].text
        if word in SMALL and SMALL[word] < room and not (room == 10 and SMALL[word] == 0):
            current += SMALL[word]
            room = 10 if SMALL[word] >= 20 else 0
        elif word == "hundred" and 0 < current < 100:
            current, room = current * 100, 100
        elif word == "thousand" and 0 < current < 1000:
            total, current, room = current * 1000, 0, 1000
        elif word == "and" and room == 100 and (current or total):
            if end + 1 >= len(tokens) or tokens[end + 1].text not in SMALL:
                break
        else:
            break
        end += 1
        if room == 1000:
            room = 100
    return str(total + current), end


def ordinal_at(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """A day of the month or the like: "5th", "fifth", "twenty-first". Returns (value, end); value 0 if none."""
    word = tokens[at].text
    if word[:-2].isdecimal() and word[-2:] in ("st", "nd", "rd", "th"):
        return int(word[:-2]), at + 1
    if word in ORDINALS:
        return ORDINALS[word], at + 1
    if word in ("twenty", "thirty") and at + 1 < len(tokens) and ORDINALS.get(tokens[at + 1].text, 99) < 10:
        return SMALL[word] + ORDINALS[tokens[at + 1].text], at + 2
    return 0, at
