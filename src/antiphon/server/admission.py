"""Who may come in: connections and streams, counted, with nothing queued. Pure; the answer is a place or a refusal."""

from collections.abc import Callable
from functools import partial

from antiphon.core.errors import AtCapacity

RETRY_AFTER_S = 1.0
"""A hint: speech of one clause is made in less than this, so places free up within about a second."""


class Place:
    """One counted place. ``release`` may be called any number of times, from every way a stream can end."""

    __slots__ = ("_counted", "_give_back")

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        self._counted = True

    def release(self) -> None:
        if self._counted:
            self._counted = False
            self._give_back()


class Admission:
    """Counts open WebSockets, open streams (in all, and by owner) and uploads against their limits."""

    def __init__(self, max_connections: int, max_streams: int, max_uploads: int = 16) -> None:
        self.max_connections = max_connections
        self.max_streams = max_streams
        self.max_uploads = max_uploads
        self.connections = 0
        self.streams = 0
        self.uploads = 0
        self._of_owner: dict[str, int] = {}

    def connect(self) -> Place:
        """Raises ``AtCapacity`` (answer 429 at the handshake)."""
        if self.connections >= self.max_connections:
            raise AtCapacity(f"all {self.max_connections} connections are in use; retry later", RETRY_AFTER_S)
        self.connections += 1
        return Place(self._disconnect)

    def upload(self) -> Place:
        """A recording that is coming in and takes room on disk. Raises ``AtCapacity``."""
        if self.uploads >= self.max_uploads:
            raise AtCapacity(f"{self.max_uploads} recordings are coming in already; retry later", RETRY_AFTER_S)
        self.uploads += 1
        return Place(self._uploaded)

    def open_stream(self, owner: str, owner_limit: int | None = None) -> Place:
        """``owner_limit`` bounds this owner's streams. Raises ``AtCapacity``."""
        if owner_limit is not None and self.streams_of(owner) >= owner_limit:
            raise AtCapacity(f"this API key already has its {owner_limit} streams; retry when one ends", RETRY_AFTER_S)
        if self.streams >= self.max_streams:
            raise AtCapacity(f"all {self.max_streams} streams are in use; retry later", RETRY_AFTER_S)
        self.streams += 1
        self._of_owner[owner] = self.streams_of(owner) + 1
        return Place(partial(self._end_stream, owner))

    def streams_of(self, owner: str) -> int:
        return self._of_owner.get(owner, 0)

    def _disconnect(self) -> None:
        self.connections -= 1

    def _uploaded(self) -> None:
        self.uploads -= 1

    def _end_stream(self, owner: str) -> None:
        self.streams -= 1
        self._of_owner[owner] -= 1
        if not self._of_owner[owner]:
            del self._of_owner[owner]  # or the dict would grow with every owner ever seen
