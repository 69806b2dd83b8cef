"""Mandarin text to Kokoro's symbols: words and their pinyin by pypinyin (extra ``zh``), syllables by a table.

The model learnt from misaki's transcription: a syllable's initial and final in IPA, the tone as an arrow behind the
vowel (``→ ↗ ↓ ↘``, nothing for the neutral one), one word after another. English words in between are read as English.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from antiphon.core.errors import ModelUnavailable
from antiphon.models.kokoro_frontend import Read, ReadWord, character_places
from antiphon.text.normalize import normalize

INSTALL = "pip install 'antiphon[zh]'"

Pinyin: TypeAlias = Callable[[str], list[list[tuple[str, str]]]]
"""Han characters -> words of syllables, one for each character: initial ("zh", "" for none) and final with its tone
("ong1"), both in strict spelling ("iou", "uei", "ve")."""

INITIALS: Mapping[str, str] = {
    "b": "p", "p": "pʰ", "m": "m", "f": "f", "d": "t", "t": "tʰ", "n": "n", "l": "l", "g": "k", "k": "kʰ", "h": "x",
    "j": "ʨ", "q": "ʨʰ", "x": "ɕ", "zh": "ꭧ", "ch": "ꭧʰ", "sh": "ʂ", "r": "ɻ", "z": "ʦ", "c": "ʦʰ", "s": "s",
}  # fmt: skip
FINALS: Mapping[str, str] = {
    "a": "a0", "ai": "ai0", "an": "a0n", "ang": "a0ŋ", "ao": "au0", "e": "ɤ0", "ei": "ei0", "en": "ə0n", "eng": "ə0ŋ",
    "i": "i0", "ia": "ja0", "ian": "jɛ0n", "iang": "ja0ŋ", "iao": "jau0", "ie": "je0", "in": "i0n", "ing": "i0ŋ",
    "iong": "jʊ0ŋ", "iou": "jou0", "ong": "ʊ0ŋ", "ou": "ou0", "u": "u0", "ua": "wa0", "uai": "wai0", "uan": "wa0n",
    "uang": "wa0ŋ", "uei": "wei0", "uen": "wə0n", "ueng": "wə0ŋ", "uo": "wo0", "o": "wo0", "v": "y0", "ve": "ɥe0",
    "van": "ɥɛ0n", "vn": "y0n", "er": "ɚ0", "ê": "ɛ0", "m": "m0", "n": "n0", "ng": "ŋ0",
}  # fmt: skip
"""0 is where the tone goes."""
_BUZZED = frozenset({"zh", "ch", "sh", "r", "z", "c", "s"})
"""Initials after which ``i`` is no vowel of its own."""
_TONES = "→↗↓↘"

_MARKS = {
    "。": ".", "，": ",", "、": ",", "？": "?", "！": "!", "：": ":", "；": ";", "…": "…", "“": "“", "”": "”",
    "「": "“", "」": "”", "『": "“", "』": "”", "《": "“", "》": "”", "（": "(", "）": ")", "—": "—", "～": "—",
}  # fmt: skip
_MARKS |= {mark: mark for mark in ".,?!:;()"}
_OPENING = "“("
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?%?)|(?P<han>[\u3400-\u4dbf\u4e00-\u9fff]+)|(?P<latin>[A-Za-zÀ-ÿ]+(?:['’-][A-Za-zÀ-ÿ]+)*)"
    r"|(?P<mark>\S)"
)
_DIGITS = "零一二三四五六七八九"
_UNITS = ("", "十", "百", "千")
_SECTIONS = ("", "万", "亿", "兆")
_LONGEST_QUANTITY = 12


def syllable(initial: str, final: str) -> str:
    """Symbols of one: ``syllable("zh", "ong1") == "ꭧʊ→ŋ"``; empty for what is no syllable."""
    bare, tone = (final[:-1], int(final[-1])) if final[-1:].isdigit() else (final, 5)
    shape = "ɨ0" if bare == "i" and initial in _BUZZED else FINALS.get(bare, "")
    return INITIALS.get(initial, "") + shape.replace("0", _TONES[tone - 1 : tone])


def chinese_reader(pinyin: Pinyin, english: Callable[[str], str]) -> Read:
    """``english``: symbols of a word in Latin letters."""

    def read(text: str) -> list[ReadWord]:
        spoken = normalize(text, "zh")
        places = character_places(text, spoken)
        joined, words = True, list[ReadWord]()  # no space before the first, or after an opening bracket
        for token in _TOKEN.finditer(spoken):
            for word in _spoken(token, pinyin, english):
                start, end = places[word.start][0], places[word.end - 1][1]
                words.append(ReadWord(word.text, start, end, word.symbols, word.glued or joined))
                joined = False
            joined = token.lastgroup == "mark" and _MARKS.get(token.group(), "") in tuple(_OPENING)
        return words

    return read


def numeral(digits: str) -> str:
    """A number in Han characters: quantities up to twelve digits, else (or with a zero in front) digit by digit."""
    whole, point, fraction = digits.partition(".")
    if len(whole) > _LONGEST_QUANTITY or (len(whole) > 1 and whole[0] == "0"):
        said = "".join(_DIGITS[int(digit)] for digit in whole)
    else:
        said = _quantity(int(whole))
    return said + ("点" + "".join(_DIGITS[int(digit)] for digit in fraction) if point else "")


def load_pinyin() -> Pinyin:
    """From the package pypinyin. Raises ``ModelUnavailable`` with what to install."""
    try:
        from pypinyin import Style, lazy_pinyin
        from pypinyin.seg.mmseg import seg
    except ImportError as error:
        raise ModelUnavailable(f"Chinese needs pypinyin: {INSTALL}") from error

    def pinyin(text: str) -> list[list[tuple[str, str]]]:
        words = []
        for word in seg.cut(text):
            initials = lazy_pinyin(word, style=Style.INITIALS, strict=True)
            finals = lazy_pinyin(word, style=Style.FINALS_TONE3, strict=True, neutral_tone_with_five=True)
            words.append(list(zip(initials, finals, strict=True)))
        return words

    return pinyin


def _spoken(token: re.Match[str], pinyin: Pinyin, english: Callable[[str], str]) -> Iterator[ReadWord]:
    text, start, end = token.group(), token.start(), token.end()
    match token.lastgroup:
        case "mark":
            symbols = _MARKS.get(text, "")
            yield ReadWord(text, start, end, symbols, symbols not in tuple(_OPENING))
        case "latin":
            yield ReadWord(text, start, end, english(text))
        case "number":
            year = len(text) == 4 and token.string[end : end + 1] == "年"
            said = "".join(_DIGITS[int(digit)] for digit in text) if year else _amount(text)
            yield ReadWord(text, start, end, "".join(syllable(*each) for word in pinyin(said) for each in word))
        case _:
            at = start
            for word in pinyin(text):
                for index, each in enumerate(word):
                    yield ReadWord(token.string[at], at, at + 1, syllable(*each), index > 0)
                    at += 1


def _amount(number: str) -> str:
    return "百分之" + numeral(number[:-1]) if number.endswith("%") else numeral(number)


def _quantity(number: int) -> str:
    if number == 0:
        return _DIGITS[0]
    said, gap = "", False
    sections = [number // 10_000**index % 10_000 for index in range(len(_SECTIONS))]
    for index in reversed(range(len(sections))):
        section = sections[index]
        if section == 0:
            gap = bool(said)
            continue
        if gap or (said and section < 1000):
            said += _DIGITS[0]
        said += _section(section) + _SECTIONS[index]
        gap = False
    return said.removeprefix("一") if said.startswith("一十") else said


def _section(number: int) -> str:
    said, gap = "", False
    for power in reversed(range(len(_UNITS))):
        digit = number // 10**power % 10
        if digit == 0:
            gap = bool(said)
            continue
        said += (_DIGITS[0] if gap else "") + _DIGITS[digit] + _UNITS[power]
        gap = False
    return said
