"""What the words say about whether a speaker is done: cheap, pure, English; other languages get no opinion.

A recogniser closes whatever it hears with a full stop, so its last mark is no evidence of an end; that it left the
mark out is.
"""

import re
from dataclasses import astuple, dataclass, fields

from antiphon.text import turn_words as w

_SENTENCES = re.compile(r"[.!?]+\s+(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+(?:['’.@_+-]+[^\W_]+)*|[@&_]")
_DIGIT_RUN = re.compile(r"^[\d.,-]*\d$")
_ADDRESS = re.compile(r"@|\.(?:com|org|net|edu|gov|io|uk|de|fr|eu|info)$")
_FULL_NUMBER = 10
_FULL_CARD = 16
_MAX_LOOK_BACK = 60


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """What was noticed in the last clause; each from 0 to 1. The first group speaks for more to come."""

    empty: float = 0.0
    dangling: float = 0.0
    weak_dangling: float = 0.0
    filler: float = 0.0
    lacks_object: float = 0.0
    lacks_verb: float = 0.0
    lacks_main_clause: float = 0.0
    fragment: float = 0.0
    number_open: float = 0.0
    spelling_open: float = 0.0
    address_open: float = 0.0
    list_open: float = 0.0
    correction: float = 0.0
    no_mark: float = 0.0
    number_done: float = 0.0
    address_done: float = 0.0
    list_done: float = 0.0
    question: float = 0.0
    question_mark: float = 0.0
    answer: float = 0.0
    closer: float = 0.0
    bias: float = 0.0
    """1 for every language that there are rules for."""

    @property
    def vector(self) -> tuple[float, ...]:
        """All features, in the order of :data:`FEATURES`."""
        return astuple(self)

    @property
    def logit(self) -> float:
        """Log odds that the turn is complete, by the words alone; 0: they say nothing."""
        return sum(weight * value for weight, value in zip(WEIGHTS.values(), self.vector, strict=True))


FEATURES = tuple(field.name for field in fields(TurnEvidence))

WEIGHTS = {
    "empty": -1.0,
    "dangling": -3.0,
    "weak_dangling": -1.6,
    "filler": -3.0,
    "lacks_object": -1.6,
    "lacks_verb": -1.2,
    "lacks_main_clause": -2.0,
    "fragment": -1.0,
    "number_open": -2.6,
    "spelling_open": -2.4,
    "address_open": -2.8,
    "list_open": -1.6,
    "correction": -3.0,
    "no_mark": -1.0,
    "number_done": 0.8,
    "address_done": 1.5,
    "list_done": 0.8,
    "question": 1.5,
    "question_mark": 0.5,
    "answer": 2.5,
    "closer": 1.8,
    "bias": 0.0,
}


def turn_evidence(text: str, language: str = "en") -> TurnEvidence:
    """Judge the words of a turn so far. Neutral (all zero) for languages without rules."""
    if language.partition("-")[0].partition("_")[0].lower() != "en":
        return TurnEvidence()
    text = text.strip()
    clause = _SENTENCES.split(text)[-1]
    words = _words(clause)[-_MAX_LOOK_BACK:]
    if not words:
        return TurnEvidence(empty=1.0, bias=1.0)
    last, phrase = words[-1], " ".join(words)
    if phrase in w.ANSWERS and not (last in w.CORRECTIONS and len(_words(text)) > 3):
        return TurnEvidence(answer=1.0, no_mark=_no_mark(text), bias=1.0)
    number, number_full = _number(words)
    address, address_full = _address(words)
    spelling = _spelling(words)
    dictated = number or address or spelling
    correction = _corrects(words)
    closer = any(_ends_with(words, closer) for closer in w.CLOSERS)
    question = _asks(words)
    dangling = last in w.CANNOT_END and not spelling and not (last in w.ADDRESS_JOINTS and address)
    # "what is it for", "who are you": a question may end with what a statement may not
    weak = last in w.SELDOM_END and not dictated and not (question and last in w.SUBJECTS)
    list_open, list_done = _list(clause)
    return TurnEvidence(
        dangling=float(dangling and not correction),
        weak_dangling=float(weak and not correction),
        filler=float(last in w.FILLERS or _ends_with(words, "you know")),
        lacks_object=float(last in w.NEEDS_OBJECT and len(words) > 1),
        lacks_verb=float(len(words) > 2 and not dictated and not closer and not any(map(_is_verb, words))),
        lacks_main_clause=float(_only_subordinate(clause, words)),
        fragment=float(len(words) <= 2 and not dictated and not closer and not correction),
        number_open=float(number and not number_full),
        spelling_open=float(spelling and not address),
        address_open=float(address and not address_full),
        list_open=float(list_open and not dictated),
        correction=float(correction),
        no_mark=_no_mark(text),
        number_done=float(number and number_full),
        address_done=float(address_full),
        list_done=float(list_done and not dictated),
        question=float(question and not dangling and not weak),
        question_mark=float(text.endswith("?")),
        closer=float(closer),
        bias=1.0,
    )


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def _no_mark(text: str) -> float:
    """The recogniser itself goes on: a comma, a dash, dots, or nothing at all."""
    return float(text.endswith("..") or text[-1:] not in (".", "!", "?"))


def _ends_with(words: list[str], phrase: str) -> bool:
    wanted = phrase.split()
    return words[-len(wanted) :] == wanted


def _is_verb(word: str) -> bool:
    return word in w.VERBS or (len(word) > 4 and word.endswith("ed"))


def _corrects(words: list[str]) -> bool:
    """Something was said, and is about to be said differently."""
    return any(
        _ends_with(words, phrase) and len(words) > len(phrase.split()) + (2 if " " not in phrase else 0)
        for phrase in w.CORRECTIONS
    ) or " ".join(words) in ("no wait", "wait", "wait no", "hang on", "hold on", "or rather", "actually no", "i mean")


def _digits(word: str) -> int:
    """How many digits of a dictated number ``word`` is; 0: none."""
    if _DIGIT_RUN.match(word):
        return sum(map(str.isdigit, word))
    return w.DIGITS.get(word, 0)


def _number(words: list[str]) -> tuple[bool, bool]:
    """Whether a number is being dictated at the end, and whether it can be all of it."""
    run = tokens = 0
    for word in reversed(words):
        count = _digits(word)
        if not count:
            break
        run, tokens = run + count, tokens + 1
    cued = bool(w.NUMBER_CUES.intersection(words))
    # "at seven thirty", "two tickets for four": one or two number words alone are no dictation
    dictated = run > 0 and (cued or run >= 3 or tokens >= 3) and not _is_time(words, tokens)
    return dictated, run >= (_FULL_CARD if "card" in words else _FULL_NUMBER)


def _is_time(words: list[str], tokens: int) -> bool:
    before = words[-tokens - 1] if len(words) > tokens else ""
    return tokens <= 2 and before in ("at", "for", "until", "by", "around", "past", "to") and "me" not in words[-4:]


def _spelling(words: list[str]) -> bool:
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


def _address(words: list[str]) -> tuple[bool, bool]:
    """Whether an e-mail or web address is being dictated at the end, and whether it can be all of it."""
    tail = words[-6:]
    cued = bool(w.EMAIL_CUES.intersection(words))
    ends = bool(_ADDRESS.search(words[-1])) and "." in words[-1].rpartition("@")[2]
    full = ends or (words[-1] in w.DOMAINS and len(words) > 1 and words[-2] in ("dot", "co"))
    joint = words[-1] in w.ADDRESS_JOINTS and (words[-1] != "at" or cued)
    inside = cued and ("at" in tail or "@" in tail or "dot" in tail or any("@" in word for word in tail))
    begun = "email" in words[-5:] or "e-mail" in words[-5:]
    return joint or inside or full or begun, full


def _list(clause: str) -> tuple[bool, bool]:
    """Whether the clause ends in a list without its last item, or with it ("..., and two lamps")."""
    items = [item.strip(" .!?") for item in clause.split(",")]
    short = [item for item in items[1:] if 0 < len(item.split()) <= 4]
    last = items[-1].split()
    closed = len(items) > 1 and bool(last) and last[0].lower() in ("and", "or") and 1 < len(last) <= 5
    if closed:
        return False, len(short) >= 2
    run = 0
    for item in reversed(items[1:]):
        if not 0 < len(item.split()) <= 3 or _is_verb(item.split()[0].lower()):
            break
        run += 1
    return run >= 2, False


def _asks(words: list[str]) -> bool:
    """Question form: a question word or an inverted verb in front, and enough after it."""
    start = 0
    while start < len(words) and words[start] in ("and", "so", "but", "okay", "well", "um", "uh", "hi", "hello", "please"):
        start += 1
    body = words[start:]
    if len(body) < 3:
        return False
    if body[0] in w.WH:
        # "when I try to log in" is none: a question word asks where a verb follows it soon
        return body[0] not in w.SUBORDINATE or body[1] in w.INVERTED
    return body[0] in w.INVERTED and len(body) >= 4 and body[1] not in ("to",)


def _only_subordinate(clause: str, words: list[str]) -> bool:
    """"If the delivery does not come today": a condition without its consequence."""
    start = 1 if words[0] in ("and", "so", "but", "well", "okay", "because") and len(words) > 1 else 0
    if words[start] not in w.SUBORDINATE or (len(words) > start + 1 and words[start + 1] in w.INVERTED):
        return False
    inner = clause.rstrip(" ,.!?")
    if "," in inner:  # the consequence comes after the comma, if it has a verb
        return not any(map(_is_verb, _words(inner.rpartition(",")[2])))
    return sum(word in w.SUBJECTS for word in words[start + 1 :]) < 2 and len(words) < 14
