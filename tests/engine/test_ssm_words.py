"""Units of a few words: a function of the text alone."""

import random

import pytest

from antiphon.engine.ssm_words import WordChunker
from antiphon.text.unit import Break, Speed, Text, Unit

TEXT = (
    "Your order no. 4512 ships on March 3rd, 2024 and costs $29.50 in all. Dr. Smith of the U.S. office said so! "
    "Is it 5 km away, or more? World War II ended. Yes"
)


def units(deltas: list[str]) -> list[Unit]:
    chunker = WordChunker()
    found: list[Unit] = []
    for delta in deltas:
        found += chunker.push([Text(delta)], 0.0)
    return found + chunker.flush(0.0)


def spoken(found: list[Unit]) -> list[str]:
    return [unit.text for unit in found if unit.pieces]


@pytest.mark.parametrize("seed", range(5))
def test_units_do_not_depend_on_how_the_text_came(seed: int) -> None:
    rng = random.Random(seed)
    deltas, rest = [], TEXT
    while rest:
        size = rng.randint(1, 9)
        deltas.append(rest[:size])
        rest = rest[size:]
    context = [(u.text, u.ending, u.before.split()[-4:], u.after.split()[:2]) for u in units(deltas) if u.ending]
    whole = [(u.text, u.ending, u.before.split()[-4:], u.after.split()[:2]) for u in units([TEXT])]
    assert context == whole
    assert " ".join(text for text, *_ in whole).split() == TEXT.split()


def test_what_belongs_together_stays_together() -> None:
    found = spoken(units([TEXT]))
    for group in ("March 3rd, 2024", "costs $29.50", "Dr. Smith", "5 km", "War II", "no. 4512"):
        assert any(group in unit for unit in found), group
    assert max(len(unit.split()) for unit in found) <= 6


def test_a_word_goes_when_two_more_are_known() -> None:
    chunker = WordChunker()
    assert chunker.push([Text("Please hold the")], 0.0) == []
    assert spoken(chunker.push([Text(" line")], 0.0)) == ["Please"]


def test_a_sentences_end_needs_no_more_words() -> None:
    chunker = WordChunker()
    found = chunker.push([Text("Hello there. How")], 0.0)
    assert spoken(found) == ["Hello", "there."]
    assert [unit.ending for unit in found] == ["none", "sentence"]


def test_what_stalls_is_let_go_and_its_sentence_closed() -> None:
    chunker = WordChunker(max_buffer_delay_s=1.0)
    first = chunker.push([Text("I think that ")], 0.0)
    assert chunker.due_s is not None
    found = chunker.tick(chunker.due_s)
    assert spoken(first + found) == ["I", "think"]  # "that" leans on what may still come
    assert not found[-1].pieces


def test_without_delay_each_push_closes() -> None:
    found = WordChunker(max_buffer_delay_s=0.0).push([Text("Wait")], 0.0)
    assert spoken(found) == ["Wait"]
    assert not found[-1].pieces


def test_breaks_and_changes_cut() -> None:
    chunker = WordChunker()
    found = chunker.push([Text("One two"), Break(0.5), Text("three"), Speed(1.5), Text("four. Five")], 0.0)
    assert " ".join(spoken(found)) == "One two three four."
    assert [unit.speed for unit in found if unit.text == "four."] == [1.5]
    assert any(unit.pause_s == 0.5 for unit in found)
    assert chunker.prosody == (1.5, 1.0, None)


def test_a_run_without_end_is_cut() -> None:
    found = spoken(units(["1 " * 2000]))
    assert len(found) > 10
    assert max(map(len, found)) <= 320


@pytest.mark.parametrize("size", [320, 321, 420, 640, 641, 1_000])
def test_a_run_without_spaces_is_spoken_whole(size: int) -> None:
    run = ("https://example.com/" + "x/" * size)[:size]
    assert "".join(spoken(units([run]))) == run
    assert "".join(spoken(units(list(run)))) == run
