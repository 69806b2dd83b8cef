"""Mandarin: syllables as the model learnt them, numbers in words, each character with its own sound.

Pinyin is that of pypinyin 0.55.0, written down: the package is an extra.
"""

import pytest

from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.kokoro_chinese import FINALS, INITIALS, chinese_reader, numeral, syllable
from antiphon.models.kokoro_frontend import ReadFrontend
from antiphon.text.unit import Text

READINGS = {
    "你": ("n", "i3"), "好": ("h", "ao3"), "世": ("sh", "i4"), "界": ("j", "ie4"), "年": ("n", "ian2"),
    "二": ("", "er4"), "零": ("l", "ing2"), "四": ("s", "i4"), "百": ("b", "ai3"), "分": ("f", "en1"),
    "之": ("zh", "i1"), "五": ("", "u3"), "十": ("sh", "i2"), "我": ("", "uo3"), "用": ("", "iong4"),
    "三": ("s", "an1"),
}  # fmt: skip


def pinyin(text: str) -> list[list[tuple[str, str]]]:
    """Two characters make a word."""
    return [[READINGS[character] for character in text[at : at + 2]] for at in range(0, len(text), 2)]


@pytest.fixture
def frontend() -> ReadFrontend:
    return ReadFrontend(chinese_reader(pinyin, lambda word: {"iPhone": "ˈIfˌOn"}[word]), vocabulary(), "zh")


def test_the_tables_have_only_symbols_that_the_model_knows() -> None:
    known = set(vocabulary()) | {"0"}
    assert {symbol for said in (*INITIALS.values(), *FINALS.values()) for symbol in said} <= known


@pytest.mark.parametrize(
    ("initial", "final", "said"),
    [
        ("zh", "ong1", "ꭧʊ→ŋ"), ("", "uo3", "wo↓"), ("l", "v4", "ly↘"), ("sh", "i4", "ʂɨ↘"), ("c", "i2", "ʦʰɨ↗"),
        ("j", "i1", "ʨi→"), ("x", "van2", "ɕɥɛ↗n"), ("d", "e5", "tɤ"), ("", "er2", "ɚ↗"), ("", "?", ""),
    ],
)  # fmt: skip
def test_syllables(initial: str, final: str, said: str) -> None:
    assert syllable(initial, final) == said


@pytest.mark.parametrize(
    ("digits", "said"),
    [
        ("0", "零"), ("10", "十"), ("12", "十二"), ("101", "一百零一"), ("1001", "一千零一"), ("10010", "一万零一十"),
        ("120345", "十二万零三百四十五"), ("100000001", "一亿零一"), ("3.14", "三点一四"), ("007", "零零七"),
    ],
)  # fmt: skip
def test_numbers(digits: str, said: str) -> None:
    assert numeral(digits) == said


def test_words_are_set_apart_and_punctuation_is_not(frontend: ReadFrontend) -> None:
    text = "你好，世界。"
    script = frontend.script((Text(text),))
    assert script.symbols == "ni↓xau↓, ʂɨ↘ʨje↘."
    assert [text[word.start : word.end] for word in script.words] == list("你好，世界。")


def test_years_percentages_and_english_words(frontend: ReadFrontend) -> None:
    assert frontend.script((Text("2024年"),)).symbols == "ɚ↘li↗ŋɚ↘sɨ↘ njɛ↗n"
    assert frontend.script((Text("53%"),)).symbols == "pai↓fə→n ꭧɨ→ u↓ʂɨ↗sa→n"
    script = frontend.script((Text("我用iPhone。"),))
    assert script.symbols == "wo↓jʊ↘ŋ ˈIfˌOn."
    assert [(word.start, word.end) for word in script.words][2] == (2, 8)
