"""IPA as people write it, in hibari's alphabet."""

import json
from pathlib import Path

import pytest
from hibari.tts import ASSETS
from hypothesis import given
from hypothesis import strategies as st

from antiphon.models.hibari_alphabet import from_ipa

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
        ("文", ""),
    ],
)
def test_ipa(ipa: str, symbols: str) -> None:
    assert from_ipa(ipa) == symbols


@given(st.text(max_size=40))
def test_anything_stays_in_the_alphabet(text: str) -> None:
    assert set(from_ipa(text)) <= VOCABULARY
