"""Where a planned phrase is cut for the decoder, which costs half a second and more for each second that it makes.

A window is a clause or some words: as much as may be decoded in one call. Cuts lie where the plan is quiet, between
words and best in a pause, so that what each call makes of its edges is not heard; and the first window is small: speech
begins soon. Each window is decoded with a little of its neighbours on both sides, and joined to them by a short
cross-fade. All numbers are half frames (12.5 ms), the grid of the plan's F0 and energy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from antiphon.models.hibari_frontend import PAUSES, SILENT
from antiphon.models.hibari_phrase import Layout, Phrase

MAX_DECODED = 240
"""Of one call of the decoder, with its surroundings: 3 seconds."""
HALO = 12
"""Decoded on each side and dropped. Frames see further, but what changes beyond this is less than what the statistics
over a shorter call change anyway."""
OUTER_HALO = 4
"""The same at the edges of a phrase, which lie in a pause."""
MAX_OWN = MAX_DECODED - 2 * HALO

FIRST = 80
LATER = 176
"""How long a window is wished to be where nothing plays yet, and where enough does."""
_GROWTH = 1.5
"""So much longer than what plays meanwhile may the next one be: its cost, with its surroundings, is about half its
length. A third more, and it may end at a better place."""
_SLACK = 1.3

_LEAST = 40
"""Shorter windows sound unlike the rest: the decoder's statistics are taken over them alone."""
_VOICED_HZ = 60.0
_PAUSE_BONUS, _VOICED_COST = 6.0, 1.5
"""In units of the plan's energy (natural logarithm), against which they are weighed."""


@dataclass(frozen=True, slots=True)
class Window:
    """Half frames [start, stop) of a plan."""

    start: int
    stop: int


def windows(
    phrase: Phrase, layout: Layout, f0: NDArray[np.float32], energy: NDArray[np.float32], ahead: int
) -> Iterator[Window]:
    """All of ``layout``, in order, without a gap. ``f0`` and ``energy`` [half frames] of the plan. ``ahead``: what is
    made and not yet played when the first one is begun."""
    places = _places(phrase, layout, f0, energy)
    start = layout.start
    while start < layout.stop:
        wished = round(min(max(FIRST, _GROWTH * ahead), LATER))
        most = min(round(_SLACK * wished), MAX_OWN)
        left = layout.stop - start
        if left <= most:
            stop = layout.stop
        else:
            wished = min(wished, max(left // 2, _LEAST)) if left < wished + 2 * _LEAST else wished
            stop = _cut(places, start, wished, min(most, left - _LEAST), energy)
        yield Window(start, stop)
        ahead, start = stop - start, stop


@dataclass(frozen=True, slots=True)
class _Place:
    """A half frame between two words, and how loud a cut there would be."""

    at: int
    cost: float


def _places(phrase: Phrase, layout: Layout, f0: NDArray[np.float32], energy: NDArray[np.float32]) -> list[_Place]:
    places = []
    symbols = phrase.symbols
    sounding = [index for index, symbol in enumerate(symbols) if symbol not in SILENT]
    for left, right in pairwise(sounding):
        between = symbols[left + 1 : right]
        if " " not in between:
            continue
        span = np.arange(max(int(layout.onsets[left]) + 2, layout.start), int(layout.onsets[right]) + 1)
        if not len(span):
            continue
        costs = energy[span] + _VOICED_COST * (f0[span] > _VOICED_HZ)
        best = int(np.argmin(costs))
        bonus = _PAUSE_BONUS if any(symbol in PAUSES for symbol in between) else 0.0
        places.append(_Place(int(span[best]), float(costs[best]) - bonus))
    return places


def _cut(places: Sequence[_Place], start: int, wished: int, most: int, energy: NDArray[np.float32]) -> int:
    """The best place at most ``most`` beyond ``start``: quiet, and near to what is wished."""
    fit = [place for place in places if _LEAST <= place.at - start <= most]
    if not fit:  # one word longer than that: its quietest moment
        span = np.arange(start + min(wished, most) // 2, start + most + 1)
        return int(span[np.argmin(energy[span])])
    return min(fit, key=lambda place: place.cost + 6.0 * abs(place.at - start - wished) / wished).at
