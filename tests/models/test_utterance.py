"""The utterance model: packaged weights on words that are whole, and on words that are not."""

from pathlib import Path

import numpy as np
import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.models.utterance import UtteranceModel
from antiphon.models.utterance_pieces import END, SOFT, START, Pieces

WHOLE_AND_CUT = (
    ("I would like to book a table for two.", "I would like to book a table for"),
    ("What time do you close on Saturdays?", "What time do you"),
    ("The parcel that you sent me is broken.", "The parcel that you sent me"),
    ("I left my umbrella on the train this morning.", "I left my umbrella on the"),
    ("Could you tell me who is in charge of the accounts?", "Could you tell me who is"),
    ("He said that he would call me back.", "He said that he would"),
    ("The man who lives next door has a dog.", "The man who lives next door"),
    ("If it rains we will stay at home.", "If it rains"),
    ("My flight to Madrid was cancelled yesterday.", "My flight to Madrid was"),
    ("She put the letter on the table.", "She put the letter"),
    ("We need a bigger room for the meeting.", "We need a bigger"),
    ("Please send the invoice to my office.", "Please send the"),
    ("The heating in my room does not work.", "The heating in my room does not"),
    ("I want to change the name on my ticket.", "I want to change the name on my"),
    ("There is something wrong with the engine.", "There is something wrong with"),
    ("Yes, that is what I meant.", "Yes, that is what"),
    ("Have you got anything cheaper?", "Have you got anything cheaper than"),
    ("I think the best thing would be to wait.", "I think the best thing would be"),
    ("It is the second door on the left.", "It is the second"),
    ("Nobody told me about the delay.", "Nobody told me about"),
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> UtteranceModel:
    return UtteranceModel.load()


def test_whole_sentences_are_likelier_to_end_than_their_parts(model: UtteranceModel) -> None:
    wrong = [whole for whole, cut in WHOLE_AND_CUT if model.log_odds(whole) <= model.log_odds(cut)]
    assert len(wrong) <= 1, wrong


def test_a_whole_sentence_is_likelier_than_any_cut_of_another(model: UtteranceModel) -> None:
    whole = np.array([model.log_odds(whole) for whole, _ in WHOLE_AND_CUT])
    cut = np.array([model.log_odds(cut) for _, cut in WHOLE_AND_CUT])
    assert (whole[:, None] > cut[None]).mean() > 0.9


@pytest.mark.parametrize("mark", [".", "?", "!", ",", " -", "...", ""])
def test_the_last_mark_is_no_evidence(model: UtteranceModel, mark: str) -> None:
    assert model.log_odds("I would like to book a table" + mark) == model.log_odds("I would like to book a table")


def test_without_words_there_is_no_opinion(model: UtteranceModel) -> None:
    assert model.log_odds("") == model.log_odds("... ?") == model.log_odds("\u4f60\u597d \U0001f600") == 0.0


def test_only_the_last_words_count_however_many_there_were(model: UtteranceModel) -> None:
    tail = "and then I said that I would call them again when " * 12 + "the parcel came"
    assert model.log_odds("one thing after another " * 5_000 + tail) == model.log_odds("and " * 80 + tail)


def test_missing_or_damaged_weights_are_said(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        UtteranceModel.load(tmp_path / "none.npz")
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        UtteranceModel.load(tmp_path / "damaged.npz")


def test_words_become_the_longest_pieces() -> None:
    pieces = Pieces(["<start>", ",", ".", "book", "b", "o", "k", "+s", "+ing", "+i", "t", "a", "00"])
    assert pieces.text("Books, booking. A b") == [START, 3, 7, SOFT, 3, 8, END, 11, 4]
    assert pieces.text("12 ") == [START, 12]
    assert pieces.text("\u2014 book \u2014") == [START, 3]
