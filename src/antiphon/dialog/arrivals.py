"""When a sample of the user's audio came in. Pure."""

from bisect import bisect_left
from collections import deque

from antiphon.core.hearing import EAR_RATE_HZ

_KEPT = 2_048
_NEAR_SAMPLES = EAR_RATE_HZ


class Arrivals:
    """Between media time (samples at the ear's rate) and monotonic seconds, for the latest audio."""

    def __init__(self) -> None:
        self._known: deque[tuple[int, float]] = deque(maxlen=_KEPT)

    def note(self, sample: int, now_s: float) -> None:
        """All samples before this one have come in."""
        if not self._known or sample > self._known[-1][0]:
            self._known.append((sample, now_s))

    def came_s(self, sample: int, now_s: float) -> float:
        """When this sample came in: audio comes in real time, and what came least late tells best when it was said."""
        first = bisect_left(self._known, (sample, float("-inf")))
        if first == len(self._known):
            return now_s
        lags = [
            at_s - at_sample / EAR_RATE_HZ
            for at_sample, at_s in list(self._known)[first:]
            if at_sample <= sample + _NEAR_SAMPLES
        ] or [self._known[first][1] - self._known[first][0] / EAR_RATE_HZ]
        return min(lags) + sample / EAR_RATE_HZ
