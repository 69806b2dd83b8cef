"""What the words say about whether a speaker is done: cheap, pure, English; other languages get no opinion.

A recogniser closes whatever it hears with a full stop, so its last mark is no evidence of an end; a comma or a dash in
its place is evidence of more. Full stops between words are doubtful too: numbers, addresses, lists and corrections are
looked for across them.
"""

import re
from collections.abc import Collection
from dataclasses import astuple, dataclass, fields

from antiphon.text import turn_words as w
from antiphon.text.turn_clauses import (
    asks,
    concludes,
    corrects,
    courtesies,
    ends_with,
    is_corrected,
    is_noun,
    is_passive,
    is_taken_back,
    is_verb,
    only_subordinate,
    reports,
    requests,
    words_of,
)
from antiphon.text.turn_dictation import address_of, is_spelling, list_of, number_of

_SENTENCES = re.compile(r"[.!?]+\s+(?=[A-Z])")
_MAX_LOOK_BACK = 60
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
    def asked(self) -> bool:
        """A whole question, by its form and to the recogniser's ear, that nothing takes back."""
        return self.question == self.question_mark == 1.0 and not (self.correction or self.list_open)

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
    words = words_of(clause)[-_MAX_LOOK_BACK:]
    if not words:
        return TurnEvidence(empty=1.0, bias=1.0)
    turn = words_of(" ".join(before))[-_MAX_LOOK_BACK:] + words  # across full stops
    last = words[-1]
    correction = corrects(turn) or " ".join(words) in w.HALTS
    marks = {"goes_on": float(text.endswith((",", "-", "..", ";", ":"))), "no_mark": float(text[-1:].isalnum())}
    if (" ".join(words) in w.ANSWERS or courtesies(words)) and not correction:
        return TurnEvidence(answer=1.0, **marks, length=1.0, bias=1.0)  # short, but whole
    number, number_full = number_of(turn, expected_digits)
    address, address_full = address_of(turn)
    spelling = is_spelling(turn)
    dictated = number or address or spelling
    closer = any(ends_with(words, closer) for closer in w.CLOSERS)
    # "no, sorry, for Thursday": what follows a correction needs no sentence of its own
    said = words_of(" ".join(before))
    corrected = bool(said) and (corrects(said) or is_corrected(words))
    taken_back = is_taken_back(turn)
    asked = asks(words)
    related = not w.RELATIVES.isdisjoint(words[-5:-1])
    open_end = any(ends_with(words, phrase) for phrase in w.OPEN_ENDS)
    dangling = last in w.CANNOT_END and not dictated
    stranded = asked and words[0] in w.WH and last not in w.VERBS  # "who am I speaking with"
    weak = last in w.SELDOM_END and not (dictated or stranded or (related and last in w.VERBS))
    alone = last in w.NEEDS_OBJECT and len(words) > 1 and not related
    lacks_object = open_end or (alone and not is_noun(words) and not is_passive(words))
    list_open, list_done = list_of(clause)
    whole = not (dangling or weak or lacks_object or dictated or correction or list_open)
    wanted = whole and requests(words)
    return TurnEvidence(
        dangling=float(dangling and not correction),
        weak_dangling=float(weak and not correction),
        filler=float(last in w.FILLERS),
        lacks_object=float(lacks_object and not correction),
        lacks_verb=float(
            len(words) > 2 and not (dictated or closer or corrected or asked) and not any(map(is_verb, words))
        ),
        lacks_main_clause=float(only_subordinate(clause, words)),
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
        request=float(wanted),
        request_whole=float(wanted and not w.DETERMINERS.isdisjoint(words[-3:-1])),
        corrected=float(whole and taken_back),
        consequence=float(whole and concludes(clause, words)),
        statement=float(whole and reports(words)),
        adverbial=float(last in w.ADVERBIALS and len(words) > 2 and not list_open),
        length=min(len(turn), _LONG) / _LONG,
        bias=1.0,
    )
