"""The texts that the utterance model is trained on, and its pieces."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from train.turn.words import corpus, opinions, pieces
from train.turn.words.corpus import DONE, END, LOOSE, NONE, SOFT, Said

from antiphon.models.utterance_pieces import Pieces


def test_marks_belong_to_the_word_before_them() -> None:
    words, marks = corpus.read("\u201cWell, Mr. Hope,\u201d she said; \u201cit is 7:45 p.m.\u2014late!\u201d")
    assert words == ["Well", "Mr", "Hope", "she", "said", "it", "is", "7:45", "pm", "late"]
    assert marks == [SOFT, NONE, SOFT, NONE, LOOSE, NONE, NONE, NONE, LOOSE, END]


def test_books_are_read_by_paragraphs_without_headings_and_licence(tmp_path: Path) -> None:
    book = tmp_path / "A-Book_1"
    book.mkdir()
    (book / "1.txt").write_text(
        "A licence. It has many words in it.\n\n*** START OF THIS BOOK ***\n\nCHAPTER I\n\n"
        "The first sentence is here.\nThe second one, too.\n\n*** END OF THIS BOOK ***\n\nMore licence. Much more."
    )
    said = list(corpus.books(tmp_path))
    assert [" ".join(one.words) for one in said] == ["The first sentence is here The second one too"]
    assert not said[0].closed
    assert said[0].marks[-1] == END


def test_what_people_say_ends_where_they_stop(tmp_path: Path) -> None:
    data = tmp_path / "TM-4-2024/data"
    data.mkdir(parents=True)
    (data / "data_00.json").write_text(json.dumps([{"utterances": [{"text": "Hi, a latte please"}, {"text": "..."}]}]))
    split = tmp_path / "TM-3-2020/splits/train"
    split.mkdir(parents=True)
    (split / "train.tsv").write_text("<C><U>Two tickets.<A>For what film?<PN>find\t[A]Here you are.\tid\n")
    said = list(corpus.taskmaster(tmp_path))
    assert [" ".join(one.words) for one in said] == [
        "Hi a latte please", "Two tickets", "For what film", "Here you are",
    ]  # fmt: skip
    assert all(one.closed and one.marks[-1] == DONE for one in said)


def test_what_shares_seven_words_with_a_given_text_is_left_out() -> None:
    def said(text: str) -> Said:
        words, marks = corpus.read(text)
        return Said(tuple(words), tuple(marks), closed=False)

    kept = said("it was the best of all the times")
    shared = said("please enter your personal identification number now")
    left = list(corpus.without([kept, shared], ["Please enter your personal identification number, now."]))
    assert left == [kept]


def test_frequent_words_are_pieces_and_others_are_spelt() -> None:
    vocabulary = pieces.choose([("the", "cat", "sat", "on", "the", "mat")] * 3 + [("zygote",)], 120)
    known = Pieces(vocabulary)
    assert len(vocabulary) == len(set(vocabulary)) + 1 <= 120  # the full stop is a mark, and a sign inside numbers
    assert [vocabulary[at] for at in known.word("cat")] == ["cat"]
    assert "".join(vocabulary[at].lstrip("+") for at in known.word("zygote")) == "zygote"


def test_a_teachers_opinions_come_back_as_they_were_written(tmp_path: Path) -> None:
    odds = np.array([[-3.0, -4.5], [1.25, -2.0]], np.float16)
    some = [
        opinions.Judged(Said(("Good", "evening"), (NONE, END), closed=False), (",", ""), odds),
        opinions.Judged(Said(("Thanks",), (DONE,), closed=True), (".",), odds[:1]),
    ]
    opinions.write(tmp_path / "00003.npz", some)
    found = list(opinions.judged(tmp_path))
    assert [(one.said, one.shown) for one in found] == [(one.said, one.shown) for one in some]
    assert [one.odds.tolist() for one in found] == [one.odds.tolist() for one in some]


def test_marks_are_shown_as_a_recogniser_might_write_them_and_sentences_begin_with_a_capital() -> None:
    said = Said(("well", "I", "see", "so", "be", "it"), (SOFT, NONE, END, NONE, NONE, DONE), closed=True)
    texts, made_up = set(), 0
    for seed in range(300):
        text, ends, marks = corpus.as_heard(said, random.Random(seed))
        texts.add(text)
        made_up += any(mark for mark, of in zip(marks, said.marks, strict=True) if of == NONE)
        assert [text[:end].split(" ")[-1].lower() for end in ends] == [word.lower() for word in said.words]
        assert text[ends[-1] :] == marks[-1] == ""  # what closes it is never shown
    assert {"Well, I see. So be it", "Well I see so be it"} < texts
    assert all(text.startswith("Well") for text in texts)
    assert 0 < made_up < 60  # a few, and not in most sayings


def test_targets_stand_at_the_last_token_of_a_word_and_a_title_ends_nothing() -> None:
    known = Pieces(pieces.choose([("mr", "hope", "is", "here")] * 3, 120))
    said = Said(("Mr", "Hope", "is", "zzz", "here"), (NONE,) * 4 + (END,), closed=False)
    odds = np.array([[4.0, -3.0], [0.0, -9.0], [-9.0, 2.0], [-2.0, -2.0], [9.0, 9.0]], np.float16)
    row = opinions.row_of(opinions.Judged(said, ("", ",", "", "", ""), odds), known)
    assert len(row.tokens) == len(row.targets) == 1 + 1 + 2 + 1 + 3 + 1  # "Hope" and its comma; "zzz" by letters
    told = row.targets[~np.isnan(row.targets[:, 0])].astype(float)
    assert len(told) == len(said.words)
    assert told[0].tolist() == [0.0, 0.0]
    assert told[1] == pytest.approx([0.5, 0.0], abs=0.01)
    assert told[-1].sum() == pytest.approx(1.0, abs=0.01)  # never more than everything
    assert np.isnan(row.targets[[0, 3, 5, 6], 0]).all()
