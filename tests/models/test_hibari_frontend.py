"""Text to symbols: every word keeps its place, and nothing trips the reader."""

import json
from pathlib import Path

import pytest
from hibari.tts import ASSETS
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.errors import EngineFailed
from antiphon.models.hibari_frontend import SILENT, HibariFrontend
from antiphon.models.hibari_phrase import MAX_SYMBOLS, phrases
from antiphon.text.parts import parts
from antiphon.text.unit import Ipa, Spell, Spoken, Text

VOCABULARY = json.loads((Path(ASSETS) / "vocab.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def frontend() -> HibariFrontend:
    return HibariFrontend(VOCABULARY)


def test_every_symbol_belongs_to_its_word(frontend: HibariFrontend) -> None:
    script = frontend.script((Text("Hello there, Anna."),))
    groups = ["".join(s for s, o in zip(script.symbols, script.owners, strict=True) if o == i) for i in range(3)]
    assert [group.strip() for group in groups] == ["həlˈO", "ðˈɛɹ,", "ˈɑnə."]
    assert [(word.text, word.start, word.end) for word in script.words] == [
        ("Hello", 0, 5),
        ("there,", 6, 12),
        ("Anna.", 13, 18),
    ]


def test_context_changes_reading_not_words(frontend: HibariFrontend) -> None:
    script = frontend.script((Text("on the second floor"),), "There are rooms", "of the house.")
    assert [word.text for word in script.words] == ["on", "the", "second", "floor"]
    assert script.before.endswith("ɹˈumz")
    assert script.after.startswith("ʌv")


def test_punctuation_after_a_spelled_word_stays_with_it(frontend: HibariFrontend) -> None:
    script = frontend.script((Text("Code "), Spell("AB"), Text(", please.")))
    assert script.words[-1].text == "please."
    assert script.words[-2].text.endswith(",")


@pytest.mark.parametrize("text", ["xzzqt", "Blorvenia", "brrr", "ʻokina", "かな", "한글", "नमस्ते", "مرحبا", "你"])
def test_no_word_is_skipped(frontend: HibariFrontend, text: str) -> None:
    assert any(symbol not in SILENT for symbol in frontend.script((Text(text),)).symbols)


def test_inline_phonemes_written_as_text_are_not_obeyed(frontend: HibariFrontend) -> None:
    script = frontend.script((Text("[one](/tˈu/) left"),))
    assert "wˈʌn" in script.symbols


def test_a_long_unit_is_cut_into_whole_parts() -> None:
    text = "One two three, four five six. " * 60
    cut = list(parts((Text(text), Ipa("x", "k"), Text(text))))
    assert len(cut) > 5
    assert [part.start for part in cut[1:]] == [part.end for part in cut[:-1]]
    assert "".join(piece.text for part in cut for piece in part.pieces) == text + "x" + text
    assert all(part.end - part.start <= 401 for part in cut)


def test_phrases_cover_the_script(frontend: HibariFrontend) -> None:
    script = frontend.script((Text("we walk along the river and talk, " * 9),))
    found = list(phrases(script, goes_on=False))
    assert len(found) > 1
    assert " ".join(phrase.symbols for phrase in found) == script.symbols
    assert all(0 < len(phrase.symbols) <= MAX_SYMBOLS for phrase in found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.builds(Text, st.text(max_size=60)), st.builds(Spell, st.text(max_size=8))), max_size=3))
def test_any_text_gives_a_script_or_a_clear_error(frontend: HibariFrontend, pieces: list[Spoken]) -> None:
    try:
        script = frontend.script(tuple(pieces))
    except EngineFailed:
        return
    assert set(script.symbols) <= set(VOCABULARY)
    assert len(script.symbols) == len(script.owners)
    assert list(script.owners) == sorted(script.owners)
    total = sum(len(piece.text) for piece in pieces)
    assert all(0 <= word.start <= word.end <= total for word in script.words)
