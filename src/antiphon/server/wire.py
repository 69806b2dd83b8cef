"""What an application may know and do about its socket that ASGI does not tell.

``writable``: a message is best made when it can leave, not before; what waits in a buffer cannot be taken back when
its context is cancelled. ``abort``: a peer that has stopped reading never lets a polite close finish. ``send``: ASGI's
way for a message leads through five calls and three copies, for each piece of everyone's audio, and each has a system
call of its own.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.websockets import WebSocket

EXTENSION = "antiphon.wire"

Message: TypeAlias = tuple[bytes, bool]
"""A message of a WebSocket, and whether it is text (UTF-8)."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The application's view of its connection."""

    writable: asyncio.Event
    """Set while nothing waits to leave."""
    abort: Callable[[], None]

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "Wire":
        """The wire of this connection; under another ASGI server, one that is always writable."""
        wire = (scope.get("extensions") or {}).get(EXTENSION)
        return wire if isinstance(wire, Wire) else Wire(_always(), _nothing)


@dataclass(frozen=True, slots=True)
class SocketWire(Wire):
    """And of a WebSocket."""

    send: Callable[[Sequence[Message]], None]
    """Messages, in their order and at once. Does not wait: to be called while the wire is writable. Raises
    ``WebSocketDisconnect``, and what a server's own way of sending raises."""
    allow: Callable[[int], None] = lambda _: None
    """How many bytes a message of the peer may have from here on."""
    more: Callable[[], bool] = lambda: True
    """Whether messages of the peer may have come that nobody has received."""

    @staticmethod
    def under(socket: WebSocket) -> "SocketWire":
        """The wire of an accepted WebSocket, under any ASGI server."""
        wire = (socket.scope.get("extensions") or {}).get(EXTENSION)
        if isinstance(wire, SocketWire):
            return wire
        writable = _always()
        return SocketWire(writable, _nothing, _Sending(socket, writable).send)


class _Sending:
    """ASGI's own way: a message at a time, and the wire is not writable until all have been taken."""

    def __init__(self, socket: WebSocket, writable: asyncio.Event) -> None:
        self._socket = socket
        self._writable = writable
        self._last: asyncio.Task[None] | None = None

    def send(self, messages: Sequence[Message]) -> None:
        if self._last is not None:
            self._last.result()
        self._writable.clear()
        self._last = asyncio.get_running_loop().create_task(self._send(messages))
        self._last.add_done_callback(lambda _: self._writable.set())

    async def _send(self, messages: Sequence[Message]) -> None:
        for message, text in messages:
            await (self._socket.send_text(message.decode()) if text else self._socket.send_bytes(message))


def _always() -> asyncio.Event:
    always = asyncio.Event()
    always.set()
    return always


def _nothing() -> None:
    """No other server lets a connection be dropped."""
