"""Who may come in: connections and streams, counted, with nothing queued. Pure; the answer is a place or a refusal."""

from antiphon.core.errors import AtCapacity

RETRY_AFTER_S = 1.0
"""A hint: speech of one clause is made in less than this, so places free up within about a second."""


class Place:
    """One counted place. ``release`` may be called any number of times, from every way a stream can end."""

    __slots__ = ("_admission", "_counted", "_owner")

    def __init__(self, admission: "Admission", owner: str | None) -> None:
        self._admission = admission
        self._owner = owner
        self._counted = True

    def release(self) -> None:
        if self._counted:
            self._counted = False
            self._admission._give_back(self._owner)


class Admission:
    """Counts open WebSockets and open streams (in all, and by owner) against their limits."""

    def __init__(self, max_connections: int, max_streams: int) -> None:
        self.max_connections = max_connections
        self.max_streams = max_streams
        self.connections = 0
        self.streams = 0
        self._of_owner: dict[str, int] = {}

    def connect(self) -> Place:
        """Raises ``AtCapacity`` (answer 429 at the handshake)."""
        if self.connections >= self.max_connections:
            raise AtCapacity(f"all {self.max_connections} connections are in use; retry later", RETRY_AFTER_S)
        self.connections += 1
        return Place(self, None)

    def open_stream(self, owner: str, owner_limit: int | None = None) -> Place:
        """``owner_limit`` bounds this owner's streams. Raises ``AtCapacity``."""
        if owner_limit is not None and self.streams_of(owner) >= owner_limit:
            raise AtCapacity(f"this API key already has its {owner_limit} streams; retry when one ends", RETRY_AFTER_S)
        if self.streams >= self.max_streams:
            raise AtCapacity(f"all {self.max_streams} streams are in use; retry later", RETRY_AFTER_S)
        self.streams += 1
        self._of_owner[owner] = self.streams_of(owner) + 1
        return Place(self, owner)

    def streams_of(self, owner: str) -> int:
        return self._of_owner.get(owner, 0)

    def _give_back(self, owner: str | None) -> None:
        if owner is None:
            self.connections -= 1
            return
        self.streams -= 1
        self._of_owner[owner] -= 1
        if not self._of_owner[owner]:
            del self._of_owner[owner]  # or the dict would grow with every owner ever seen
