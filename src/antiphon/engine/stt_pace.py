"""How often the open window is decoded again. Pure."""

from collections.abc import Callable

from antiphon.core.event import Event, Warned

FASTEST_S, SLOWEST_S = 0.32, 1.0
FIRST_S = 0.16
"""Until the first words of a window are shown: it is short then, and cheap."""
_COST_SHARE = 2.5
"""An interim may take this part of the time to the next one, waiting for a worker included."""
_DEAR_S = 2.0


class Pace:
    """320 ms on a free machine, up to 1 s under load: what an interim took from asking to telling sets the pace.

    A recogniser that is too dear to decode again (``cheap`` False) gives interims only while ``idle()``.
    """

    def __init__(self, cheap: bool, idle: Callable[[], bool]) -> None:
        self._cheap = cheap
        self._idle = idle
        self._took_s = 0.0
        self._warned = False

    @property
    def interval_s(self) -> float:
        if not self._cheap:
            return max(_DEAR_S, 2.0 * self._took_s)
        return min(max(FASTEST_S, _COST_SHARE * self._took_s), SLOWEST_S)

    def due(self, fresh_s: float, *, first: bool = False) -> bool:
        """Whether ``fresh_s`` of undecoded audio call for an interim. ``first``: nothing is shown yet."""
        interval_s = self.interval_s
        if first and self._cheap and interval_s == FASTEST_S:
            interval_s = FIRST_S
        return fresh_s >= interval_s and (self._cheap or self._idle())

    def took(self, seconds: float) -> None:
        self._took_s += 0.3 * (seconds - self._took_s)

    def warnings(self) -> list[Event]:
        """Told with the first interim."""
        if self._cheap or self._warned:
            return []
        self._warned = True
        return [Warned("this recogniser is no streaming one: interim text comes only while the server is idle")]
