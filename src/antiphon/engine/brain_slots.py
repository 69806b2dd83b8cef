"""Values of slots out of an utterance: the last one said counts, unless it is the one that is to be left."""

import re
from collections.abc import Sequence
from datetime import date

from antiphon.engine.brain_book import Slot
from antiphon.engine.brain_dates import Found, dates_in, parts_in, times_in
from antiphon.engine.brain_numbers import numbers_in
from antiphon.engine.brain_words import STOP_WORDS, Token, find_phrase, likeness, split_at_corrections, tokens_of

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_AT_WORDS = {
    "at": "@",
    "dot": ".",
    "point": ".",
    "underscore": "_",
    "dash": "-",
    "hyphen": "-",
    "minus": "-",
    "plus": "+",
}
_NAME_LEADS = (
    ("my", "name", "is"),
    ("the", "name", "is"),
    ("this", "is"),
    ("i'm",),
    ("i", "am"),
    ("it's",),
    ("name", "is"),
)
# A day after these is the old one ("from Monday", "instead of Friday", "not Thursday").
_LEFT = frozenset(("from", "not"))
_LEFT_PAIRS = (("instead", "of"), ("rather", "than"), ("other", "than"))
# A day before these is the old one ("Friday doesn't suit me", "Tuesday is bad").
_REFUSED = (
    ("doesn't",), ("does", "not"), ("won't",), ("will", "not"), ("isn't",), ("is", "not"), ("is", "no"), ("is", "bad"),
    ("can't",), ("cannot",), ("is", "impossible"),
)  # fmt: skip
# ... or said of one's absence ("nobody's in on Tuesday", "I'm away tomorrow").
_ABSENCE = frozenset(("away", "nobody's", "nobody", "out", "busy", "travelling", "traveling"))


def read_slots(text: str, slots: Sequence[Slot], today: date, awaited: str = "") -> dict[str, str]:
    """All values said for ``slots``. ``awaited`` is the slot just asked for: a bare answer is taken for it.

    A correction within the utterance ("Friday, no, Thursday") replaces what it corrects and keeps the rest.
    """
    values: dict[str, str] = {}
    for part in split_at_corrections(tokens_of(text)):
        values |= _read_part(part, slots, today, awaited)
    for slot in slots:
        value = ""
        if slot.type == "email":
            value = read_email(text)
        elif slot.type == "name":
            value = _name(text, awaited == slot.name)
        if value:
            values[slot.name] = value
    return values


def _read_part(tokens: Sequence[Token], slots: Sequence[Slot], today: date, awaited: str) -> dict[str, str]:
    values: dict[str, str] = {}
    days, times, parts = dates_in(tokens, today), times_in(tokens), parts_in(tokens)
    used = [False] * len(tokens)
    for found in (*days, *times):
        used[found.start : found.end] = [True] * (found.end - found.start)
    numbers = numbers_in(tokens, used)
    for slot in slots:
        value = ""
        if slot.type == "date":
            value = _wanted(tokens, days)
        elif slot.type == "time":
            value = _wanted(tokens, times)
        elif slot.type == "part":
            value = _wanted(tokens, parts)
        elif slot.type == "id":
            fitting = [n.digits for n in numbers if not slot.digits or len(n.digits) in slot.digits] or [
                n.digits for n in numbers_in(tokens, used, sounds=True) if len(n.digits) in slot.digits
            ]
            value = fitting[-1] if fitting else ""
        elif slot.type == "number":
            value = str(numbers[-1].value) if numbers else ""
        elif slot.type == "choice":
            value = _choice(tokens, slot.options)
        if value:
            values[slot.name] = value
    return values


def _wanted(tokens: Sequence[Token], found: Sequence[Found]) -> str:
    """The last value that is not one to be left."""
    kept = [one for one in found if not _is_left(tokens, one)]
    return kept[-1].value if kept else ""


def _is_left(tokens: Sequence[Token], found: Found) -> bool:
    words = [token.text for token in tokens]
    before = words[: found.start]
    after = tuple(words[found.end : found.end + 2])
    while before and before[-1] in ("on", "the", "this", "next", "for"):
        before.pop()
    if before and (before[-1] in _LEFT or tuple(before[-2:]) in _LEFT_PAIRS):
        return before[-2:] != ["if", "not"]
    if any(after[: len(refusal)] == refusal for refusal in _REFUSED):
        return True
    since = max((at for at in range(found.start + 1) if at < len(tokens) and tokens[at].after_break), default=0)
    clause = words[since : found.start]
    return any(word in _ABSENCE for word in clause) or any(
        find_phrase(clause, phrase) >= 0
        for phrase in (("not", "home"), ("won't", "be"), ("not", "in"), ("can't", "do"))
    )


def _choice(tokens: Sequence[Token], options: dict[str, list[str]]) -> str:
    words = [token.text for token in tokens]
    best, best_score = "", 0.0
    for option, phrasings in options.items():
        for phrasing in (option.replace("_", " "), *phrasings):
            wanted = phrasing.lower().split()
            if find_phrase(words, wanted) >= 0:
                score = 1.0 + len(wanted)
            elif len(wanted) == 1:
                score = max((likeness(word, wanted[0]) for word in words), default=0.0)
            else:
                score = 0.0
            if score > best_score and score >= 0.6:
                best, best_score = option, score
    return best


def read_email(text: str) -> str:
    """An address as typed ("ana@example.org") or as spoken ("ana at example dot org"); empty if there is none."""
    typed = _EMAIL.search(text)
    if typed:
        return typed.group().rstrip(".").lower()
    words = re.findall(r"[\w'-]+", text.lower())
    for at, word in enumerate(words):
        if word != "at" or at == 0 or "dot" not in words[at + 1 : at + 5]:
            continue
        start = at - 1
        while start >= 2 and words[start - 1] in _AT_WORDS and words[start - 1] != "at":
            start -= 2
        end = at + 2
        while end + 1 < len(words) and words[end] in _AT_WORDS and words[end] != "at":
            end += 2
        address = "".join(_AT_WORDS.get(one, one) for one in words[start:end])
        if _EMAIL.fullmatch(address):
            return address
    return ""


def _name(text: str, awaited: bool) -> str:
    words = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text)
    lowered = [word.lower() for word in words]
    start = 0 if awaited else -1
    for lead in _NAME_LEADS if awaited else _NAME_LEADS[:2]:
        at = find_phrase(lowered, lead)
        if at >= 0:
            start = at + len(lead)
            break
    if start < 0:
        return ""
    name: list[str] = []
    for word in words[start : start + 4]:
        if word.lower() in STOP_WORDS or word.lower() in ("speaking", "calling"):
            break
        name.append(word.capitalize() if word.islower() else word)
    return " ".join(name)
