import random
import re
from functools import cache
from pathlib import Path

import pytest

from train.voice import data, text, text_numbers, text_words

HELDOUT = Path(text.__file__).parent / "heldout.txt"


@cache
def every() -> tuple[text.Line, ...]:
    return tuple(text.lines(20_261_201))


@cache
def heldout() -> tuple[tuple[str, str], ...]:
    rows = [line.split("\t") for line in HELDOUT.read_text("utf-8").splitlines()]
    return tuple((kind, sentence) for kind, sentence in rows)


def bare(sentence: str) -> str:
    return " ".join(re.findall(r"[a-z0-9']+", sentence.lower()))


def test_a_writer_writes_the_same_with_the_same_seed() -> None:
    def some(seed: int) -> list[str]:
        writer = text.Writer(random.Random(seed))
        return [writer.fill("{first} {verbed} {a_adj_noun} for {money}.") for _ in range(9)] + [writer.long()]

    assert some(3) == some(3)
    assert some(3) != some(4)


def test_there_are_enough_lines_of_every_kind_and_none_twice() -> None:
    lines = every()
    assert {line.kind for line in lines} == set(data.KINDS)
    assert len({line.text for line in lines}) == len(lines)
    assert 10_000 <= len(lines) <= 14_000


def test_no_slot_or_choice_is_left_open() -> None:
    assert not [line.text for line in every() if re.search(r"[{}\[\]|]", line.text)]


def test_kinds_have_the_lengths_that_they_promise() -> None:
    for line in every():
        words = len(line.text.split())
        if line.kind == "long":
            assert 20 <= words <= 50
        if line.kind == "short":
            assert words <= 4
        assert line.text[-1] in ".!?"


def test_lines_hold_thousands_of_words() -> None:
    assert len({word.strip(".,;:!?").lower() for line in every() for word in line.text.split()}) > 8_000


def test_held_out_are_sixty_of_each_class() -> None:
    kinds = [kind for kind, _ in heldout()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == dict.fromkeys(
        ("agent", "number", "name", "long", "single"), 60
    )


def test_no_held_out_sentence_is_trained_on() -> None:
    trained = {bare(part) for line in every() for part in (line.text, *re.split(r"(?<=[.!?]) ", line.text))}
    assert not [sentence for _, sentence in heldout() if bare(sentence) in trained]


def test_single_held_out_words_are_in_no_line() -> None:
    words = {word for line in every() for word in re.findall(r"[a-z]+", line.text.lower())}
    singles = [sentence.strip(".?").lower() for kind, sentence in heldout() if kind == "single"]
    assert not words & set(singles)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "zero"),
        (21, "twenty-one"),
        (100, "one hundred"),
        (305, "three hundred and five"),
        (1040, "one thousand forty"),
        (120_000, "one hundred and twenty thousand"),
    ],
)
def test_numbers_in_words(number: int, said: str) -> None:
    assert text_numbers.in_words(number) == said


def test_forms_of_words() -> None:
    assert [text_words.plural(noun) for noun in ("box", "city", "day", "woman")] == ["boxes", "cities", "days", "women"]
    assert [text_words.past(verb) for verb in ("stop", "carry", "bake", "hide")] == [
        "stopped", "carried", "baked", "hid",
    ]  # fmt: skip
    assert [text_words.progressive(verb) for verb in ("tie", "bake", "plan", "visit")] == [
        "tying", "baking", "planning", "visiting",
    ]  # fmt: skip
    assert [text_words.with_article(word) for word in ("hour", "unit", "apple", "pear")] == [
        "an hour", "a unit", "an apple", "a pear",
    ]  # fmt: skip


def test_a_deck_deals_all_cards_before_any_comes_again() -> None:
    deck = text_words.Deck("abc", random.Random(1))
    assert sorted(deck.deal() for _ in range(3)) == ["a", "b", "c"]
    assert sorted(deck.deal() for _ in range(3)) == ["a", "b", "c"]
