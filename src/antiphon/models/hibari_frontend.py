"""Text to hibari's phoneme alphabet, with a thread from every symbol back to the words that the user wrote."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from hibari.g2p import G2P
from hibari.g2p import normalize as read_out

from antiphon.core.errors import EngineFailed
from antiphon.models.hibari_alphabet import from_ipa
from antiphon.text.align import spoken_places
from antiphon.text.normalize import normalize
from antiphon.text.spelling import spell
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken

PAUSES = frozenset(";:,.!?—…")
STRESSES = frozenset("ˈˌ")
SILENT = PAUSES | STRESSES | frozenset("\"()“” ː")
"""Symbols that are no sound of their own: punctuation, spaces, and marks on their neighbours."""

_LANGUAGE = "en"
_LONG_NUMBER = re.compile(r"\d{13,}")
_LONG_WORD = re.compile(r"\S{41,}")
_MAX_WORD_CHARS = 20
"""The net that reads unknown words sees 24 characters."""
_CONTEXT_CHARS = 60
"""More than any call looks at: only the nearest symbols of the context are used."""
_WRITTEN_PHONEMES = re.compile(r"^\[([^\]]*)\]\(/[^)]*/\)")
"""How the G2P is told a word's phonemes."""


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word as it is spoken, and the characters ``[start, end)`` of the unit's text that it stands for."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Script:
    """A unit in the model's alphabet. ``owners[i]`` is the spoken word that ``symbols[i]`` belongs to; ``before`` and
    ``after`` are the symbols around it in the same sentence (read, never spoken)."""

    symbols: str
    owners: tuple[int, ...]
    words: tuple[SpokenWord, ...]
    before: str = ""
    after: str = ""


class HibariFrontend:
    """Normalisation and grapheme-to-phoneme conversion. Stateless once built, so threads may share it."""

    def __init__(self, vocabulary: Iterable[str], british: bool = False) -> None:
        self._alphabet = frozenset(vocabulary)
        self._g2p = G2P(british=british)
        self._g2p.oov("warm")  # loaded here, not by the first caller
        self._letters = frozenset(self._g2p.oov.cin)

    def script(self, pieces: tuple[Spoken, ...], before: str = "", after: str = "") -> Script:
        """Raises ``EngineFailed`` if there are letters or digits, but none that can be spoken."""
        words = self._words(pieces)
        context = [self._readable(normalize(text, _LANGUAGE)).split() for text in (_tail(before), _head(after))]
        ahead, behind = len(context[0]), len(words)
        line = " ".join([*context[0], *(word.text for word in words), *context[1]])
        groups = self._phonemes(line) if line else []
        if len(groups) != ahead + behind + len(context[1]):
            # A token of the context changed the count: read the unit by itself rather than lose track of its words.
            ahead, groups = 0, self._phonemes(" ".join(word.text for word in words))
        symbols, owners = "", list[int]()
        for index, phonemes in enumerate(groups[ahead : ahead + behind]):
            part = (" " if symbols and phonemes else "") + phonemes
            symbols += part
            owners += [index] * len(part)
        shown = tuple(SpokenWord(_WRITTEN_PHONEMES.sub(r"\1", word.text), word.start, word.end) for word in words)
        if not any(symbol not in SILENT for symbol in symbols):
            if any(character.isalnum() for word in words for character in word.text):  # a face, say, has no words
                raise EngineFailed(f"hibari can read nothing of {''.join(piece.text for piece in pieces)[:80]!r}")
            return Script("", (), shown)
        return Script(
            symbols,
            tuple(owners),
            shown,
            " ".join(group for group in groups[:ahead] if group),
            " ".join(group for group in groups[ahead + behind :] if group),
        )

    def _phonemes(self, line: str) -> list[str]:
        """Symbols of each whitespace-separated word of ``line``; empty for a word with no sound."""
        try:
            tokens = self._g2p.phonemize_tokens(self._g2p.tokenize(line))
        except (IndexError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise EngineFailed(f"hibari cannot read {line[:80]!r}: {error}") from error
        groups, current = list[str](), ""
        for token in tokens:
            current += token.phonemes or ""
            if token.whitespace:
                groups.append(current)
                current = ""
        groups.append(current)
        return ["".join(symbol for symbol in group if symbol in self._alphabet).strip() for group in groups]

    def _words(self, pieces: tuple[Spoken, ...]) -> list[SpokenWord]:
        words: list[SpokenWord] = []
        at, glued = 0, False
        for piece in pieces:
            fresh = self._piece_words(piece, at)
            if fresh and words and glued and not piece.text[:1].isspace() and fresh[0].text[0] in PAUSES:
                last, first = words.pop(), fresh.pop(0)
                words.append(SpokenWord(last.text + first.text, last.start, first.end))
            words += fresh
            at += len(piece.text)
            glued = not piece.text[-1:].isspace()
        return words

    def _piece_words(self, piece: Spoken, at: int) -> list[SpokenWord]:
        text = piece.text
        if isinstance(piece, Ipa):
            phonemes = "".join(symbol for symbol in from_ipa(piece.phonemes) if symbol in self._alphabet)
            label = re.sub(r"[\s\[\]()]+", "-", text.strip()) or "-"
            return [SpokenWord(f"[{label}](/{phonemes}/)", at, at + len(text))] if phonemes else []
        written = piece.spoken if isinstance(piece, Respelled) else text
        spoken = self._readable(spell(text) if isinstance(piece, Spell) else normalize(written, _LANGUAGE))
        return [SpokenWord(word, at + start, at + end) for word, start, end in spoken_places(text, spoken)]

    def _readable(self, text: str) -> str:
        """What the G2P can read without losing or tripping over anything."""
        text = _LONG_NUMBER.sub(lambda run: " ".join(run.group()), text)
        text = read_out(self._known_letters(text))
        text = _LONG_NUMBER.sub(lambda run: " ".join(run.group()), text)
        text = _LONG_WORD.sub(lambda run: _cut(run.group()), text)
        return " ".join(text.replace("](", "] (").split())

    def _known_letters(self, text: str) -> str:
        """Letters that no reader knows, by their plain form ("ạ": a) or the last word of their name ("か": ka)."""
        if text.isascii():
            return text
        return "".join(
            _romanised(letter) if letter.isalpha() and ord(letter) > 0x7F and letter not in self._letters else letter
            for letter in text
        )


def _romanised(letter: str) -> str:
    plain = "".join(part for part in unicodedata.normalize("NFKD", letter) if part.isascii() and part.isalpha())
    if plain:
        return plain
    name = unicodedata.name(letter, "").replace("-", " ").lower().split()
    if "ideograph" in name:
        return " character "
    return name[-1] if name else ""


def _cut(word: str) -> str:
    """A run without spaces, in pieces that can be read: at signs if there are any, else every so many characters."""
    pieces = re.findall(rf"[^\W_]{{1,{_MAX_WORD_CHARS}}}|[\W_]{{1,{_MAX_WORD_CHARS}}}", word)
    return " ".join(pieces)


def _tail(text: str) -> str:
    cut = text[-_CONTEXT_CHARS:]
    return cut if len(cut) == len(text) else cut.partition(" ")[2]


def _head(text: str) -> str:
    cut = text[:_CONTEXT_CHARS]
    return cut if len(cut) == len(text) else cut.rpartition(" ")[0]
