"""What judges whether a speaker is done, behind one interface (separate models today, a single ear later)."""

from dataclasses import dataclass
from typing import Protocol

from antiphon.core.frame import Samples
from antiphon.engine.ear import Closing


@dataclass(frozen=True, slots=True, eq=False)
class TurnPause:
    """A pause in a turn, as long as it has become.

    ``audio``: the turn so far at 16 kHz, at most its last 8 s, and ``silence_s`` of the pause. ``text``: the turn's
    words so far. ``expected_digits``: see :class:`antiphon.core.hearing.HearingConfig`. ``closing``: what the
    recogniser makes of the place, from a decode that reached into the pause; without one the rest decides.
    """

    audio: Samples
    text: str
    silence_s: float
    language: str = "en"
    expected_digits: tuple[int, ...] = ()
    closing: Closing | None = None


class TurnScorer(Protocol):
    """Perception only: no state between calls, no decision, thread-safe."""

    def score(self, pause: TurnPause) -> float:
        """Likelihood in [0, 1] that the speaker is still in their turn."""
        ...

    def warm_up(self) -> None: ...
