"""Dictionaries on streams of text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import Pronunciation
from antiphon.text.pronounce import Pronouncer, said_as
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Ipa, Piece, Respelled, Text

NGINX = Pronunciation("nginx", "engine x")
CITY = Pronunciation("New York", "<<n|ˈ|u>> <<j|ˈ|ɔ|ɹ|k>>")
NEW = Pronunciation("new", "nouveau")
MINSTER = Pronunciation("York Minster", "the minster")
US = Pronunciation("US", "United States", case_sensitive=True)
POLISH = Pronunciation("polish", "poh lish", case_sensitive=True)


def read(items: list[Pronunciation], *deltas: str) -> list[Piece]:
    pronouncer = Pronouncer(items)
    pieces = [piece for delta in deltas for piece in pronouncer.feed(delta)]
    return merged(pieces + pronouncer.finish())


def merged(pieces: list[Piece]) -> list[Piece]:
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Text) and out and isinstance(out[-1], Text):
            out[-1] = Text(out[-1].text + piece.text)
        else:
            out.append(piece)
    return out


def test_whole_words_only_in_any_capitals_and_what_was_written_is_kept() -> None:
    assert read([NGINX], "Use Nginx, not nginxes or my_nginx. NGINX!") == [
        Text("Use "),
        Respelled("Nginx", "engine x"),
        Text(", not nginxes or my_nginx. "),
        Respelled("NGINX", "engine x"),
        Text("!"),
    ]


def test_the_longest_key_wins_and_may_be_spread_over_lines() -> None:
    assert read([NEW, CITY], "A new New \n York") == [
        Text("A "),
        Respelled("new", "nouveau"),
        Text(" "),
        Ipa("New \n York", "nˈu jˈɔɹk"),
    ]
    assert read([CITY, MINSTER], "New York Minster") == [Ipa("New York", "nˈu jˈɔɹk"), Text(" Minster")]
    assert read([CITY, MINSTER], "Old York Minster") == [Text("Old "), Respelled("York Minster", "the minster")]


def test_case_matters_where_the_item_says_so() -> None:
    assert read([US], "US tells us") == [Respelled("US", "United States"), Text(" tells us")]
    assert read([POLISH], "Polish it. Polish it! The Polish way, POLISH.") == [
        Respelled("Polish", "poh lish"),
        Text(" it. "),
        Respelled("Polish", "poh lish"),
        Text(" it! The Polish way, POLISH."),
    ]
    loose = Pronunciation("us", "you ess")
    assert read([loose, US], "US us")[0] == Respelled("US", "United States")


def test_scripts_without_spaces_need_no_edges() -> None:
    assert read([Pronunciation("银行", "yinhang")], "我去银行取钱") == [
        Text("我去"),
        Respelled("银行", "yinhang"),
        Text("取钱"),
    ]


@pytest.mark.parametrize(
    ("key", "text", "left"),
    [
        ("राम", "रामायण राम", "रामायण "),  # vowel signs are no letters to Python
        ("cafe", "cafe\u0301 cafe", "cafe\u0301 "),
        ("می", "می\u200cروم می", "می\u200cروم "),
        ("กน", "กน้ำกน", "กน้ำ"),
    ],
)
def test_a_mark_belongs_to_the_letter_before_it(key: str, text: str, left: str) -> None:
    assert read([Pronunciation(key, "x")], text) == [Text(left), Respelled(key, "x")]


def test_what_is_said_is_not_looked_up_again() -> None:
    ring = [Pronunciation("a b", "b a"), Pronunciation("b a", "a b"), Pronunciation("b", "a b b")]
    assert read(ring, "a b b a b") == [
        Respelled("a b", "b a"),
        Text(" "),
        Respelled("b a", "a b"),
        Text(" "),
        Respelled("b", "a b b"),
    ]


def test_white_space_without_end_is_not_held() -> None:
    pronouncer = Pronouncer([CITY])
    pronouncer.feed("New")
    for _ in range(1_000):
        pronouncer.feed(" ")
    assert pronouncer.held_chars == 0
    assert read([CITY], "New" + 40 * " " + "York") == [Text("New" + 40 * " " + "York")]


def test_only_what_may_become_a_key_waits() -> None:
    pronouncer = Pronouncer([CITY])
    assert pronouncer.feed("I love N") == [Text("I love ")]
    assert pronouncer.feed("ew Yor") == []
    assert pronouncer.held_chars == 7
    assert pronouncer.feed("kers") == [Text("New Yorkers")]
    assert pronouncer.feed(" New") == [Text(" ")]
    assert pronouncer.release() == [Text("New")]
    assert pronouncer.feed(" York") == [Text(" York")]


ALL = [NGINX, CITY, NEW, MINSTER, US, POLISH]


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["New", " ", "York", "nginx", "US", ".", " Minster", "new", "\n", "es", "Polish", ", ", 20 * " "]
        )
    ),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_how_the_text_was_cut_changes_nothing(words: list[str], cuts: list[int]) -> None:
    text = "".join(words)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    deltas = [text[start:end] for start, end in pairwise(places)]
    whole, cut = read(ALL, text), read(ALL, *deltas)
    assert whole == cut
    assert "".join(piece.text for piece in whole) == text  # type: ignore[union-attr]


def test_a_thousand_keys_cost_little_on_a_long_text() -> None:
    items = [Pronunciation(f"word{n:04d} of many", "x") for n in range(1_000)]
    text = "There is word0500 of many and word9999 of none. " * 400
    assert sum(isinstance(piece, Respelled) for piece in read(items, text)) == 400


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("", "nothing in it to say"),
        ("...", "nothing in it to say"),
        ("<<k|@|t>>", "no symbol"),
        ("<<kæt", "either other words, or phonemes"),
        ("the <<kæt>>", "either other words, or phonemes"),
        ("<<ˈ>>", "no sound"),
        ("<<" + 201 * "a" + ">>", "at most 200 phonemes"),
    ],
)
def test_what_cannot_be_said_is_refused(said: str, about: str) -> None:
    with pytest.raises(InvalidInput, match=about) as raised:
        said_as("cat", said)
    assert raised.value.param == "alias"


def test_a_bad_item_spoils_no_others() -> None:
    bad = Pronunciation("cat", "<<@>>")
    assert read([bad, NGINX], "cat nginx") == [Text("cat "), Respelled("nginx", "engine x")]


def speak(reader: SpeechReader, *deltas: str) -> list[tuple[Piece, ...]]:
    units = [unit for at, delta in enumerate(deltas) for unit in reader.push(delta, 0.01 * at)]
    return [unit.pieces for unit in units + reader.flush(1.0)]


@pytest.mark.parametrize("deltas", [["I use nginx a lot. ", "Do you?"], ["I use ngi", "nx a l", "ot. Do you?"]])
def test_a_reader_hands_pronunciations_to_its_units(deltas: list[str]) -> None:
    pieces = [piece for unit in speak(SpeechReader(pronunciations=[NGINX]), *deltas) for piece in unit]
    assert Respelled("nginx", "engine x") in pieces
    assert "".join(piece.text for piece in pieces).replace(" ", "") == "Iusenginxalot.Doyou?"


def test_marked_up_text_is_left_alone_but_for_its_words() -> None:
    units = speak(SpeechReader(pronunciations=[NGINX]), "**nginx** <<ˈɛn>> <spell>nginx</spell> [nginx](/n/).")
    kinds = [type(piece).__name__ for unit in units for piece in unit if piece.text.strip(" .")]
    assert kinds == ["Respelled", "Ipa", "Spell", "Ipa"]


def test_a_reader_waits_for_a_key_no_longer_than_for_text() -> None:
    reader = SpeechReader(max_buffer_delay_s=0.5, pronunciations=[CITY])
    assert reader.push("We met in New", 0.0) == []
    assert reader.due_s is not None
    assert reader.due_s <= 0.5
    spoken = [unit for at in (0.5, 1.0, 1.5) for unit in reader.tick(at)]
    assert " ".join(unit.text for unit in spoken) == "We met in New"
    assert reader.due_s is None
