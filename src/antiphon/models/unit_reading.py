"""A unit read part by part and phrase by phrase: what the voices that know hibari's symbols have in common."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from antiphon.core.speech import Rendered
from antiphon.models.hibari_frontend import Script
from antiphon.models.hibari_phrase import GOES_ON, Phrase, phrases
from antiphon.models.hibari_words import WordClock
from antiphon.text.parts import parts
from antiphon.text.unit import Spoken, Unit

Read: TypeAlias = Callable[[tuple[Spoken, ...], str, str], Script]
"""Pieces, the text before them and the text behind them, as they are spoken."""
Speak: TypeAlias = Callable[[Phrase, int, str | None, WordClock], Iterator[Rendered]]
"""A phrase from this sample on; the ending of what stands before it; the words, to be placed and taken."""

NOTHING = Rendered(np.zeros(0, np.float32))
"""A quantum without sound."""


def read_unit(
    unit: Unit,
    at_sample: int,
    after: str | None,
    rate_hz: int,
    read: Read,
    speak: Speak,
    *,
    long_chars: int = -1,
    stand_in: str = GOES_ON,
) -> Iterator[Rendered]:
    """The pause that ``after`` calls for, the unit's own sound, then its explicit break.

    ``long_chars``: reading more than this is a quantum of its own. ``stand_in``: see :func:`phrases`.
    """
    text, position, ending = unit.text, at_sample, after
    for part in parts(unit.pieces):
        before = text[: part.start] if part.start else unit.before
        following = text[part.end :] or unit.after
        goes_on = unit.ending in ("none", "clause") if part.end == len(text) else True
        script = read(part.pieces, before, following)
        if part.end - part.start > long_chars:
            yield NOTHING
        words = WordClock(script, text, (part.start, part.end))
        for phrase in phrases(script, goes_on, stand_in):
            for rendered in speak(phrase, position, ending, words):
                position += len(rendered.samples)
                yield rendered
            ending = "none"
        words.place_silent(position)
        left = words.take(position + 1)
        if left.words:
            yield Rendered(NOTHING.samples, left.words, left.normalized, left.phonemes)
    if unit.pause_s > 0:
        yield Rendered(np.zeros(round(unit.pause_s * rate_hz), np.float32))
