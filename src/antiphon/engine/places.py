"""Places: how many streams an engine serves at once. No queue: either there is a place or the caller is told."""

import threading

from antiphon.core.errors import AtCapacity


class Place:
    """One taken place. ``release`` is idempotent."""

    def __init__(self, places: "Places") -> None:
        self._places = places
        self._held = True
        self._lock = threading.Lock()

    def release(self) -> None:
        with self._lock:
            if not self._held:
                return
            self._held = False
        self._places._give_back()


class Places:
    def __init__(self, capacity: int, what: str = "streams") -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self.capacity = capacity
        self._what = what
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        return self._taken

    def take(self) -> Place:
        """Raises ``AtCapacity`` when every place is taken."""
        with self._lock:
            if self._taken >= self.capacity:
                raise AtCapacity(f"all {self.capacity} {self._what} are in use; try again in a moment")
            self._taken += 1
        return Place(self)

    def _give_back(self) -> None:
        with self._lock:
            self._taken -= 1
