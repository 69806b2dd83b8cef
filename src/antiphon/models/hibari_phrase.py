"""Where a unit's own sound lies within what the graph plans for it and its surroundings.

The graph pads each call with a quarter second of silence before and half a second after. What belongs to the unit is
found from the predicted durations, never from loudness, so that a soft onset is kept. Constants are frames (12.5 ms)
measured over 800 readings of 200 words: sound above -60 dB begins at most so long before the first symbol's own time,
and ends at most so long after the last symbol's start.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphon.models.hibari_frontend import PAUSES, SILENT, STRESSES, Script

MAX_SYMBOLS = 140
"""Longer phrases are planned in parts: the text side attends over all of a call."""

BEFORE_SYMBOLS = 36
AFTER_SYMBOLS = 28
"""Symbols of the same sentence that a call reads around its own: about six words and five."""

GOES_ON = "wˌɪð ðə nˈɛkst"
"""Read, never spoken, after a unit cut where little more of its sentence is known: without it the voice falls as at an
end. Of ten continuations tried, this one's joins are nearest to the whole reading (F0 and energy jumps 1.0 times)."""

_ENOUGH_AFTER = 10
"""Symbols of the sentence's own continuation that make :data:`GOES_ON` needless."""

_ONSET = {"ʃ": 10, "s": 9, "z": 8, "ʒ": 8} | dict.fromkeys("fθlnvɹm", 7) | dict.fromkeys("hwðbʧW", 6)
_ONSET_OTHER = 5
_JOIN_ONSET = dict.fromkeys("sʃzʒfθ", 5)
_JOIN_ONSET_OTHER = 4
TAIL = 14
"""Of the last symbol's time this much holds sound; the rest is the silence of the pause."""

_LEAD_SHIFT = 4
"""A symbol is heard about 50 ms before the time that the durations give it."""

_PAUSE_FRAMES = {"none": 0, "clause": 16, "sentence": 32, "paragraph": 62}
"""From the start of a unit's last symbol to the first one of the next: medians of readings in one call (a comma, a full
stop), and for a paragraph that of two calls with all their padding, which is hibari's own reading."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """What one call of the graph speaks: ``symbols`` with their ``owners``, between ``before`` and ``after``."""

    symbols: str
    owners: tuple[int, ...]
    before: str
    after: str

    @property
    def line(self) -> str:
        return " ".join(part for part in (self.before, self.symbols, self.after) if part)

    @property
    def offset(self) -> int:
        """Place of the first own symbol in :attr:`line`."""
        return len(self.before) + 1 if self.before else 0


def phrases(script: Script, goes_on: bool, stand_in: str = GOES_ON) -> Iterator[Phrase]:
    """Cut a script into calls at its best pauses; ``goes_on``: the sentence is not over at its end, and where nothing
    is known of what follows, ``stand_in`` does."""
    start = 0
    symbols = script.symbols
    while start < len(symbols):
        stop = _cut(symbols, start)
        before = symbols[:start].rstrip() if start else script.before
        after = symbols[stop:].lstrip() if stop < len(symbols) else script.after
        if goes_on and len(after) < _ENOUGH_AFTER and not after.endswith((".", "!", "?", "…")):
            after = f"{after} {stand_in}".strip()
        own = symbols[start:stop].strip()
        first = start + (len(symbols[start:stop]) - len(symbols[start:stop].lstrip()))
        yield Phrase(own, script.owners[first : first + len(own)], _last_words(before), _first_words(after))
        start = stop


def _cut(symbols: str, start: int) -> int:
    if len(symbols) - start <= MAX_SYMBOLS:
        return len(symbols)
    window = symbols[start : start + MAX_SYMBOLS]
    # A pause is worth having if it leaves a part that is not tiny; a space always is; else the cut is hard.
    for marks, least in ((".!?…", 40), (";:,—", 40), (" ", 1)):
        at = max(window.rfind(mark + (" " if mark != " " else "")) for mark in marks)
        if at >= least:
            return start + at + 1
    return start + MAX_SYMBOLS


def _last_words(symbols: str) -> str:
    if len(symbols) <= BEFORE_SYMBOLS:
        return symbols
    return symbols[-BEFORE_SYMBOLS:].partition(" ")[2]


def _first_words(symbols: str) -> str:
    if len(symbols) <= AFTER_SYMBOLS:
        return symbols
    return symbols[:AFTER_SYMBOLS].rpartition(" ")[0]


@dataclass(frozen=True, slots=True)
class Layout:
    """Frames [start, stop) of a plan are the phrase's own; ``onsets`` [symbols + 1] are its symbols' first frames (and
    the end of the last), where they are heard. ``lead`` and ``tail`` are the frames kept around its first symbol's
    time and after its last one's start."""

    start: int
    stop: int
    onsets: NDArray[np.int64]
    lead: int
    tail: int


def lay_out(phrase: Phrase, durations: NDArray[np.int64], joined: bool, stretch: float) -> Layout:
    """``durations`` [tokens] in frames of the phrase's line, with the pads at both ends. ``joined``: the unit before it
    ended where ``phrase.before`` ends, so the pause between them is this plan's.

    ``stretch``: how much longer than usual everything lasts (1 / speed).
    """
    line = phrase.line
    starts = np.concatenate(([0], np.cumsum(durations)))[1:]  # of line's symbols; the first token is a pad
    frames = int(starts[-1])
    offset, end = phrase.offset, phrase.offset + len(phrase.symbols)
    own = [i for i in range(offset, end) if line[i] not in SILENT]
    first, last = own[0], own[-1]
    earlier = next((i for i in range(offset - 1, -1, -1) if line[i] not in SILENT), None)
    later = next((i for i in range(end, len(line)) if line[i] not in SILENT), None)

    def begins(index: int) -> int:
        """First frame of a symbol, with the stress marks before it: their time is the vowel's."""
        while index and line[index - 1] in STRESSES:
            index -= 1
        return int(starts[index])

    tail_most = round(TAIL * max(1.0, stretch))

    def between(left: int, right: int) -> int:
        onset = _JOIN_ONSET.get(line[right], _JOIN_ONSET_OTHER)
        if any(line[i] in PAUSES for i in range(left, right)):
            onset = _ONSET.get(line[right], _ONSET_OTHER)
        return int(max(starts[left] + 1, min(starts[left] + tail_most, begins(right) - onset)))

    if joined and earlier is not None:
        start = between(earlier, first)
    else:
        onset = round(_ONSET.get(line[first], _ONSET_OTHER) * max(1.0, min(stretch, 1.5)))
        start = max(0, begins(first) - onset)
    stop = between(last, later) if later is not None else int(min(frames, starts[last] + tail_most))
    stop = max(stop, start + 1)
    onsets = np.clip(starts[offset : end + 1] - _LEAD_SHIFT, start, stop)
    return Layout(start, stop, onsets, begins(first) - start, stop - int(starts[last]))


def pause_frames(ending: str, layout: Layout, speed: float) -> float:
    """Frames of silence before a unit that is not joined to the one before it, which ended so."""
    wanted = _PAUSE_FRAMES[ending] / speed
    return max(0.0, wanted - max(1.0, 1 / speed) * TAIL - layout.lead)
