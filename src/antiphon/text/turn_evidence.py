"""What the words say about whether a speaker is done: cheap, pure, English; other languages get no opinion.

A recogniser closes whatever it hears with a full stop, so its last mark is no evidence of an end; a comma or a dash in
its place is evidence of more. Full stops between words are doubtful too: numbers, addresses, lists and corrections are
looked for across them.
"""

import re
from collections.abc import Collection
from dataclasses import astuple, dataclass, fields

from antiphon.text import turn_words as w

_SENTENCES = re.compile(r"[.!?]+\s+(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+(?:['’.@_+:-]+[^\W_]+)*|[@&_]")
_CODE = re.compile(r"^[a-z]{0,2}[\d.,-]*\d[a-z]?$")
_ADDRESS = re.compile(r"@|\.(?:com|org|net|edu|gov|io|uk|de|fr|eu|info)$")
_OPENERS = frozenset(
    ("and", "so", "but", "okay", "ok", "well", "wait", "sorry", "actually", "um", "uh", "hi", "hello", "hey", "please",
     "then", "just", "good", "great", "right", "fine", "perfect", "yes", "yeah", "no", "oh", "ah", "alright", "sure",
     "nice")
)  # fmt: skip
_FULL_NUMBER = 10
_FULL_CARD = 16
_MAX_LOOK_BACK = 60
_COURTESY_WORDS = max(len(courtesy.split()) for courtesy in w.COURTESIES)
_NEW_WORDS = 6
"""What replaces something that was taken back is seldom longer."""
_LONG = 8
"""Words; a turn that is shorter and no answer is seldom a whole one, longer ones are all alike."""


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
    goes_on: float = 0.0
    no_mark: float = 0.0
    number_done: float = 0.0
    address_done: float = 0.0
    list_done: float = 0.0
    question: float = 0.0
    question_mark: float = 0.0
    answer: float = 0.0
    closer: float = 0.0
    request: float = 0.0
    request_whole: float = 0.0
    corrected: float = 0.0
    consequence: float = 0.0
    statement: float = 0.0
    adverbial: float = 0.0
    length: float = 0.0
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
    "dangling": -3.14,
    "weak_dangling": -2.05,
    "filler": -3.01,
    "lacks_object": -1.77,
    "lacks_verb": -1.07,
    "lacks_main_clause": -1.8,
    "fragment": -1.2,
    "number_open": -2.55,
    "spelling_open": -1.88,
    "address_open": -2.83,
    "list_open": -1.6,
    "correction": -3.06,
    "goes_on": -1.52,
    "no_mark": -0.32,
    "number_done": 1.38,
    "address_done": 1.71,
    "list_done": 1.01,
    "question": 2.0,
    "question_mark": 0.4,
    "answer": 2.61,
    "closer": 1.64,
    "request": 0.91,
    "request_whole": 0.6,
    "corrected": 1.3,
    "consequence": 0.8,
    "statement": 0.8,
    "adverbial": 0.92,
    "length": 1.0,
    "bias": -0.82,
}


def turn_evidence(text: str, language: str = "en", expected_digits: Collection[int] = ()) -> TurnEvidence:
    """Judge the words of a turn so far. Neutral (all zero) for languages without rules.

    ``expected_digits``: lengths at which a dictated number is known to be whole.
    """
    if language.partition("-")[0].partition("_")[0].lower() != "en":
        return TurnEvidence()
    text = text.strip()
    *before, clause = _SENTENCES.split(text)
    words = _words(clause)[-_MAX_LOOK_BACK:]
    if not words:
        return TurnEvidence(empty=1.0, bias=1.0)
    turn = _words(" ".join(before))[-_MAX_LOOK_BACK:] + words  # across full stops
    last = words[-1]
    correction = _corrects(turn) or " ".join(words) in w.HALTS
    marks = {"goes_on": float(text.endswith((",", "-", "..", ";", ":"))), "no_mark": float(text[-1:].isalnum())}
    if (" ".join(words) in w.ANSWERS or _courtesies(words)) and not correction:
        return TurnEvidence(answer=1.0, **marks, length=1.0, bias=1.0)  # short, but whole
    number, number_full = _number(turn, expected_digits)
    address, address_full = _address(turn)
    spelling = _spelling(turn)
    dictated = number or address or spelling
    closer = any(_ends_with(words, closer) for closer in w.CLOSERS)
    # "no, sorry, for Thursday": what follows a correction needs no sentence of its own
    said = _words(" ".join(before))
    corrected = bool(said) and (_corrects(said) or _is_corrected(words))
    taken_back = _is_taken_back(turn)
    asked = _asks(words)
    related = not w.RELATIVES.isdisjoint(words[-5:-1])
    open_end = any(_ends_with(words, phrase) for phrase in w.OPEN_ENDS)
    dangling = last in w.CANNOT_END and not dictated
    stranded = asked and words[0] in w.WH and last not in w.VERBS  # "who am I speaking with"
    weak = last in w.SELDOM_END and not (dictated or stranded or (related and last in w.VERBS))
    lacks_object = open_end or (last in w.NEEDS_OBJECT and len(words) > 1 and not related)
    list_open, list_done = _list(clause)
    whole = not (dangling or weak or lacks_object or dictated or correction or list_open)
    return TurnEvidence(
        dangling=float(dangling and not correction),
        weak_dangling=float(weak and not correction),
        filler=float(last in w.FILLERS),
        lacks_object=float(lacks_object and not correction),
        lacks_verb=float(
            len(words) > 2 and not (dictated or closer or corrected or asked) and not any(map(_is_verb, words))
        ),
        lacks_main_clause=float(_only_subordinate(clause, words)),
        fragment=float(len(words) <= 2 and not (dictated or closer or correction or corrected)),
        number_open=float(number and not number_full),
        spelling_open=float(spelling and not address and not number),
        address_open=float(address and not address_full and not number_full),
        list_open=float(list_open and not dictated),
        correction=float(correction),
        **marks,
        number_done=float(number and number_full),
        address_done=float(address_full),
        list_done=float(list_done and not dictated),
        question=float(asked and not (dangling or weak or lacks_object or dictated)),
        question_mark=float(text.endswith("?") and not (dangling or lacks_object)),
        closer=float(closer),
        request=float(whole and _requests(words)),
        request_whole=float(whole and _requests(words) and not w.DETERMINERS.isdisjoint(words[-3:-1])),
        corrected=float(whole and taken_back),
        consequence=float(whole and _concludes(clause, words)),
        statement=float(whole and _reports(words)),
        adverbial=float(last in w.ADVERBIALS and len(words) > 2 and not list_open),
        length=min(len(turn), _LONG) / _LONG,
        bias=1.0,
    )


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def _ends_with(words: list[str], phrase: str) -> bool:
    wanted = phrase.split()
    return words[-len(wanted) :] == wanted


def _courtesies(words: list[str]) -> bool:
    """One after the other, and nothing else: "hello, good morning", "okay, thank you, goodbye"."""
    at = 0
    while at < len(words):
        # the longest first: "thank you very much" begins with another
        step = next((n for n in range(_COURTESY_WORDS, 0, -1) if " ".join(words[at : at + n]) in w.COURTESIES), 0)
        if not step:
            return False
        at += step
    return True


def _begins_with(words: list[str], phrase: str) -> bool:
    wanted = phrase.split()
    return words[: len(wanted)] == wanted


def _is_verb(word: str) -> bool:
    return word in w.VERBS or (len(word) > 4 and word.endswith("ed"))


def _corrects(words: list[str]) -> bool:
    """Something was said, and is about to be said differently."""
    for phrase in w.CORRECTIONS:
        count = len(phrase.split())
        # "no" and "sorry" alone are answers; after a few words they take something back
        if _ends_with(words, phrase) and (len(words) >= count + 3 or (count > 1 and phrase not in w.ANSWERS)):
            return True
    return False


def _is_corrected(words: list[str]) -> bool:
    """The clause begins by taking something back, and says what instead."""
    taken = max((len(phrase.split()) for phrase in w.CORRECTIONS if _begins_with(words, phrase)), default=0)
    return 0 < taken < len(words)


def _is_taken_back(words: list[str]) -> bool:
    """Something was said, taken back, and is said anew, all in one sentence: "for Friday, no wait, Thursday"."""
    first = max(4, len(words) - _NEW_WORDS)
    return any(_corrects(words[:at]) for at in range(first, len(words)))


def _digits(word: str) -> int:
    """How many digits of a dictated number or code ("X57") ``word`` is; 0: none."""
    if _CODE.match(word):
        return sum(map(str.isdigit, word))
    return w.DIGITS.get(word, 0)


def _number(words: list[str], expected: Collection[int]) -> tuple[bool, bool]:
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
    joint = max((at for at, word in enumerate(last) if word.lower() in ("and", "or")), default=-1)
    if len(items) > 1 and 0 <= joint <= 2 and 1 <= len(last) - 1 - joint <= 4:
        return False, len(short) >= 1 + (joint == 0)
    run = 0
    for item in reversed(items[1:]):
        if not 0 < len(item.split()) <= 3 or _is_verb(item.split()[0].lower()):
            break
        run += 1
    return run >= 2, False


def _asks(words: list[str]) -> bool:
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
    return body[0] in w.INVERTED and len(body) >= 4 and body[1] not in ("to",)


def _requests(words: list[str]) -> bool:
    """Imperative: its verb in front, and something after it; or a wish, with as much after it."""
    start = 0
    while start < len(words) and words[start] in _OPENERS:
        start += 1
    body = words[start:]
    wish = next((n for n in (3, 4) if " ".join(body[:n]) in w.WISHES), 0)
    return len(body) >= wish + 3 and (wish > 0 or body[0] in w.REQUESTS)


def _reports(words: list[str]) -> bool:
    """The speaker says what is with them or theirs: "I forgot my password", "my order never arrived"."""
    start = 0
    while start < len(words) and words[start] in _OPENERS:
        start += 1
    body = words[start:]
    return len(body) >= 4 and body[0] in w.OWN and any(map(_is_verb, body[1:]))


def _concludes(clause: str, words: list[str]) -> bool:
    """A condition and its consequence: "if it does not come today, I want my money back"."""
    start = 1 if words[0] in _OPENERS and len(words) > 1 else 0
    _, comma, rest = clause.rstrip(" ,.!?").partition(",")
    said = _words(rest)
    return words[start] in ("if", "unless") and bool(comma) and len(said) >= 3 and any(map(_is_verb, said))


def _only_subordinate(clause: str, words: list[str]) -> bool:
    """ "If the delivery does not come today": a condition without its consequence."""
    start = 1 if words[0] in ("and", "so", "but", "well", "okay", "because") and len(words) > 1 else 0
    if words[start] not in w.SUBORDINATE or (len(words) > start + 1 and words[start + 1] in w.INVERTED):
        return False
    inner = clause.rstrip(" ,.!?")
    if "," in inner:  # the consequence comes after the comma, if it has a verb
        return not any(map(_is_verb, _words(inner.rpartition(",")[2])))
    return w.SUBJECTS.isdisjoint(words[start + 3 :]) and len(words) < 14
