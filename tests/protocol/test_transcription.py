"""Forms, and an ear's events collected into a transcript."""

import math

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.core.event import Flushed, Warned
from antiphon.core.hearing import Heard, HeardWord, Listened
from antiphon.protocol.heard_languages import NAMES, language_code, language_name
from antiphon.protocol.transcription import FormFields, TranscriptDraft, log_probability, spaced_words

from .ear_shell import final, heard, s


@pytest.mark.parametrize("name", ["tags", "tags[]", "tags[0]", " tags "])
def test_F9_lists_in_all_their_spellings(name: str) -> None:
    form = FormFields([(name, " a "), ("other", "x"), (name, ""), (name, "b")])
    assert form.all("tags") == ("a", "b")
    assert form.one("tags") == "b"
    assert form.one("missing") is None


def test_choices_are_checked() -> None:
    form = FormFields([("g[]", "word"), ("g[]", "segment"), ("odd", "x" * 100)])
    assert form.choices("g", ("word", "segment")) == ("word", "segment")
    with pytest.raises(InvalidInput, match=r"odd: must be of word, not 'x{40}'") as caught:
        form.choices("odd", ("word",))
    assert caught.value.param == "odd"


def test_a_transcript_is_its_finals() -> None:
    draft = TranscriptDraft()
    for event in (
        heard("Hello the", 0, 1),
        final("Hello there.", 0.5, 1),
        Listened(s(2), speech=False),
        Warned("x"),
        final("", 2, 3),
        final(" Ça va ?", 3, 4),
        Flushed("end"),
        Listened(s(9.5), speech=False),
    ):
        draft.add(event)
    transcript = draft.finish()
    assert transcript.text == "Hello there. Ça va ?"
    assert [segment.text for segment in transcript.segments] == ["Hello there.", " Ça va ?"]
    assert "".join(word.text for word in transcript.words) == "Hello there. Ça va ?"
    assert transcript.duration_s == 9.5
    assert draft.finish(12.25).duration_s == 12.25


def test_the_language_is_that_of_most_of_the_text() -> None:
    draft = TranscriptDraft()
    for text, language in (("Yes.", "en"), (" Je ne sais pas encore.", "fr"), (" Okay.", "en")):
        draft.add(Heard(text, 0, True, (), 0, 1, language))
    assert draft.finish().language == "fr"
    assert TranscriptDraft().finish().language == ""


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (" Hello, world! ", ["Hello,", "world!"]),
        (" Hello, world!", ["Hello", "world"]),
        ("你好，世界。", ["你", "好", "世", "界"]),
        ("a a a", ["a", "a", "a"]),
        (" one", [" one"]),
        ("", []),
    ],
)
def test_words_with_their_whitespace_are_the_text(text: str, bare: list[str]) -> None:
    words = tuple(HeardWord(word, at * 10, at * 10 + 9, 0.5) for at, word in enumerate(bare))
    spaced = spaced_words(Heard(text, 0, True, words, 0, 100))
    assert "".join(word.text for word in spaced) == text
    assert [(word.start_sample, word.confidence) for word in spaced] == [(word.start_sample, 0.5) for word in words]


def test_a_word_that_is_not_in_the_text_is_kept() -> None:
    words = (HeardWord("ten", 0, 5), HeardWord("euros", 5, 9))
    assert [word.text for word in spaced_words(Heard("10 euros", 0, True, words, 0, 9))] == ["ten", "10 euros"]


def test_without_words_the_time_is_shared_out_by_length() -> None:
    spaced = spaced_words(Heard(" ab abcd", 0, True, (), 800, 1600, "en", 0.25))
    assert [(word.text, word.start_sample, word.end_sample) for word in spaced] == [
        (" ab", 900, 1100),
        (" abcd", 1200, 1600),
    ]
    assert spaced[0].confidence == 0.25


def test_log_probabilities_are_finite_numbers_up_to_zero() -> None:
    assert log_probability(1.0) == 0.0
    assert math.copysign(1, log_probability(1.0)) == 1.0
    assert log_probability(0.5) == pytest.approx(math.log(0.5), abs=1e-6)
    assert log_probability(0.0) < -20
    assert log_probability(2.0) == 0.0


def test_languages() -> None:
    assert len(NAMES) == 100
    assert all(code and name == name.strip().lower() and name for code, name in NAMES.items())
    assert language_name("en-GB") == "english"
    assert language_name("HT") == "haitian creole"
    assert language_name("tlh") == "tlh"
    assert language_code("English") == "en"
    assert language_code("pt-BR") == "pt-BR"
    assert {language_code(name) for name in NAMES.values()} == set(NAMES)
