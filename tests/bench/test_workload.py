import re

import pytest

from antiphon.bench.workload import TextKind, generate, text_hash, tokens, wer_sentences

KINDS: tuple[TextKind, ...] = ("words25", "words5", "agent", "answer3", "mixed")


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_distinct_and_repeatable(kind: TextKind) -> None:
    first = generate(kind, 300, seed=7)
    assert len(set(first.texts)) == 300
    assert first == generate(kind, 300, seed=7)
    assert first.sha256 != generate(kind, 300, seed=8).sha256


@pytest.mark.parametrize("kind", KINDS)
def test_a_longer_list_begins_with_a_shorter(kind: TextKind) -> None:
    assert generate(kind, 50, seed=1).texts[:20] == generate(kind, 20, seed=1).texts


@pytest.mark.parametrize(("kind", "words"), [("words25", 25), ("words5", 5)])
def test_sentences_have_exactly_so_many_words(kind: TextKind, words: int) -> None:
    for text in generate(kind, 300, seed=2).texts:
        assert len(text.split()) == words
        assert text[0].isupper()
        assert text[-1] in ".?"
        assert len(re.findall(r"[.?!]", text)) == 1


def test_long_sentences_come_with_and_without_commas() -> None:
    texts = generate("words25", 300, seed=3).texts
    without = sum(1 for text in texts if "," not in text)
    assert 20 < without < 200


def test_an_answer_has_three_sentences() -> None:
    for text in generate("answer3", 100, seed=4).texts:
        assert len(re.findall(r"[.?!](?= |$)", text)) == 3


def test_mixed_texts_have_figures_in_them() -> None:
    texts = generate("mixed", 200, seed=5).texts
    assert all(re.search(r"\d", text) for text in texts)
    assert any("$" in text for text in texts)
    assert any("%" in text for text in texts)


def test_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="words25"):
        generate("poems", 1, seed=1)  # type: ignore[arg-type]


def test_a_kind_that_runs_out_says_so() -> None:
    with pytest.raises(ValueError, match="distinct"):
        generate("words5", 1_000_000, seed=1)


def test_hash_depends_on_order_and_on_the_cuts() -> None:
    assert text_hash(["a", "b"]) != text_hash(["b", "a"])
    assert text_hash(["ab"]) != text_hash(["a", "b"])


def test_wer_list_is_300_distinct_sentences_in_two_halves() -> None:
    tune, report, everything = wer_sentences("tune"), wer_sentences("report"), wer_sentences("all")
    assert len(tune) == len(report) == 150
    assert len(set(everything)) == 300
    assert set(tune) | set(report) == set(everything)


def test_wer_sentences_are_written_out() -> None:
    for text in wer_sentences("all"):
        assert re.fullmatch(r"[A-Za-z' ,.?]+", text), text


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_the_text_in_small_pieces(kind: TextKind) -> None:
    for text in generate(kind, 20, seed=6).texts:
        pieces = tokens(text)
        assert "".join(pieces) == text
        assert max(map(len, pieces)) <= 8
        assert len(pieces) >= len(text.split())
