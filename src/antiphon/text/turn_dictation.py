"""What is dictated at the end of a turn, and whether it can be all of it: numbers, spellings, addresses, lists."""

import re
from collections.abc import Collection

from antiphon.text import turn_words as w
from antiphon.text.turn_clauses import is_verb

_CODE = re.compile(r"^[a-z]{0,2}[\d.,-]*\d[a-z]?$")
_ADDRESS = re.compile(r"@|\.(?:com|org|net|edu|gov|io|uk|de|fr|eu|info)$")
_FULL_NUMBER = 10
_FULL_CARD = 16


def _digits(word: str) -> int:
    """How many digits of a dictated number or code ("X57") ``word`` is; 0: none."""
    if _CODE.match(word):
        return sum(map(str.isdigit, word))
    return w.DIGITS.get(word, 0)


def number_of(words: list[str], expected: Collection[int]) -> tuple[bool, bool]:
    """Whether a number is being dictated at the end, and whether it can be all of it."""
    if ":" in words[-1]:  # a time of day
        return False, False
    run = tokens = 0
    for word in reversed(words):
        count = _digits(word)
        if not count:
            break
        run, tokens = run + count, tokens + 1
    cued = bool(w.NUMBER_CUES.intersection(words))
    # "at seven thirty", "two tickets for four": one or two number words alone are no dictation
    dictated = run > 0 and (cued or run >= 3 or tokens >= 3) and not _is_time(words, tokens)
    return dictated, run in expected or run >= (_FULL_CARD if "card" in words else _FULL_NUMBER)


def _is_time(words: list[str], tokens: int) -> bool:
    before = words[-tokens - 1] if len(words) > tokens else ""
    return tokens <= 2 and before in ("at", "for", "until", "by", "around", "past", "to") and "me" not in words[-4:]


def is_spelling(words: list[str]) -> bool:
    """Letters are being spelled: two or more single ones at the end, or few after "spelled"."""
    run = 0
    for word in reversed(words):
        letters = word.replace("-", "").replace(".", "")
        if not (len(word) == 1 and word.isalpha()) and not (len(letters) * 2 == len(word) + 1 and "-" in word):
            break
        run += 1
    if run and words[-1] in ("a", "i") and run == 1:
        return False
    return run >= 2 or (run == 1 and len(words) > 1) or bool(w.SPELLING_CUES.intersection(words[-5:]))


def address_of(words: list[str]) -> tuple[bool, bool]:
    """Whether an e-mail or web address is being dictated at the end, and whether it can be all of it."""
    tail = words[-6:]
    cued = bool(w.EMAIL_CUES.intersection(words))
    ends = bool(_ADDRESS.search(words[-1])) and "." in words[-1].rpartition("@")[2]
    full = ends or (words[-1] in w.DOMAINS and len(words) > 1 and words[-2] in ("dot", "co"))
    joint = words[-1] in w.ADDRESS_JOINTS and (words[-1] != "at" or cued)
    inside = cued and ("at" in tail or "@" in tail or "dot" in tail or any("@" in word for word in tail))
    begun = "email" in words[-5:] or "e-mail" in words[-5:]
    return joint or inside or full or begun, full


def list_of(clause: str) -> tuple[bool, bool]:
    """Whether the clause ends in a list without its last item, or with it ("..., and two lamps")."""
    items = [item.strip(" .!?") for item in clause.split(",")]
    short = [item for item in items[1:] if 0 < len(item.split()) <= 4]
    last = items[-1].split()
    joint = max((at for at, word in enumerate(last) if word.lower() in ("and", "or")), default=-1)
    if len(items) > 1 and 0 <= joint <= 2 and 1 <= len(last) - 1 - joint <= 4:
        return False, len(short) >= 1 + (joint == 0)
    run = 0
    for item in reversed(items[1:]):
        if not 0 < len(item.split()) <= 3 or is_verb(item.split()[0].lower()):
            break
        run += 1
    return run >= 2, False
