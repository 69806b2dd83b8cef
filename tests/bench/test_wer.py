import numpy as np
import pytest

from antiphon.bench.wer import WordErrors, error_rate, first_word_heard, normalise, rate_difference, word_errors
from antiphon.core.frame import Samples


@pytest.mark.parametrize(
    ("said", "heard", "errors", "words"),
    [
        ("The cat sat.", "the cat sat", 0, 3),
        ("The cat sat.", "the cat", 1, 3),
        ("The cat sat.", "the big cat sat", 1, 3),
        ("The cat sat.", "the dog sat", 1, 3),
        ("The cat sat.", "", 3, 3),
        ("It costs twenty five dollars.", "It costs $25.", 0, 3),
        ("The colour is grey.", "The color is gray.", 0, 4),
    ],
)
def test_errors_of_one_sentence(said: str, heard: str, errors: int, words: int) -> None:
    assert word_errors(said, heard) == WordErrors(errors, words)


def test_a_reference_without_words_is_a_fault_of_the_list() -> None:
    with pytest.raises(ValueError, match="no words"):
        word_errors("...", "hello")


def test_rate_is_over_words_not_over_sentences() -> None:
    rate = error_rate([WordErrors(1, 1), WordErrors(0, 99)])
    assert rate.rate == pytest.approx(0.01)
    assert (rate.errors, rate.words, rate.sentences) == (1, 100, 2)
    assert rate.upper > rate.rate


def test_a_clean_reading_has_a_clean_bound() -> None:
    rate = error_rate([WordErrors(0, 10)] * 50)
    assert (rate.rate, rate.upper) == (0.0, 0.0)


def test_more_sentences_tighten_the_bound() -> None:
    few = [WordErrors(1, 10), WordErrors(0, 10)] * 5
    assert error_rate(few * 20).upper < error_rate(few).upper


def test_difference_is_paired() -> None:
    hard = [WordErrors(5, 10), WordErrors(0, 10)] * 50
    same = rate_difference(hard, hard)
    assert (same.difference, same.upper) == (0.0, 0.0)
    worse = rate_difference([WordErrors(item.errors + 1, 10) for item in hard], hard)
    assert worse.difference == pytest.approx(0.1)
    # one error more in every sentence: no luck of the draw is left, although the sentences themselves differ widely
    assert worse.upper == pytest.approx(0.1)


def test_difference_needs_the_same_sentences() -> None:
    with pytest.raises(ValueError, match="same sentences"):
        rate_difference([WordErrors(0, 5)], [WordErrors(0, 6)])


def test_no_sentences_no_rate() -> None:
    with pytest.raises(ValueError):
        error_rate([])


def test_first_word_is_looked_for_in_the_first_second_only() -> None:
    lengths: list[int] = []

    def recognise(samples: Samples) -> str:
        lengths.append(len(samples))
        assert np.all(samples[:16_000] == 1.0)
        return "Hello, this is"

    assert first_word_heard("Hello there.", np.ones(80_000, np.float32), recognise)
    assert lengths[0] < 32_000


@pytest.mark.parametrize(
    ("text", "heard", "found"),
    [
        ("Hello there.", "", False),
        ("Hello there.", "the low there", False),
        ("Tomorrow it rains.", "to morrow it", True),
        ("Hello there.", "Uh, hello the", True),
    ],
)
def test_first_word_found_or_not(text: str, heard: str, found: bool) -> None:
    assert first_word_heard(text, np.ones(20_000, np.float32), lambda _: heard) is found


def test_normaliser_joins_spoken_digits() -> None:
    assert normalise("four seven one nine") == normalise("4719")
