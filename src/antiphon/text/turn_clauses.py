"""What clauses of a spoken turn do, by their words: ask, request, report, correct, wait for another. English, pure."""

import re

from antiphon.text import turn_words as w

_WORD = re.compile(r"[^\W_]+(?:['’.@_+:-]+[^\W_]+)*|[@&_]")
_OPENERS = frozenset(
    ("and", "so", "but", "okay", "ok", "well", "wait", "sorry", "actually", "um", "uh", "hi", "hello", "hey", "please",
     "then", "just", "good", "great", "right", "fine", "perfect", "yes", "yeah", "no", "oh", "ah", "alright", "sure",
     "nice")
)  # fmt: skip
_COURTESY_WORDS = max(len(courtesy.split()) for courtesy in w.COURTESIES)
_NEW_WORDS = 6
"""What replaces something that was taken back is seldom longer."""


def words_of(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def ends_with(words: list[str], phrase: str) -> bool:
    wanted = phrase.split()
    return words[-len(wanted) :] == wanted


def _begins_with(words: list[str], phrase: str) -> bool:
    wanted = phrase.split()
    return words[: len(wanted)] == wanted


def courtesies(words: list[str]) -> bool:
    """One after the other, and nothing else: "hello, good morning", "okay, thank you, goodbye"."""
    at = 0
    while at < len(words):
        # the longest first: "thank you very much" begins with another
        step = next((n for n in range(_COURTESY_WORDS, 0, -1) if " ".join(words[at : at + n]) in w.COURTESIES), 0)
        if not step:
            return False
        at += step
    return True


def is_verb(word: str) -> bool:
    return word in w.VERBS or (len(word) > 4 and word.endswith("ed"))


def corrects(words: list[str]) -> bool:
    """Something was said, and is about to be said differently."""
    for phrase in w.CORRECTIONS:
        count = len(phrase.split())
        # "no" and "sorry" alone are answers; after a few words they take something back
        if ends_with(words, phrase) and (len(words) >= count + 3 or (count > 1 and phrase not in w.ANSWERS)):
            return True
    return False


def is_corrected(words: list[str]) -> bool:
    """The clause begins by taking something back, and says what instead."""
    taken = max((len(phrase.split()) for phrase in w.CORRECTIONS if _begins_with(words, phrase)), default=0)
    return 0 < taken < len(words)


def is_taken_back(words: list[str]) -> bool:
    """Something was said, taken back, and is said anew, all in one sentence: "for Friday, no wait, Thursday"."""
    first = max(4, len(words) - _NEW_WORDS)
    return any(corrects(words[:at]) for at in range(first, len(words)))


def asks(words: list[str]) -> bool:
    """Question form: a question word or an inverted verb in front, and enough after it."""
    start = 0
    while start < len(words) and words[start] in _OPENERS:
        start += 1
    body = words[start:]
    if len(body) < 3:
        return False
    if body[0] in w.WH:
        # "when I try to log in" is none: a question word asks where a verb follows it soon
        return body[0] not in w.SUBORDINATE or body[1] in w.INVERTED
    if len(body) == 3 and body[0] in w.BEING and body[1] in w.SUBJECTS:  # "is it ready", "are you open"
        return body[2] not in w.DETERMINERS
    return body[0] in w.INVERTED and len(body) >= 4 and body[1] not in ("to",)


def is_noun(words: list[str]) -> bool:
    """The last word stands where a noun does, whatever else it may be: "I like the book"."""
    return words[-2] in w.DETERMINERS


def is_passive(words: list[str]) -> bool:
    """The last word says what was done to something that was named: "was it sent", "the parcel was not sent"."""
    return words[-1].endswith(("t", "d", "n")) and not w.BEING.isdisjoint(words[-4:-1])


def requests(words: list[str]) -> bool:
    """Imperative: its verb in front, and something after it; or a wish, with as much after it."""
    start = 0
    while start < len(words) and words[start] in _OPENERS:
        start += 1
    body = words[start:]
    wish = next((n for n in (3, 4) if " ".join(body[:n]) in w.WISHES), 0)
    return len(body) >= wish + 3 and (wish > 0 or body[0] in w.REQUESTS)


def reports(words: list[str]) -> bool:
    """The speaker says what is with them or theirs: "I forgot my password", "my order never arrived"."""
    start = 0
    while start < len(words) and words[start] in _OPENERS:
        start += 1
    body = words[start:]
    return len(body) >= 4 and body[0] in w.OWN and any(map(is_verb, body[1:]))


def concludes(clause: str, words: list[str]) -> bool:
    """A condition and its consequence: "if it does not come today, I want my money back"."""
    start = 1 if words[0] in _OPENERS and len(words) > 1 else 0
    _, comma, rest = clause.rstrip(" ,.!?").partition(",")
    said = words_of(rest)
    return words[start] in ("if", "unless") and bool(comma) and len(said) >= 3 and any(map(is_verb, said))


def only_subordinate(clause: str, words: list[str]) -> bool:
    """ "If the delivery does not come today": a condition without its consequence."""
    start = 1 if words[0] in ("and", "so", "but", "well", "okay", "because") and len(words) > 1 else 0
    if words[start] not in w.SUBORDINATE or (len(words) > start + 1 and words[start + 1] in w.INVERTED):
        return False
    inner = clause.rstrip(" ,.!?")
    if "," in inner:  # the consequence comes after the comma, if it has a verb
        return not any(map(is_verb, words_of(inner.rpartition(",")[2])))
    return w.SUBJECTS.isdisjoint(words[start + 3 :]) and len(words) < 14
