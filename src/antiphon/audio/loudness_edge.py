"""Where a speaker's last sound was, found in the audio itself, as a recording would be measured."""

from collections import deque

import numpy as np

from antiphon.audio.activity import ACTIVE_DB, WINDOW_S
from antiphon.core.frame import Samples

QUIET_DB = 40.0
"""A sound is a 10 ms window within this of the speech level."""
KEPT_S = 60.0
_OVER_NOISE_DB = 8.0
_CLEAR_DB = 18.0  # a floor nearer to speech than this is no noise but speech without pauses


class LoudnessEdge:
    """Takes audio as it comes, remembers how loud the last minute was, and says where it fell silent.

    Positions are samples from the first that was pushed. The result does not depend on how the audio is cut.
    """

    def __init__(self, rate_hz: int) -> None:
        self._size = max(1, round(rate_hz * WINDOW_S))
        self._powers: deque[float] = deque(maxlen=round(KEPT_S / WINDOW_S))
        self._rest = np.zeros(0, np.float32)
        self._windows = 0

    def push(self, samples: Samples) -> None:
        """``samples`` [n] are the next ones."""
        samples = np.concatenate((self._rest, np.nan_to_num(samples)))
        count = len(samples) // self._size
        if count:
            whole = samples[: count * self._size].astype(np.float64).reshape(count, self._size)
            self._powers.extend(np.square(whole).mean(axis=1).tolist())
            self._windows += count
        self._rest = samples[count * self._size :]

    def last_loud(self, start: int, stop: int) -> int | None:
        """End of the last sound in ``[start, stop)``; None where there is none, or it is too long ago.

        A sound is within 40 dB of the level of the speech in there, and above the noise of the last minute.
        """
        first = self._windows - len(self._powers)
        begin, end = max(first, start // self._size), min(self._windows, -(-stop // self._size))
        if end <= begin:
            return None
        kept = np.fromiter(self._powers, np.float64, len(self._powers))
        powers = kept[begin - first : end - first]
        peak = float(powers.max())
        if peak <= 0.0:
            return None
        level = float(powers[powers >= peak * 10 ** (-ACTIVE_DB / 10)].mean())
        noise = float(np.percentile(kept, 5)) * 10 ** (_OVER_NOISE_DB / 10)
        threshold = max(level * 10 ** (-QUIET_DB / 10), min(noise, level * 10 ** (-_CLEAR_DB / 10)))
        loud = np.flatnonzero(powers >= threshold)
        return int((begin + loud[-1] + 1) * self._size) if len(loud) else None
