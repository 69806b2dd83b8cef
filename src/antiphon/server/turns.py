"""Where a listening stream's events become decisions about turns, on their way to whoever is told."""

from collections.abc import Callable
from typing import Final

from antiphon.core.event import Event, Flushed, Marker
from antiphon.core.hearing import Heard
from antiphon.core.turns import EndpointSettings, TurnEnded, TurnEvent
from antiphon.dialog.endpoint import FINAL_WAIT_S, Endpoint

HASTEN: Final = "hasten"
"""Marker of a flush of ours: the turn is over but for the last words, so they are asked for."""

NO_FINAL: Final = (
    f"a turn ended without the recogniser's final, which was waited for {FINAL_WAIT_S:g} s: every such turn pays that"
)


class TurnTaking:
    """The endpoint of one stream, and what it needs of the stream: ``flush(HASTEN)``. ``warn`` is told once where
    finals that were asked for do not come."""

    def __init__(
        self,
        flush: Callable[[Marker], None],
        settings: EndpointSettings,
        now_s: float,
        warn: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._flush = flush
        self._warn = warn
        self._warned = False
        self._endpoint = Endpoint(settings, now_s)
        self._hastened = False
        self._final = False  # one has come since it was asked for
        self._last: set[Marker] = set()

    @property
    def due_s(self) -> float | None:
        """When :meth:`tick` has something to decide if the stream says nothing before."""
        return self._endpoint.deadline_s

    def configure(self, settings: EndpointSettings) -> None:
        self._endpoint.configure(settings)

    def ends_with(self, marker: Marker) -> None:
        """A last flush was asked for: with its answer every turn is over."""
        self._last.add(marker)

    def take(self, event: Event, now_s: float) -> list[TurnEvent]:
        """What an event of the stream means for turns."""
        if isinstance(event, Flushed) and event.marker in self._last:
            return self._endpoint.close()
        if isinstance(event, Heard) and event.final:
            self._final = True
        return self._hasten(self._endpoint.handle(event, now_s))

    def tick(self, now_s: float) -> list[TurnEvent]:
        """The stream has said nothing for too long."""
        return self._hasten(self._endpoint.tick(now_s))

    def _hasten(self, decided: list[TurnEvent]) -> list[TurnEvent]:
        if not self._endpoint.awaits_final:
            ended = self._hastened and any(isinstance(event, TurnEnded) and event.transcript for event in decided)
            if ended and not self._final and not self._warned:
                self._warned = True
                self._warn(NO_FINAL)
            self._hastened = False
        elif not self._hastened and not self._last:
            self._hastened, self._final = True, False
            self._flush(HASTEN)
        return decided
