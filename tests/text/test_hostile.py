"""Texts made to cost: the work must stay linear, whatever comes, and however it was cut."""

import time

import pytest

from antiphon.core.speech import Pronunciation
from antiphon.text.markdown import MarkdownStripper
from antiphon.text.markup import MarkupReader
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Text

SIZE = 20_000
GENEROUS_S = 3.0
"""Linear work takes about a tenth of a second; what these texts cost before is minutes, or longer than anyone waits."""

HOSTILE = {
    "links that never end": "[a](",
    "brackets": "[",
    "angles": "<",
    "backticks": "`",
    "stars": "*",
    "words with marks": "a_b_",
    "combining marks alone": "\u0301",
    "dashes apart": "- ",
    "half a tag": '<break time="',
    "digits": "7",
    "marks": "?!",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_read_in_linear_time(piece):
    reader = SpeechReader("en", 3.0)
    began_s = time.process_time()
    units = reader.push((piece * SIZE)[:SIZE], 0.0) + reader.flush(0.0)
    assert time.process_time() - began_s < GENEROUS_S
    assert all(len(unit.text) <= 400 for unit in units)


@pytest.mark.parametrize("piece", ["`", "*", "[a](", "- "])
def test_a_hostile_text_is_read_in_linear_time_token_by_token(piece):
    reader = SpeechReader("en", 3.0)
    text = (piece * SIZE)[:SIZE]
    began_s = time.process_time()
    for at in range(0, len(text), 8):
        reader.push(text[at : at + 8], 0.0)
    assert time.process_time() - began_s < GENEROUS_S
    assert reader.pending_chars < 2_000


KEYS = [Pronunciation("a" * n, "x") for n in range(1, 101)] + [Pronunciation("a " * n + "b", "y") for n in range(1, 49)]


@pytest.mark.parametrize(("text", "step"), [("a " * 3_000, SIZE), ("a " * 700, 1), ("a" + " " * SIZE, 1)])
def test_a_dictionary_made_to_cost_is_looked_up_in_linear_time(text: str, step: int) -> None:
    reader = SpeechReader("en", 3.0, pronunciations=KEYS)
    began_s = time.process_time()
    for at in range(0, len(text), step):
        reader.push(text[at : at + step], 0.0)
    reader.flush(0.0)
    assert time.process_time() - began_s < GENEROUS_S


def test_a_run_of_marks_is_judged_alike_however_it_was_cut():
    text = "a " + "*" * 250 + " b " + "`" * 250 + " c"
    whole = MarkdownStripper()
    cut = MarkdownStripper()
    expected = whole.feed(text) + whole.finish()
    assert "".join([cut.feed(c) for c in text]) + cut.finish() == expected


def test_a_link_that_is_still_open_waits_and_then_is_one():
    stripper = MarkdownStripper()
    assert stripper.feed("see [the page](https://a.example/x_(y") == "see "
    assert stripper.feed(")) now") + stripper.finish() == "the page now"


def test_lone_brackets_come_as_one_text():
    assert MarkupReader().feed("a [b] <3 [c] d") == [Text("a [b] <3 [c] d")]
