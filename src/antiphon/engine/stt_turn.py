"""What a stream keeps of the speaker's turn so that it can be scored. Pure."""

from collections.abc import Sequence

from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.engine.ear import Closing

SCORE_AT_S = (
    0.09, 0.18, 0.24, 0.3, 0.36, 0.42, 0.48, 0.54, 0.6, 0.68, 0.76, 0.85, 1.0, 1.15, 1.3, 1.45, 1.6, 1.75, 1.82, 1.9,
    2.2, 2.5,
)  # fmt: skip
"""Lengths of a pause at which the turn is scored: an end is known at the next of them."""
MAX_WORDS = 60
_OVER_BELOW = 0.2


class TurnView:
    """Words and start of the turn, as far as perception needs them; where a turn really ends is decided elsewhere."""

    MAX_AUDIO_SAMPLES = 8 * EAR_RATE_HZ

    def __init__(self) -> None:
        self.start = 0
        self._words: list[str] = []
        self._pause: int | None = None
        self._scores = 0
        self._begun = False
        self._over = True
        self.closing: Closing | None = None
        """Of the decode of this pause, once there is one."""

    def resume(self, at: int) -> None:
        """A voiced frame at sample ``at``."""
        if self._over:
            self.start, self._words = max(0, at - EAR_RATE_HZ // 2), []
            self._over = False
        self._begun, self._pause, self._scores = True, None, 0
        self.closing = None

    def add(self, words: Sequence[str]) -> None:
        self._words = [*self._words, *words][-MAX_WORDS:]

    def text(self, more: Sequence[str]) -> str:
        return " ".join([*self._words, *more])

    def due(self, quiet_from: int | None, silence_s: float) -> bool:
        """Whether the pause that began at ``quiet_from`` calls for another score."""
        if quiet_from is None or not self._begun:
            return False
        scores = self._scores if self._pause == quiet_from else 0
        return scores < len(SCORE_AT_S) and silence_s >= SCORE_AT_S[scores]

    def scored(self, quiet_from: int, silence_s: float, likelihood: float) -> None:
        """A score was made; lengths that the pause passed meanwhile are not made up for."""
        self._pause = quiet_from
        self._scores = sum(silence_s >= at_s for at_s in SCORE_AT_S)
        self._over = likelihood < _OVER_BELOW or silence_s >= SCORE_AT_S[-1]
