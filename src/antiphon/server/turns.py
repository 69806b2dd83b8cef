"""Where a listening stream's events become decisions about turns, on their way to the machine."""

from typing import Final

from antiphon.core.event import Event, Flushed, Marker
from antiphon.core.turns import EndpointSettings, TurnEvent
from antiphon.dialog.endpoint import Endpoint
from antiphon.server.lines import Line

HASTEN: Final = "hasten"
"""Marker of a flush of ours: the turn is over but for the last words, so they are asked for."""


class TurnTaking:
    """The endpoint of one stream, and what it needs of the stream."""

    def __init__(self, line: Line, settings: EndpointSettings, now_s: float) -> None:
        self._line = line
        self._endpoint = Endpoint(settings, now_s)
        self._hastened = False
        self._last: list[Marker] = []

    @property
    def due_s(self) -> float | None:
        """When :meth:`tick` has something to decide if the stream says nothing before."""
        return self._endpoint.deadline_s

    def configure(self, settings: EndpointSettings) -> None:
        self._endpoint.configure(settings)

    def ends_with(self, marker: Marker) -> None:
        """A last flush was asked for: with its answer every turn is over."""
        self._last.append(marker)

    def take(self, event: Event, now_s: float) -> list[Event | TurnEvent]:
        """What the machine is to be told for an event of the stream: decisions first, then the event itself."""
        if isinstance(event, Flushed) and event.marker == HASTEN:
            return []
        told: list[Event | TurnEvent] = []
        if isinstance(event, Flushed) and event.marker in self._last:
            told += self._decided(self._endpoint.close())
        else:
            told += self._decided(self._endpoint.handle(event, now_s))
        return [*told, event]

    def tick(self, now_s: float) -> list[TurnEvent]:
        """The stream has said nothing for too long."""
        return self._decided(self._endpoint.tick(now_s))

    def _decided(self, events: list[TurnEvent]) -> list[TurnEvent]:
        for event in events:
            self._line.decided(event)
        if not self._endpoint.awaits_final:
            self._hastened = False
        elif not self._hastened and not self._last:
            self._hastened = True
            self._line.flush(HASTEN, last=False)
        return events
