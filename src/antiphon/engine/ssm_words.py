"""Text to units of one to three words, for a voice that starts before the sentence is known.

Where a unit ends is a function of the text alone, and so is the context that goes with it: the words come out the same
whether the text arrives at once or letter by letter. What must be read together (numbers, sums, dates, abbreviations)
stays together.
"""

import re
from collections.abc import Iterable

from antiphon.text.chunk import Chunker
from antiphon.text.unit import Piece, Unit
from antiphon.text.weight import ATOM

AFTER_WORDS = 2
"""Words that must be known after a unit, unless its sentence ends before."""

_WORD = re.compile(r"\S+")
_SPECIAL = re.compile(rf"[\d$€£¥%&@#+=<>/\\*^~|_§©®°½¼¾±×÷.{ATOM}]")
_ROMAN = re.compile(r"[IVXLC]{2,}\W*")
_CLAUSE = re.compile(r"[,;:]$")
_MOST_WORDS = 16
_WINDOW_CHARS = 320


class WordChunker(Chunker):
    """A :class:`Chunker` whose units are words. A unit without pieces closes the sentence (its ``pause_s`` follows)."""

    def _cut(self, now_s: float, final: bool, alone: bool) -> int | None:
        pending = self._pending
        text, start = pending.text, pending.start
        end = pending.ends[0].at if pending.ends else (len(text) if final else None)
        stop = min(pending.known if end is None else end, start + _WINDOW_CHARS)
        words = [(match.start(), match.end()) for match in _WORD.finditer(text, start, stop)]
        if end is None and words and words[-1][1] >= len(text):
            words.pop()  # it may still grow
        for count in range(self._size(), len(words) - (0 if end is not None else AFTER_WORDS) + 1):
            if count == len(words):
                break
            left, right = words[count - 1], words[count]
            if count >= _MOST_WORDS or not _bound(text[left[0] : left[1]], text[right[0] : right[1]]):
                return right[0]
        if end is not None:
            return min(end, start + _WINDOW_CHARS)
        # a run without spaces, or of nothing but figures
        return start + _WINDOW_CHARS if len(text) - start > 2 * _WINDOW_CHARS else None

    @property
    def prosody(self) -> tuple[float, float, str | None]:
        """Speed, volume and emotion of the text that comes next."""
        return self._speed, self._volume, self._emotion

    def _size(self) -> int:
        """Words of the next unit: one at a time while the listener waits for them, then up to three."""
        said = len(self._pending.said_before.split())
        return 1 if said < 3 else 2 if said < 7 else 3

    def push(self, pieces: Iterable[Piece], now_s: float) -> list[Unit]:
        units = super().push(pieces, now_s)
        return _closed(units) if self._delay_s <= 0 else units

    def _overdue(self, now_s: float) -> list[Unit]:
        return _closed(super()._overdue(now_s))

    def _overdue_cut(self, end: int, now_s: float) -> int:
        return self._pending.start + _WINDOW_CHARS


def _closed(units: list[Unit]) -> list[Unit]:
    """Nothing of the last word may wait for the words after it."""
    if units and units[-1].pieces and units[-1].ending in ("none", "clause"):
        return [*units, Unit((), units[-1].ending)]
    return units


def _bound(left: str, right: str) -> bool:
    """Whether two neighbours must be read together."""
    special = _special(left), _special(right.rstrip(".")) or _ROMAN.fullmatch(right) is not None
    if _CLAUSE.search(left):
        return all(special)
    return any(special)


def _special(word: str) -> bool:
    return _SPECIAL.search(word) is not None

