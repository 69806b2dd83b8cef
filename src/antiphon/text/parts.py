"""A unit in parts of bounded length, for voices that read so much at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from antiphon.text.unit import Spell, Spoken, Text

MAX_PART_CHARS = 400
_CUTS = (re.compile(r"[.!?…。！？]\s+|[。！？]"), re.compile(r"[,;:—，、；：،]\s+|[，、；：]"), re.compile(r"\s+"))
_MUST_CUT_CHARS = 80
"""A text longer than this is cut even where a part has begun; a shorter one goes into the next part whole."""


@dataclass(frozen=True, slots=True)
class Part:
    """As much of a unit as is read at once; it begins at character ``start`` of the unit's text."""

    pieces: tuple[Spoken, ...]
    start: int
    end: int


def parts(pieces: tuple[Spoken, ...], max_chars: int = MAX_PART_CHARS) -> Iterator[Part]:
    """Nearly always one. Cut after a pause if there is one, else at a space, and within a word only if it alone is too
    long. Phonemes and respelled words are never cut."""
    batch: list[Spoken] = []
    start = end = 0
    for piece in pieces:
        rest = piece
        while isinstance(rest, Text | Spell) and end - start + len(rest.text) > max_chars:
            fresh = end == start or len(rest.text) > _MUST_CUT_CHARS
            cut = _good_cut(rest.text, max_chars - (end - start)) if fresh else 0
            if cut:
                batch.append(replace(rest, text=rest.text[:cut]))
                end += cut
                rest = replace(rest, text=rest.text[cut:])
            yield Part(tuple(batch), start, end)
            batch, start = [], end
        batch.append(rest)
        end += len(rest.text)
    yield Part(tuple(batch), start, end)


def _good_cut(text: str, most: int) -> int:
    window = text[: max(most, 1)]
    for mark in _CUTS:
        at = max((match.end() for match in mark.finditer(window)), default=0)
        if at > len(window) // 3:
            return at
    return len(window)
