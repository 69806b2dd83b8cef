"""What each open stream has done so far, summed over the journal."""

from dataclasses import dataclass
from typing import TypeAlias

from antiphon.server.journal import (
    AudioSent,
    AudioTaken,
    Finalized,
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
    counted: tuple[float, float, int] = (0.0, 0.0, 0)
    """Of the three, in their order, what sums over all streams have in them."""
    turns: int = 0
    finals: int = 0
    waited_s: float = 0.0
    """Of the finals that were asked for, the longest."""


Counted: TypeAlias = StreamOpened | TextPushed | AudioSent | AudioTaken | TextHeard | Finalized | TurnOver | StreamEnded


class Tallies:
    """Open streams by number. ``update`` returns the tally that an entry belongs to, and forgets those that ended."""

    def __init__(self) -> None:
        self._open: dict[int, Tally] = {}

    def __len__(self) -> int:
        return len(self._open)

    def update(self, entry: Counted) -> Tally | None:
        if isinstance(entry, StreamOpened):
            self._open[entry.stream] = tally = Tally(entry)
            return tally
        if isinstance(entry, StreamEnded):
            return self._open.pop(entry.stream, None)
        found = self._open.get(entry.stream)
        if found is None:
            return None
        match entry:
            case AudioSent():
                if found.ttfb_s is None:
                    asked_s = found.opened.at_s if found.text_at_s is None else found.text_at_s
                    found.ttfb_s = entry.at_s - asked_s
                    found.queue_s = max(0.0, found.ttfb_s - entry.compute_s)
                found.tellings += 1
                found.audio_s += entry.audio_s
                found.compute_s += entry.compute_s
                found.data_bytes += entry.data_bytes
            case TextPushed():
                found.chars += entry.chars
                if found.text_at_s is None and entry.chars:
                    found.text_at_s = entry.at_s
            case AudioTaken():
                found.audio_s += entry.audio_s
                found.compute_s += entry.compute_s
            case TextHeard():
                found.chars += entry.chars
            case Finalized():
                found.finals += 1
                found.waited_s = max(found.waited_s, entry.waited_s)
            case TurnOver():
                found.turns += 1
        return found
