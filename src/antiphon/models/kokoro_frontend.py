"""Text to Kokoro's symbols, one front end for each language, all with hibari's kind of script.

English is read by :class:`~antiphon.models.hibari_frontend.HibariFrontend` (both alphabets are misaki's), Japanese by
:mod:`antiphon.models.kokoro_japanese`, the others by eSpeak NG with its output written as misaki writes it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Protocol, TypeAlias

from antiphon.core.errors import EngineFailed
from antiphon.models.hibari_frontend import SILENT, Script, SpokenWord
from antiphon.text.align import spoken_places
from antiphon.text.languages import is_spaced
from antiphon.text.normalize import normalize
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken

_CONTEXT_CHARS = 60
"""More than any call looks at: only the nearest symbols of the context are used."""
_UNSPACED_CONTEXT_CHARS = 20

_MISAKI = {
    "a^ɪ": "I", "a^ʊ": "W", "e^ɪ": "A", "o^ʊ": "O", "ə^ʊ": "Q", "ɔ^ɪ": "Y",
    "d^z": "ʣ", "d^ʒ": "ʤ", "t^s": "ʦ", "t^ʃ": "ʧ", "s^s": "S", "g": "ɡ",
}  # fmt: skip
"""One letter for a sound that eSpeak NG writes with two and a tie: what the model was trained on (misaki)."""
_MISAKI_SOUND = re.compile("|".join(map(re.escape, _MISAKI)))
_QUOTES = str.maketrans({"«": "“", "»": "”", "„": "“", "\u2019": "'", "\u2018": "'"})


class Frontend(Protocol):
    def script(self, pieces: tuple[Spoken, ...], before: str = "", after: str = "") -> Script:
        """A unit's pieces between the text around them. Raises ``EngineFailed`` if nothing of them can be read."""
        ...


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A spoken word: characters ``[start, end)`` of the text that it stands for, and its symbols with the punctuation
    after it. ``glued``: no space before them."""

    text: str
    start: int
    end: int
    symbols: str
    glued: bool = False


Read: TypeAlias = Callable[[str], list[ReadWord]]
"""Reads a text in order; thread-safe."""


class ReadFrontend:
    """Scripts by a ``read`` of one language. Symbols outside ``alphabet`` are left out."""

    def __init__(self, read: Read, alphabet: Iterable[str], language: str) -> None:
        self._read = read
        self._alphabet = frozenset(alphabet)
        self._spaced = is_spaced(language)
        self._language = language

    def script(self, pieces: tuple[Spoken, ...], before: str = "", after: str = "") -> Script:
        words: list[ReadWord] = []
        at = 0
        for piece in pieces:
            words += [_moved(word, at) for word in self._piece(piece)]
            at += len(piece.text)
        symbols, owners = self._symbols(words)
        spoken = tuple(SpokenWord(word.text, word.start, word.end) for word in words)
        if all(symbol in SILENT for symbol in symbols):
            if any(character.isalnum() for piece in pieces for character in piece.text):
                text = "".join(piece.text for piece in pieces)
                raise EngineFailed(f"kokoro can read nothing of {text[:80]!r} in {self._language!r}")
            return Script("", (), spoken)
        texts = (self._tail(before), self._head(after))
        around = (self._symbols(self._read(text))[0] if text else "" for text in texts)
        return Script(symbols, tuple(owners), spoken, *around)

    def _piece(self, piece: Spoken) -> list[ReadWord]:
        text = piece.text
        match piece:
            case Ipa():
                tied = piece.phonemes.replace("tʃ", "t^ʃ").replace("dʒ", "d^ʒ")
                return [ReadWord(text.strip() or "-", 0, len(text), misaki(tied))]
            case Spell():
                letters = [(at, letter) for at, letter in enumerate(text) if not letter.isspace()]
                return [_moved(word, at) for at, letter in letters for word in self._read(letter)]
            case Respelled():
                return [replace(word, start=0, end=len(text)) for word in self._read(piece.spoken)]
        return self._read(text)

    def _symbols(self, words: Iterable[ReadWord]) -> tuple[str, list[int]]:
        symbols, owners = "", list[int]()
        for index, word in enumerate(words):
            known = self._known(word.symbols)
            if not known:
                continue
            part = known if word.glued or not symbols else f" {known}"
            symbols += part
            owners += [index] * len(part)
        return symbols, owners

    def _known(self, symbols: str) -> str:
        return "".join(symbol for symbol in symbols if symbol in self._alphabet)

    def _tail(self, text: str) -> str:
        if not self._spaced:
            return text[-_UNSPACED_CONTEXT_CHARS:]
        cut = text[-_CONTEXT_CHARS:]
        return (cut if len(cut) == len(text) else cut.partition(" ")[2]).strip()

    def _head(self, text: str) -> str:
        if not self._spaced:
            return text[:_UNSPACED_CONTEXT_CHARS]
        cut = text[:_CONTEXT_CHARS]
        return (cut if len(cut) == len(text) else cut.rpartition(" ")[0]).strip()


def misaki(ipa: str) -> str:
    """IPA, with or without ties (``^``), as the model was taught to read it. Nasal vowels keep their tilde apart."""
    plain = unicodedata.normalize("NFD", ipa.strip().strip("/[]").replace("|", "").replace("\u0361", "^"))
    plain = plain.replace("c\u0327", "ç")
    return _MISAKI_SOUND.sub(lambda sound: _MISAKI[sound.group()], plain).replace("^", "").replace("-", "")


def espeak_reader(phonemes: Callable[[str], str], language: str) -> Read:
    """``phonemes``: a line of text to IPA with ties, punctuation where it stood, words set apart by spaces."""

    def read(text: str) -> list[ReadWord]:
        spoken = normalize(text, language).translate(_QUOTES)
        places = spoken_places(text, spoken, language)
        if not any(character.isalnum() for character in spoken):
            return []
        groups = misaki(phonemes(" ".join(word for word, _, _ in places))).split()
        shares = _shares([word for word, _, _ in places], groups)
        return [ReadWord(word, start, end, share) for (word, start, end), share in zip(places, shares, strict=True)]

    return read


def _shares(words: list[str], groups: list[str]) -> list[str]:
    """Groups of symbols for each word. The reader joins and splits words now and then ("con el": one group; "25":
    several): then each group goes to the word that stands where it does by length."""
    if len(words) == len(groups):
        return groups
    weights = [1.0 * sum(4 if letter.isdigit() else letter.isalpha() for letter in word) for word in words]
    lengths = [float(sum(symbol not in SILENT for symbol in group)) for group in groups]
    scale = sum(weights) / (sum(lengths) or 1.0)
    shares = [list[str]() for _ in words]
    at, passed, reached = 0, 0.0, weights[0] if weights else 0.0
    for group, length in zip(groups, lengths, strict=True):
        middle = (passed + length / 2) * scale
        while at < len(words) - 1 and reached <= middle:
            at += 1
            reached += weights[at]
        shares[at].append(group)
        passed += length
    return [" ".join(share) for share in shares]


def character_places(written: str, spoken: str) -> list[tuple[int, int]]:
    """For each character of ``spoken`` the characters ``[start, end)`` of ``written`` that it stands for, in order.

    What has no like there shares what stands in its place. Width and case do not matter.
    """
    ours, theirs = _plain(written), _plain(spoken)
    size, places = len(ours), list[tuple[int, int]]()
    for _, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        for at in range(d - c):
            start = a + at * (b - a) // (d - c)
            end = max(start + 1, a + (at + 1) * (b - a) // (d - c))
            places.append((min(start, max(size - 1, 0)), min(end, size)))
    return places


def _plain(text: str) -> list[str]:
    return [unicodedata.normalize("NFKC", character).casefold()[:1] for character in text]


def _moved(word: ReadWord, by: int) -> ReadWord:
    return replace(word, start=word.start + by, end=word.end + by)
