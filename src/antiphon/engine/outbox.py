"""Where results are distributed: a bounded box of events that knows the stream's epoch.

The one place where output of an older epoch is dropped. Not locked: its stream's lock guards it.
"""

from collections import deque

from antiphon.core.event import Audio, Event

MAX_EVENTS = 512
MAX_BYTES = 4 << 20


class Outbox:
    def __init__(self, max_events: int = MAX_EVENTS, max_bytes: int = MAX_BYTES) -> None:
        self.epoch = 0
        self._events: deque[Event] = deque()
        self._bytes = 0
        self._max_events = max_events
        self._max_bytes = max_bytes

    def __len__(self) -> int:
        return len(self._events)

    @property
    def full(self) -> bool:
        """At or over the bound: the stream makes no more until something is taken."""
        return len(self._events) >= self._max_events or self._bytes >= self._max_bytes

    def full_with(self, events: int, audio_bytes: int) -> bool:
        """Whether it would be full if so much came too. What is taken meanwhile only makes it less so: needs no lock.
        """
        return len(self._events) + events >= self._max_events or self._bytes + audio_bytes >= self._max_bytes

    def put(self, epoch: int, events: list[Event]) -> bool:
        """Append unless ``epoch`` is over; True if the box was empty before (someone must be woken)."""
        if epoch != self.epoch or not events:
            return False
        was_empty = not self._events
        self._events.extend(events)
        self._bytes += bytes_of(events)
        return was_empty

    def take(self, limit: int | None) -> list[Event]:
        n = len(self._events) if limit is None else min(limit, len(self._events))
        taken = [self._events.popleft() for _ in range(n)]
        self._bytes -= bytes_of(taken)
        return taken

    def next_epoch(self) -> None:
        """Cancel: everything undelivered is gone, and what is still being made will be dropped on arrival."""
        self.epoch += 1
        self._events.clear()
        self._bytes = 0


def bytes_of(events: list[Event]) -> int:
    """What their audio takes in memory: encoded, and once more as JSON where that is ready."""
    return sum(len(event.data) + len(event.as_json) for event in events if isinstance(event, Audio))
