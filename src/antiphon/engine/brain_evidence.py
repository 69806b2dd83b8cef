"""What the evidence for each request amounts to: one that is clear, or none."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from antiphon.engine.brain_acts import asks
from antiphon.engine.brain_book import Intent
from antiphon.engine.brain_match import Guess
from antiphon.engine.brain_slots import read_slots
from antiphon.engine.brain_words import Token

ACCEPT = 0.55
"""Less evidence is none."""
MARGIN = 0.12
"""A rival nearer than this leaves it open."""
_NO_PLACE = 0.5
"""What is left of the evidence for a request that has no place for the id that was said."""


def placed(guesses: list[Guess], text: str, today: date) -> list[Guess]:
    """Whoever says an id speaks of something that has one."""
    ids = [[slot for slot in guess.intent.slot if slot.type == "id"] for guess in guesses]
    said = read_slots(text, [slot for slots in ids for slot in slots], today)
    if not said:
        return guesses
    judged = [
        guess if any(slot.name in said for slot in slots) else replace(guess, score=guess.score * _NO_PLACE)
        for guess, slots in zip(guesses, ids, strict=True)
    ]
    return sorted(judged, key=lambda guess: -guess.score)


def clear_one(guesses: Sequence[Guess]) -> Intent | None:
    """The first, if it is well ahead."""
    if not guesses or guesses[0].score < ACCEPT:
        return None
    runner_up = guesses[1].score if len(guesses) > 1 else 0.0
    return guesses[0].intent if guesses[0].score - runner_up >= MARGIN else None


def fitting_one(guesses: Sequence[Guess], text: str, today: date) -> Intent | None:
    """The one intent for which two or more values were said, all that it requires included."""
    said = [(guess.intent, read_slots(text, guess.intent.slot, today)) for guess in guesses]
    full = [
        (len(values), intent)
        for intent, values in said
        if len(values) > 1 and all(slot.name in values for slot in intent.slot if slot.required)
    ]
    most = max((count for count, _ in full), default=0)
    best = [intent for count, intent in full if count == most]
    return best[0] if len(best) == 1 else None


def asked_about(guesses: Sequence[Guess], text: str, tokens: Sequence[Token], today: date) -> Intent | None:
    """The request that a question means which names none but says all that it needs."""
    if not guesses or not asks(tokens):
        return None
    top = guesses[0].score
    for guess in guesses:
        rival = top >= ACCEPT and guess.score < top - MARGIN
        needed = [slot for slot in guess.intent.slot if slot.required]
        if guess.intent.when_asked and needed and not rival:
            values = read_slots(text, needed, today)
            return guess.intent if len(values) == len(needed) else None
    return None
