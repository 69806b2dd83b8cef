"""Words that mostly begin a turn, unless they answer: whether "All right." is all that somebody says depends on what
they were asked. English."""

import re

from antiphon.text import turn_words as w
from antiphon.text.turn_clauses import words_of

_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
_MOST_WORDS = 4
_SOON = 3
"""A question word this far into a question asks for more than yes or no: "for which day"."""


def only_begins(text: str) -> bool:
    """Whether these are words of a turn that have yet to say anything: "All right.", "Okay, so"."""
    words = words_of(text)
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    said = " ".join(words)
    return said != "right now" and bool(_PATTERN.fullmatch(said))


def asks_yes_or_no(text: str) -> bool:
    """Whether "all right" would be an answer: the last sentence asks for yes or no, or wants to be confirmed."""
    last = _SENTENCE.split(text.strip())[-1]
    words = words_of(last)
    said = " ".join(words)
    if not words:
        return False
    if any(phrase in f" {said} " for phrase in _CONFIRM):
        return True
    if not last.rstrip("\"'”’) ").endswith("?"):
        return False
    return not (any(word in w.WH for word in words[:_SOON]) or any(phrase in said for phrase in _WANTS_MORE))


_PATTERN = re.compile(r"(?:(?:all right|alright|okay|ok|right|well|so|now|then)(?: |$))+")
_CONFIRM = (" please confirm ", " say yes ", " say okay ", " yes or no ", " is that right ", " is that okay ")
_WANTS_MORE = ("could you tell", "can you tell", "could you give", "can you give", "may i have", "can i have",
               "could i have", "would you tell", "could you say", "can you say", "could you describe",
               "could you repeat", "can you repeat", "could you spell", "can you spell")  # fmt: skip
"""Questions for yes or no by their form alone."""
