"""The last answers to questions, so that the same one is not computed twice."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from antiphon.core.frame import Samples

Answer = TypeVar("Answer")


class Remembered(Generic[Answer]):
    """``answer`` with a memory of its last ``most`` answers. Thread-safe; two who ask at once may both compute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, answer: Callable[[], Answer]) -> Answer:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = answer()
        with self._lock:
            self._known[key] = found
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return found


def fingerprint(samples: Samples) -> bytes:
    """Of contiguous samples: what tells them from any others, in 16 bytes."""
    return hashlib.blake2b(samples.tobytes(), digest_size=16).digest()
