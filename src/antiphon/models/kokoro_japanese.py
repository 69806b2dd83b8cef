"""Japanese text to Kokoro's symbols: words and their readings by Open JTalk (extra ``ja``), kana by a table.

The model learnt from misaki's romanisation: one word after another, syllables in IPA (``ʨi``, ``ɸɯ``), a long vowel's
mark ``ː``, ``ʔ`` for a doubled consonant, and ``ɴ`` for the moraic nasal, which takes the place of what follows it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeAlias

from antiphon.core.errors import EngineFailed, ModelUnavailable
from antiphon.models.kokoro_frontend import Read, ReadWord, character_places

INSTALL = "pip install 'antiphon[ja]'"
MAX_CHARS = 200
"""Of one call of the analyser."""

Analyse: TypeAlias = Callable[[str], Sequence[Mapping[str, Any]]]
"""Open JTalk's front end: words with ``string``, ``pron`` (katakana) and ``pos``."""

_ROWS = {
    "ア": "a i ɯ e o", "カ": "ka kʲi kɯ ke ko", "ガ": "ɡa ɡʲi ɡɯ ɡe ɡo", "サ": "sa ɕi sɨ se so",
    "ザ": "ʣa ʥi zɨ ʣe ʣo", "タ": "ta ʨi ʦɨ te to", "ダ": "da ʥi zɨ de do", "ナ": "na ɲi nɯ ne no",
    "ハ": "ha çi ɸɯ he ho", "バ": "ba bʲi bɯ be bo", "パ": "pa pʲi pɯ pe po", "マ": "ma mʲi mɯ me mo",
    "ラ": "ɾa ɾʲi ɾɯ ɾe ɾo",
}  # fmt: skip
_KANA_ROWS = {
    "ア": "アイウエオ", "カ": "カキクケコ", "ガ": "ガギグゲゴ", "サ": "サシスセソ", "ザ": "ザジズゼゾ",
    "タ": "タチツテト", "ダ": "ダヂヅデド", "ナ": "ナニヌネノ", "ハ": "ハヒフヘホ", "バ": "バビブベボ",
    "パ": "パピプペポ", "マ": "マミムメモ", "ラ": "ラリルレロ",
}  # fmt: skip
_GLIDES = {
    "キ": "kʲ", "ギ": "ɡʲ", "シ": "ɕ", "ジ": "ʥ", "チ": "ʨ", "ヂ": "ʥ", "ニ": "ɲ", "ヒ": "ç", "ビ": "bʲ", "ピ": "pʲ",
    "ミ": "mʲ", "リ": "ɾʲ", "テ": "tʲ", "デ": "dʲ", "フ": "ɸʲ", "ヴ": "bʲ",
}  # fmt: skip
"""Consonants before ャ ュ ョ."""
_LOAN = {
    "イェ": "je", "キェ": "kʲe", "ニェ": "ɲe", "ヒェ": "çe", "ウィ": "βi", "ウェ": "βe", "ウォ": "βo",
    "シェ": "ɕe", "ジェ": "ʥe", "チェ": "ʨe", "ティ": "tʲi", "ディ": "dʲi", "トゥ": "tɯ", "ドゥ": "dɯ",
    "ファ": "ɸa", "フィ": "ɸʲi", "フェ": "ɸe", "フォ": "ɸo", "ツァ": "ʦa", "ツィ": "ʦʲi", "ツェ": "ʦe", "ツォ": "ʦo",
    "クァ": "kᵝa", "クィ": "kᵝi", "クェ": "kᵝe", "クォ": "kᵝo", "グァ": "ɡᵝa", "グィ": "ɡᵝi", "グェ": "ɡᵝe",
    "グォ": "ɡᵝo", "ヴァ": "va", "ヴィ": "vʲi", "ヴェ": "ve", "ヴォ": "vo",
}  # fmt: skip
_SINGLE = {
    "ヤ": "ja", "ユ": "jɯ", "ヨ": "jo", "ワ": "βa", "ヰ": "i", "ヱ": "e", "ヲ": "o", "ヴ": "vɯ", "ー": "ː", "ッ": "ʔ",
    "ヷ": "va", "ヸ": "vʲi", "ヹ": "ve", "ヺ": "vo",
}  # fmt: skip
_SMALL = dict(zip("ァィゥェォャュョヮヵヶ", "アイウエオヤユヨワカケ", strict=True))


def _table() -> dict[str, str]:
    table = dict[str, str]()
    for row, kanas in _KANA_ROWS.items():
        table |= zip(kanas, _ROWS[row].split(), strict=True)
    table |= _SINGLE | _LOAN
    for kana, consonant in _GLIDES.items():
        table |= {kana + small: consonant + vowel for small, vowel in zip("ャュョ", ("a", "ɨ", "o"), strict=True)}
    return table


KANA: Mapping[str, str] = _table()
"""Symbols of each kana and of each pair that is one syllable."""

_MARKS = {
    "。": ".", "、": ",", "，": ",", "．": ".", "？": "?", "！": "!", "：": ":", "；": ";", "…": "…",
    "「": "“", "」": "”", "『": "“", "』": "”", "（": "(", "）": ")", "〜": "—", "～": "—",
    "—": "—", "―": "—", "・": " ",
}  # fmt: skip
_MARKS |= {mark: mark for mark in ".,?!:;()"}
_OPENING = "“("
_RANGE = re.compile(r"[〜～](?=[0-9０-９])")
_NOT_KANA = re.compile(r"[^ァ-ヺー]")


@dataclass(frozen=True, slots=True)
class Syllable:
    """``kana``: how many kana it is written with."""

    symbols: str
    kana: int


def syllables(katakana: str) -> Iterator[Syllable]:
    """Syllables of one word. A moraic nasal is written by its place in the mouth: m, n, ɲ, ŋ or ɴ."""
    at = 0
    while at < len(katakana):
        pair, single = katakana[at : at + 2], katakana[at]
        if len(pair) == 2 and pair in KANA:
            yield Syllable(KANA[pair], 2)
            at += 2
            continue
        if single == "ン":
            yield Syllable(_nasal(KANA.get(katakana[at + 1 : at + 3]) or KANA.get(katakana[at + 1 : at + 2], "")), 1)
        else:
            yield Syllable(KANA.get(_SMALL.get(single, single), ""), 1)
        at += 1


def _nasal(following: str) -> str:
    match following[:1]:
        case "m" | "p" | "b":
            return "m"
        case "k" | "ɡ":
            return "ŋ"
        case "ɲ" | "ʨ" | "ʥ":
            return "ɲ"
        case "n" | "t" | "d" | "ɾ" | "z" | "ʣ" | "ʦ":
            return "n"
        case _:
            return "ɴ"


def japanese_reader(analyse: Analyse) -> Read:
    """Each character of the text that is said is a word of its own: its share of the syllables of its word."""

    def read(text: str) -> list[ReadWord]:
        return [
            replace(word, start=word.start + at, end=word.end + at)
            for at in range(0, len(text), MAX_CHARS)
            for word in _read(text[at : at + MAX_CHARS], analyse)
        ]

    return read


def load_analyser() -> Analyse:
    """Open JTalk, from the package pyopenjtalk-plus. Raises ``ModelUnavailable`` with what to install."""
    try:
        import pyopenjtalk
    except ImportError as error:
        raise ModelUnavailable(f"Japanese needs Open JTalk: {INSTALL}") from error

    lock = Lock()  # it keeps one analysis in one place

    def analyse(text: str) -> Sequence[Mapping[str, Any]]:
        try:
            with lock:
                found: Sequence[Mapping[str, Any]] = pyopenjtalk.run_frontend(text, use_sudachi_kanji_yomi=False)
        except (RuntimeError, ValueError, IndexError) as error:
            raise EngineFailed(f"Open JTalk cannot read {text[:80]!r}: {error}") from error
        return found

    return analyse


def _read(text: str, analyse: Analyse) -> list[ReadWord]:
    out: list[ReadWord] = []
    joined = True  # no space before the first, after an opening bracket, or around a doubled consonant
    for group in _groups(text, analyse):
        if group.mark is not None:
            opens = group.mark[:1] in _OPENING
            out.append(ReadWord(text[group.start : group.end], group.start, group.end, group.mark, not opens or joined))
            joined = opens
            continue
        said = list(syllables(_NOT_KANA.sub("", group.kana)))
        for symbols, place in _by_character(said, group.start, group.end):
            out.append(ReadWord(text[place : place + 1], place, place + 1, symbols, joined))
            joined = True
        joined = bool(said) and said[-1].symbols == "ʔ"
    return out


@dataclass(frozen=True, slots=True)
class _Group:
    """Characters ``[start, end)`` of the text: a word with its endings, or (``mark``) punctuation and its symbols."""

    start: int
    end: int
    kana: str
    mark: str | None = None


def _groups(text: str, analyse: Analyse) -> list[_Group]:
    if not text.strip():
        return []
    words = [word for word in analyse(_RANGE.sub("から", text)) if word["string"]]
    groups: list[_Group] = []
    before: Mapping[str, Any] = {"pos": ""}
    for word, (start, end) in zip(words, _spans(text, [str(word["string"]) for word in words]), strict=True):
        surface = unicodedata.normalize("NFKC", str(word["string"]))
        if word["pos"] == "記号":
            groups.append(_Group(start, end, "", "".join(_MARKS.get(character, "") for character in surface)))
        elif groups and groups[-1].mark is None and _is_ending(word, before):
            last = groups.pop()
            groups.append(_Group(last.start, max(last.end, end), last.kana + str(word["pron"])))
        else:
            groups.append(_Group(start, end, str(word["pron"])))
        before = word
    return groups


def _is_ending(word: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether it is written together with the word before it: suffixes, and the endings of verbs."""
    inflected = before["pos"] in ("動詞", "形容詞", "助動詞")
    linking = word["pos"] == "助詞" and word["pos_group1"] == "接続助詞" and word["string"] in ("て", "で", "ば")
    return word["pos_group1"] == "接尾" or (inflected and (word["pos"] == "助動詞" or linking))


def _by_character(said: list[Syllable], start: int, end: int) -> Iterator[tuple[str, int]]:
    """The syllables of a word, shared out among its characters by number."""
    count = max(1, end - start)
    shares: dict[int, str] = {}
    for index, syllable in enumerate(said):
        place = start + index * count // len(said)
        shares[place] = shares.get(place, "") + syllable.symbols
    for place, symbols in shares.items():
        yield symbols, place


def _spans(text: str, surfaces: list[str]) -> list[tuple[int, int]]:
    """Characters of ``text`` that each word stands for. The analyser writes some otherwise (wide letters, numbers)."""
    places, at = character_places(text, "".join(surfaces)), 0
    spans = []
    for surface in surfaces:
        own = places[at : at + len(surface)]
        at += len(surface)
        spans.append((own[0][0], max(end for _, end in own)))
    return spans
