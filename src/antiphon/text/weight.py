"""How long a text is to say, and how many words it counts for, before anybody has read it."""

import re
from dataclasses import dataclass

from antiphon.text.languages import UNSPACED

ATOM = "\ue000"
"""Stands for one spelled or phonemic piece in the chunker's text."""

_DIGIT_WEIGHT = 3
_WIDE_WEIGHT = 3
_ATOM_WEIGHT = 24
_WORD = re.compile(r"\S+")
_ASCII_DIGIT = re.compile("[0-9]")


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one unit may hold. Characters are weighed: digits and Han take longer to say than letters."""

    chars: int = 160
    words: int = 25


def weight(text: str) -> int:
    """How long ``text`` is to say, in letters."""
    if text.isascii():  # most text: no look at each character
        return len(text) + (_DIGIT_WEIGHT - 1) * len(_ASCII_DIGIT.findall(text))
    return sum(char_weight(c) for c in text)


def char_weight(c: str) -> int:
    if c.isdigit():
        return _DIGIT_WEIGHT
    if c == ATOM:
        return _ATOM_WEIGHT
    return _WIDE_WEIGHT if c > "\u2e7f" and UNSPACED.match(c) else 1


def word_count(text: str) -> int:
    """How many words ``text`` counts for: a run of Han counts by twos, a long number by its digits."""
    count = 0
    for word in _WORD.findall(text):
        if word.isascii() and word.isalpha():
            count += 1
            continue
        atoms = word.count(ATOM)
        wide = len(UNSPACED.findall(word))
        digits = sum(c.isdigit() for c in word)
        if wide or atoms:
            count += max(1, wide // 2) + 2 * atoms
        elif any(c.isalnum() for c in word):
            count += max(1, digits // 2)
    return count
