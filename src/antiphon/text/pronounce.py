"""Pronunciation dictionaries on a stream of text: what is written stays in the word times, what is said is another.

Source: Cartesia's pronunciation dictionaries (docs/protocols.md). A key matches whole words, the longest key first; it
may be several words.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import Pronunciation
from antiphon.text.languages import UNSPACED
from antiphon.text.phonemes import check_ipa
from antiphon.text.unit import Ipa, Piece, Respelled, Text

_IPA_WORDS = re.compile(r"\s*<<([^<>]{1,400})>>")
_SENTENCE_END = re.compile(r"(?:^|[.!?…:;。！？\n]|[.!?…][\"'”’»)\]])\s*$")
_CONTEXT_CHARS = 8
_LONGEST_GAP = 16
"""Characters of white space between two words of a key: more would be held, and read again with each delta."""
_LONGEST_WORD = 200
"""Phonemes of one word, as of those inside a text: more is no word, and readers break at it."""
_JOINERS = frozenset("\u200c\u200d")


def said_as(text: str, said: str) -> Respelled | Ipa:
    """What stands for ``text``: phonemes where ``said`` is ``<<...>>`` (a pair for each word), else other words.

    Raises ``InvalidInput`` for an empty one, one that is half of each, and for what is no IPA.
    """
    if "<<" not in said and ">>" not in said:
        if not any(c.isalnum() for c in said):
            raise InvalidInput(f"alias {said[:60]!r} for {text[:60]!r}: there is nothing in it to say", "alias")
        return Respelled(text, said.strip())
    words: list[str] = []
    rest = said.strip()
    while rest and (match := _IPA_WORDS.match(rest)):
        words.append(match[1].replace("|", "").strip())
        rest = rest[match.end() :].lstrip()
    if rest or not words:
        raise InvalidInput(
            f"alias {said[:60]!r} for {text[:60]!r}: write either other words, or phonemes alone, "
            "a pair of << >> for each word",
            "alias",
        )
    try:
        for word in words:
            check_ipa(word)
            if len(word) > _LONGEST_WORD:
                raise InvalidInput(f"a word has at most {_LONGEST_WORD} phonemes, not {len(word)}", "alias")
    except InvalidInput as error:
        raise InvalidInput(f"alias for {text[:60]!r}: {error}", "alias") from None
    return Ipa(text, " ".join(words))


class Pronouncer:
    """Turns deltas of plain text into pieces; holds back only what may still become a key.

    ``items`` are taken to be good (:func:`said_as` tells); one that is not is left out. Work is linear in the text.
    """

    def __init__(self, items: Sequence[Pronunciation]) -> None:
        self._table = _table(tuple(items))
        self._held = ""
        self._before = ""

    @property
    def held_chars(self) -> int:
        return len(self._held)

    def feed(self, text: str) -> list[Piece]:
        """Read ``text``; returns what became certain."""
        return self._read(self._held + text, last=False)

    def release(self) -> list[Piece]:
        """Give up waiting: what is held is a key as it stands, or text. What comes next goes on from there."""
        return self._read(self._held, last=True)

    def finish(self) -> list[Piece]:
        """The text ends here; what comes next begins a new sentence."""
        pieces = self.release()
        self._before = ""
        return pieces

    def _read(self, text: str, last: bool) -> list[Piece]:
        pieces: list[Piece] = []
        at = plain = 0
        while at < len(text):
            before = text[at - 1] if at else self._before[-1:]
            if text[at].isspace() or not _is_edge(before, text[at]):
                at += 1
                continue
            window = _Window.of(text, at, self._table.reach(text[at]))
            if not last and window.reaches_end(text) and self._table.may_become_key(window.folded):
                break
            found = self._key_at(text, at, window)
            if found is None:
                at += 1
                continue
            end, piece = found
            if at > plain:
                pieces.append(Text(text[plain:at]))
            pieces.append(piece)
            at = plain = end
        if at > plain:
            pieces.append(Text(text[plain:at]))
        self._held = text[at:]
        self._before = (self._before + text[:at])[-_CONTEXT_CHARS:]
        return pieces

    def _key_at(self, text: str, at: int, window: "_Window") -> tuple[int, Piece] | None:
        for length in self._table.lengths.get(window.folded[:1], ()):
            for key in self._table.keys.get(window.folded[:length], ()) if length <= len(window.folded) else ():
                end = window.ends[length - 1]
                if _is_edge(text[end - 1], text[end : end + 1]) and self._fits(key, text, at, end):
                    with suppress(InvalidInput):
                        return end, said_as(text[at:end], key.said)
        return None

    def _fits(self, key: Pronunciation, text: str, at: int, end: int) -> bool:
        written = re.sub(r"\s+", " ", text[at:end])
        if not key.case_sensitive or written == key.text:
            return True
        is_lower = key.text == key.text.lower()
        before = (self._before if at < _CONTEXT_CHARS else "") + text[max(0, at - _CONTEXT_CHARS) : at]
        starts = _SENTENCE_END.search(before[-_CONTEXT_CHARS:]) is not None
        return is_lower and starts and written[0].isupper() and written[1:] == key.text[1:]


@dataclass(frozen=True, slots=True)
class _Window:
    """Text from some place on, folded: in small letters, white space as one space (and a line end, which no key has,
    behind too much of it). ``ends[i]``: where in the text the folded character ``i`` ends."""

    folded: str
    ends: list[int]

    @staticmethod
    def of(text: str, at: int, length: int) -> "_Window":
        folded, ends, gap = "", list[int](), 0
        while at < len(text) and len(folded) < length:
            if text[at].isspace():
                gap = gap + 1 if folded.endswith(" ") else 1
                if gap > _LONGEST_GAP:
                    return _Window(folded + "\n", [*ends, at])
                if gap > 1:
                    ends[-1] = at + 1
                else:
                    folded += " "
                    ends.append(at + 1)
            else:
                small = text[at].lower()
                folded += small
                ends += [at + 1] * len(small)
            at += 1
        return _Window(folded, ends)

    def reaches_end(self, text: str) -> bool:
        return not self.ends or self.ends[-1] >= len(text)


@dataclass(frozen=True, slots=True)
class _Table:
    """``keys`` by their folded text; ``ordered``: the folded texts; ``lengths`` of those that begin with a character,
    the longest first."""

    keys: dict[str, list[Pronunciation]]
    ordered: list[str]
    lengths: dict[str, list[int]]

    def reach(self, character: str) -> int:
        """How much text has to be looked at where a word begins with ``character``."""
        return next(iter(self.lengths.get(character.lower()[:1], ())), 0)

    def may_become_key(self, folded: str) -> bool:
        """Whether a key begins like this; a whole key does too, since its word may go on."""
        at = bisect_left(self.ordered, folded)
        return bool(folded) and at < len(self.ordered) and self.ordered[at].startswith(folded)


@lru_cache(maxsize=64)
def _table(items: tuple[Pronunciation, ...]) -> _Table:
    keys: dict[str, list[Pronunciation]] = {}
    for item in items:
        plain = replace(item, text=" ".join(item.text.split()))
        if plain.text:
            keys.setdefault(plain.text.lower(), []).append(plain)
    lengths: dict[str, set[int]] = {}
    for folded, same in keys.items():
        same.sort(key=lambda item: not item.case_sensitive)  # the stricter one first
        lengths.setdefault(folded[0], set()).add(len(folded))
    return _Table(keys, sorted(keys), {first: sorted(found, reverse=True) for first, found in lengths.items()})


def _is_edge(left: str, right: str) -> bool:
    """Whether a word may end between two characters ("" is the end of the text)."""
    if not left or not right:
        return True
    if _is_mark(right):
        return False
    if UNSPACED.match(left) or UNSPACED.match(right):
        return True
    return not (_in_word(left) and _in_word(right))


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or _is_mark(character)


def _is_mark(character: str) -> bool:
    """Accents, vowel signs of many scripts, joiners: parts of the letter before them, and no letters to Python."""
    return not character.isascii() and (character in _JOINERS or unicodedata.category(character)[0] == "M")
