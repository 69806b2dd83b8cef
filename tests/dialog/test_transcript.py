"""The append-only transcript."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.hearing import Heard
from antiphon.dialog.transcript import TurnTranscript, beyond


def heard(text: str, stable: int = 0, final: bool = False) -> Heard:
    return Heard(text, len(text) if final else stable, final)


@pytest.mark.parametrize(
    ("used", "known", "more"),
    [
        ("", "make it", "make it"),
        ("make it Fri", "make it Friday", "day"),
        ("make it Friday", "make it", ""),
        ("make it Friday.", "make it Friday no wait", " no wait"),
        ("I want to go", "I won't to go home", " home"),
        ("0 7 7", "0 7 7 7 3", " 7 3"),
        ("zero seven", "0 7, 3", " 3"),
        (" and then.", " and then we left.", " we left."),
        ("book it for you", "book it for Friday at noon", " at noon"),
        ("Hello.", "", ""),
        ("Thursday", "Wednesday", ""),
    ],
)
def test_what_comes_after_what_was_said(used: str, known: str, more: str) -> None:
    assert beyond(used, known)[0] == more


def test_only_the_stable_part_is_given_out_early() -> None:
    transcript = TurnTranscript()
    transcript.hear(heard("make it Fry", stable=7))
    assert transcript.grow()
    assert transcript.text == "make it"
    assert not transcript.grow()
    transcript.hear(heard("make it Friday", stable=14))
    assert transcript.grow()
    assert transcript.text == "make it Friday"


def test_finals_join_verbatim() -> None:
    transcript = TurnTranscript()
    for text in ("One  two,", " three.", "\u00a0four"):
        transcript.hear(heard(text, final=True))
        transcript.grow()
    assert transcript.text == "One  two, three\u00a0four"


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (("I would like to.", " book a table."), "I would like to book a table."),
        (("That is all.", " Thank you."), "That is all. Thank you."),
        (("Is it open?", " On Sunday, I mean."), "Is it open? On Sunday, I mean."),
        (("First, second,", " third."), "First, second, third."),
    ],
)
def test_the_full_stop_of_a_window_is_not_the_speakers(texts: tuple[str, ...], whole: str) -> None:
    transcript = TurnTranscript()
    for text in texts:
        transcript.hear(heard(text, final=True))
        transcript.grow()
        assert whole.startswith(transcript.text)
    transcript.grow(everything=True)
    assert transcript.finish() == whole


def test_a_word_that_was_given_out_is_not_taken_back_nor_said_twice() -> None:
    transcript = TurnTranscript()
    transcript.hear(heard("I need too tickets"))
    transcript.grow(everything=True)
    transcript.hear(heard("I need two tickets for Saturday.", final=True))
    transcript.grow(everything=True)
    assert transcript.text == "I need too tickets for Saturday."


def test_marks_without_words_are_no_reason_for_a_turn() -> None:
    transcript = TurnTranscript()
    transcript.hear(heard("Hello"))
    transcript.grow(everything=True)
    assert transcript.finish() == "Hello"
    transcript.hear(heard("Hello.", final=True))
    assert not transcript.waiting
    transcript.drop_marks()
    transcript.hear(heard(" Next", final=True))
    transcript.grow()
    assert transcript.text == " Next"


@given(st.lists(st.tuples(st.text("ab. ", max_size=12), st.booleans(), st.booleans()), max_size=12))
def test_text_only_ever_grows(steps: list[tuple[str, bool, bool]]) -> None:
    transcript = TurnTranscript()
    for text, final, everything in steps:
        before = transcript.text
        transcript.hear(heard(text, len(text) // 2, final))
        grew = transcript.grow(everything=everything)
        assert transcript.text.startswith(before)
        assert grew == (transcript.text != before)


@given(st.lists(st.text("ab. ", max_size=12), max_size=8))
def test_finals_alone_give_the_whole_text(finals: list[str]) -> None:
    transcript = TurnTranscript()
    for text in finals:
        transcript.hear(heard(text, final=True))
        transcript.grow()
    transcript.grow(everything=True)
    said, whole = transcript.text.replace(".", ""), "".join(finals).replace(".", "")
    assert whole.startswith(said)
    assert not whole[len(said) :].strip()
