"""The last seconds of a stream, by absolute sample."""

import numpy as np

from antiphon.core.frame import Samples


class Tape:
    """Samples ``[start, end)`` of a stream; what is no longer needed is forgotten, so that hours cost no memory."""

    def __init__(self) -> None:
        self.start = 0
        self.end = 0
        self._data: Samples = np.zeros(1 << 14, np.float32)

    def append(self, samples: Samples) -> None:
        length = self.end - self.start
        if length + len(samples) > len(self._data):
            grown = np.zeros(2 * (length + len(samples)), np.float32)
            grown[:length] = self._data[:length]
            self._data = grown
        self._data[length : length + len(samples)] = samples
        self.end += len(samples)

    def read(self, start: int, end: int) -> Samples:
        """A copy of ``[start, end)``, cut to what is there."""
        first, last = max(start, self.start) - self.start, min(end, self.end) - self.start
        return self._data[first : max(first, last)].copy()

    def forget(self, before: int) -> None:
        """Samples before ``before`` are not needed any more; moves memory only when half of it is dead."""
        drop = min(before, self.end) - self.start
        if drop < len(self._data) // 2:
            return
        length = self.end - self.start - drop
        kept = np.zeros(max(1 << 14, 2 * length), np.float32)
        kept[:length] = self._data[drop : drop + length]
        self._data = kept
        self.start += drop

    def skip(self, to: int) -> None:
        """Drop everything; the next sample is number ``to``."""
        self.start = self.end = to
        self._data = np.zeros(1 << 14, np.float32)
