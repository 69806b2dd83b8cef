"""The input audio of a Realtime socket: streams of listening, and whose words are whose.

One stream listens at a time. A commit without turn detection marks its place by a flush, whose answer says that all
words before it are there. A stream that is no longer right (its settings changed, or its speech was committed or
cleared in the middle of a turn) hears out what is marked on it, and the next audio opens another.
"""

import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from antiphon.core.brain import BrainEvent
from antiphon.core.event import Event, Flushed
from antiphon.core.hearing import EAR_RATE_HZ, Heard, HearingConfig
from antiphon.core.turns import EndpointSettings, TurnEvent
from antiphon.protocol.actions import AgentAction, Cancel, Close, Configure, Flush, Key, Open, Push


@dataclass(frozen=True, slots=True)
class Words:
    """All that was said in the audio of an item."""

    item_id: str
    text: str


@dataclass(slots=True)
class _Ear:
    key: Key
    config: HearingConfig
    settings: EndpointSettings | None
    begun_ms: int
    said: list[str] = field(default_factory=list)
    marks: deque[tuple[int, str | None]] = field(default_factory=deque)


class InputBuffer:
    """``keys`` gives keys of streams. Milliseconds count all audio that was appended in the session."""

    def __init__(self, keys: Iterator[Key]) -> None:
        self._keys = keys
        self._markers = itertools.count(1)
        self._live: _Ear | None = None
        self._ears: dict[Key, _Ear] = {}
        self._before_ms = 0
        self._bytes = 0
        self._bytes_per_ms = 48
        self._committed_ms = 0

    @property
    def total_ms(self) -> int:
        return self._before_ms + self._bytes // self._bytes_per_ms

    @property
    def fresh_ms(self) -> int:
        """Audio that is in no item yet."""
        return self.total_ms - self._committed_ms

    def owns(self, key: Key) -> bool:
        return key in self._ears

    def is_live(self, key: Key) -> bool:
        return self._live is not None and self._live.key == key

    def at_ms(self, at_sample: int) -> int:
        """Where a sample of the stream that listens now is in the session."""
        begun_ms = self._live.begun_ms if self._live is not None else self.total_ms
        return begun_ms + at_sample * 1000 // EAR_RATE_HZ

    def append(
        self, data: bytes, config: HearingConfig, settings: EndpointSettings | None, bytes_per_ms: int
    ) -> list[AgentAction]:
        """``settings`` of turns; None where the client decides about them."""
        actions: list[AgentAction] = []
        live = self._live
        if live is not None and live.config != config:
            actions += self.retire(None)
            live = None
        if live is None:
            self._before_ms, self._bytes, self._bytes_per_ms = self.total_ms, 0, bytes_per_ms
            live = self._live = _Ear(next(self._keys), config, settings, self.total_ms)
            self._ears[live.key] = live
            actions.append(Open(live.key, config))
            if settings is not None:
                actions.append(Configure(live.key, settings))
        elif settings is not None and settings != live.settings:
            live.settings = settings
            actions.append(Configure(live.key, settings))
        self._bytes += len(data)
        actions.append(Push(live.key, data))
        return actions

    def committed(self) -> None:
        """All audio so far is in an item, or thrown away."""
        self._committed_ms = self.total_ms

    def forget(self) -> None:
        """What was said so far is known by other means."""
        if self._live is not None:
            self._live.said.clear()

    def mark(self, item_id: str | None) -> list[AgentAction]:
        """What was said up to here belongs to the item, or to nobody."""
        live = self._live
        if live is None:
            return []
        marker = next(self._markers)
        live.marks.append((marker, item_id))
        return [Flush(live.key, marker, last=False)]

    def retire(self, item_id: str | None) -> list[AgentAction]:
        """As :meth:`mark`, and the stream hears nothing after it."""
        live = self._live
        if live is None:
            return []
        self._live = None
        if item_id is None and not live.marks:
            del self._ears[live.key]
            return [Cancel(live.key)]
        marker = next(self._markers)
        live.marks.append((marker, item_id))
        return [Flush(live.key, marker, last=True)]

    def hear(self, key: Key, event: Event | TurnEvent | BrainEvent) -> tuple[list[Words], list[AgentAction]]:
        ear = self._ears.get(key)
        if ear is None:
            return [], []
        if isinstance(event, Heard) and event.final:
            ear.said.append(event.text)
        if not isinstance(event, Flushed) or not any(marker == event.marker for marker, _ in ear.marks):
            return [], []
        found: list[Words] = []
        while True:
            marker, item_id = ear.marks.popleft()
            if item_id is not None:
                found.append(Words(item_id, "".join(ear.said).strip()))
            ear.said.clear()
            if marker == event.marker:
                break
        if ear.marks or ear is self._live:
            return found, []
        del self._ears[key]
        return found, [Close(key)]

    def lose(self, key: Key) -> tuple[list[str], list[AgentAction]]:
        """The stream is broken: the items whose words will not come."""
        ear = self._ears.pop(key, None)
        if ear is None:
            return [], []
        if ear is self._live:
            self._live = None
        return [item_id for _, item_id in ear.marks if item_id is not None], [Cancel(key)]

    def close(self) -> list[AgentAction]:
        actions: list[AgentAction] = [Cancel(key) for key in self._ears]
        self._ears.clear()
        self._live = None
        return actions
