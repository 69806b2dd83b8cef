"""What each open stream has done so far, summed over the journal: once, for all folds that ask."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from antiphon.server.journal import (
    AudioSent,
    AudioTaken,
    Entry,
    Finalized,
    Fold,
    StreamEnded,
    StreamOpened,
    TextHeard,
    TextPushed,
    TurnOver,
)


@dataclass(slots=True)
class Tally:
    """What one open stream has done so far; ``ttfb_s`` counts from its first text to its first byte of audio.

    ``audio_s`` is what was spoken or heard, ``chars`` the text that was given or understood.
    """

    opened: StreamOpened
    text_at_s: float | None = None
    ttfb_s: float | None = None
    queue_s: float | None = None
    chars: int = 0
    tellings: int = 0
    """Of audio that was sent; the first is the first chunk alone."""
    audio_s: float = 0.0
    compute_s: float = 0.0
    data_bytes: int = 0
    turns: int = 0
    finals: int = 0
    waited_s: float = 0.0
    """Of the finals that were asked for, the longest."""


class Tallies:
    """Of the open streams. ``update`` returns the tally that an entry belongs to, and forgets those that ended."""

    def __init__(self) -> None:
        self._open: dict[int, Tally] = {}

    def __len__(self) -> int:
        return len(self._open)

    def update(self, entry: Entry) -> Tally | None:
        match entry:
            case StreamOpened():
                self._open[entry.stream] = tally = Tally(entry)
                return tally
            case StreamEnded():
                return self._open.pop(entry.stream, None)
            case AudioSent() | TextPushed() | AudioTaken() | TextHeard() | Finalized() | TurnOver():
                found = self._open.get(entry.stream)
                if found is not None:
                    _add(found, entry)
                return found
        return None


TallyFold: TypeAlias = Callable[[Entry, Tally | None], None]
"""Is told an entry and the tally of its stream, that entry included; None: it is of no stream, or of none that is
open."""


def tallied(*folds: TallyFold) -> Fold:
    """One fold over the journal for all that need the tallies."""
    tallies = Tallies()

    def fold(entry: Entry) -> None:
        tally = tallies.update(entry)
        for each in folds:
            each(entry, tally)

    return fold


def _add(tally: Tally, entry: AudioSent | TextPushed | AudioTaken | TextHeard | Finalized | TurnOver) -> None:
    match entry:
        case AudioSent():
            if tally.ttfb_s is None:
                asked_s = tally.opened.at_s if tally.text_at_s is None else tally.text_at_s
                tally.ttfb_s = entry.at_s - asked_s
                tally.queue_s = max(0.0, tally.ttfb_s - entry.compute_s)
            tally.tellings += 1
            tally.audio_s += entry.audio_s
            tally.compute_s += entry.compute_s
            tally.data_bytes += entry.data_bytes
        case TextPushed():
            tally.chars += entry.chars
            if tally.text_at_s is None and entry.chars:
                tally.text_at_s = entry.at_s
        case AudioTaken():
            tally.audio_s += entry.audio_s
            tally.compute_s += entry.compute_s
        case TextHeard():
            tally.chars += entry.chars
        case Finalized():
            tally.finals += 1
            tally.waited_s = max(tally.waited_s, entry.waited_s)
        case TurnOver():
            tally.turns += 1
