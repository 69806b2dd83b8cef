"""IPA as people write it, in hibari's alphabet."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hibari.tts import ASSETS
from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.errors import InvalidInput
from antiphon.models.hibari_alphabet import from_ipa, to_ipa
from antiphon.text.phonemes import CONSONANTS, VOWELS, check_ipa

VOCABULARY = set(json.loads((Path(ASSETS) / "vocab.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("ipa", "symbols"),
    [
        ("k|ɑ|ɹ", "kɑɹ"),
        ("/kˈOkəɹO/", "kˈOkəɹO"),
        ("həˈloʊ", "həlˈO"),
        ("t͡ʃiːz", "ʧiz"),
        ("ˈdʒʌmp", "ʤˈʌmp"),
        ("naɪt", "nIt"),
        ("haʊs", "hWs"),
        ("bɔɪ", "bY"),
        ("deɪ", "dA"),
        ("ɡʁoːs", "ɡɹOs"),
        ("ˈstɹɛŋθ", "stɹˈɛŋθ"),
        ("ʦˈar", "tsˈɑɹ"),
        ("ɓa˨˩", "bɑ"),
    ],
)
def test_ipa(ipa: str, symbols: str) -> None:
    assert from_ipa(ipa) == symbols


@given(st.text(max_size=40))
def test_anything_stays_in_the_alphabet(text: str) -> None:
    with suppress(InvalidInput):
        assert set(from_ipa(text)) <= VOCABULARY


def test_every_sound_is_said_or_refused_never_left_out() -> None:
    refused = ""
    for sound in sorted(VOWELS | CONSONANTS):
        try:
            assert from_ipa(sound), sound
        except InvalidInput:
            refused += sound
    assert set(refused) == set("ʕʢʡʘǀǃǂǁ")


def test_symbols_go_out_as_others_write_them() -> None:
    assert [to_ipa(symbol) for symbol in "həlˈOæʤ"] == ["h", "ə", "l", "ˈ", "oʊ", "æ", "dʒ"]
    for symbol in "AIOQTWYʤʧᵊᵻ":
        assert not set(to_ipa(symbol)) & set("AIOQTWYʤʧᵊᵻ"), symbol
        check_ipa(to_ipa(symbol))
