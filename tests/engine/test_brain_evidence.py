"""What evidence amounts to, for a book of no business in particular."""

from datetime import date

import pytest

from antiphon.engine.brain_book import Book, Intent, Reply, Slot
from antiphon.engine.brain_evidence import asked_about, clear_one, placed
from antiphon.engine.brain_match import Guess, Matcher
from antiphon.engine.brain_words import tokens_of

TODAY = date(2026, 11, 30)
NUMBER = Slot(name="ticket", type="id", digits=(3,), ask="Which?")
SHOW = Intent(
    name="show", examples=["show me the ticket"], keywords=["show"], slot=[NUMBER], tool="show", when_asked=True
)
SEND = Intent(name="send", examples=["send the ticket"], keywords=["send"], slot=[NUMBER], tool="send")
STOP = Intent(name="stop", examples=["stop the ticket"], keywords=["stop", "anymore"], slot=[NUMBER], tool="stop")
FIND = Intent(name="find", examples=["how long does it take"], keywords=["long"], reply=[Reply(say="A day.")])
MATCHER = Matcher(Book(intent=[SHOW, SEND, STOP, FIND]))


def means(text: str) -> str:
    guesses = placed(MATCHER.guess(tokens_of(text)), text, TODAY)
    intent = clear_one(guesses) or asked_about(guesses, text, tokens_of(text), TODAY)
    return intent.name if intent else ""


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("keep ticket 471 from being sent, stop it", "stop"),
        ("I would not have ticket 471 anymore", "stop"),
        ("how long does it take", "find"),
        ("how is ticket 471", "show"),
        ("hi, is ticket 471 there", "show"),
        ("what about my ticket 471", "show"),
        ("my ticket is 471", ""),  # says it, asks nothing
        ("what of my ticket", ""),  # does not say which
        ("I want to know nothing of ticket 471", ""),
        ("do not send ticket 471", ""),
    ],
)
def test_what_is_meant(text: str, intent: str) -> None:
    assert means(text) == intent


def test_an_id_weakens_what_has_no_place_for_one() -> None:
    guesses = [Guess(FIND, 1.0), Guess(SEND, 0.8)]
    assert [guess.intent.name for guess in placed(guesses, "how long, for 471", TODAY)] == ["send", "find"]
    assert placed(guesses, "how long", TODAY) == guesses


def test_a_question_does_not_decide_against_a_clear_rival() -> None:
    guesses = [Guess(SEND, 0.9), Guess(SHOW, 0.3)]
    assert asked_about(guesses, "what of 471", tokens_of("what of 471"), TODAY) is None
