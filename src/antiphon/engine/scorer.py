"""What judges whether a speaker is done, behind one interface (separate models today, a single ear later)."""

from typing import Protocol

from antiphon.core.frame import Samples
from antiphon.engine.ear import Closing


class TurnScorer(Protocol):
    """Perception only: no state between calls, no decision, thread-safe."""

    def score(
        self,
        audio: Samples,
        text: str,
        silence_s: float,
        language: str,
        expected_digits: tuple[int, ...] = (),
        closing: Closing | None = None,
    ) -> float:
        """Likelihood in [0, 1] that the speaker is still in their turn.

        ``audio``: the turn so far at 16 kHz, at most its last 8 s, pause included. ``text``: the turn's words so far.
        ``expected_digits``: see :class:`antiphon.core.hearing.HearingConfig`. ``closing``: what the recogniser makes of
        the place, from a decode that reached into the pause; without one the rest decides.
        """
        ...

    def warm_up(self) -> None: ...
