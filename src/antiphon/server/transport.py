"""uvicorn's protocols, with the two things that ASGI does not tell an application about its socket.

``writable``: a message is best made when it can leave, not before; what waits in a buffer cannot be taken back when
its context is cancelled. ``abort``: a peer that has stopped reading never lets a polite close finish.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

EXTENSION = "antiphon.wire"
_UNSENT_LIMIT_BYTES = 32_768
"""What the kernel may hold beyond what the peer's window takes: about 300 ms of 16-bit 24 kHz speech in base64."""
_TCP_NOTSENT_LOWAT = getattr(socket, "TCP_NOTSENT_LOWAT", None)


@dataclass(frozen=True, slots=True)
class Wire:
    """The application's view of its socket."""

    writable: asyncio.Event
    """Set while nothing waits to leave."""
    abort: Callable[[], None]

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "Wire":
        """The wire of this connection; under another ASGI server, one that is always writable."""
        wire = (scope.get("extensions") or {}).get(EXTENSION)
        if isinstance(wire, Wire):
            return wire
        always = asyncio.Event()
        always.set()
        return Wire(always, lambda: None)


class SocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket whose application is told when the transport's buffer is empty."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        # Not 0: TLS transports pause at "size >= high", and would stay paused when empty.
        self.transport.set_write_buffer_limits(high=1, low=0)
        sock = transport.get_extra_info("socket")
        if sock is not None and _TCP_NOTSENT_LOWAT is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, _UNSENT_LIMIT_BYTES)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)  # starts the application's task, which first runs after this returns
        if hasattr(self, "scope"):
            self.scope["extensions"][EXTENSION] = Wire(self.writable, self.transport.abort)  # type: ignore[assignment]

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # refused is complete too; uvicorn would log an error


class RequestProtocol(HttpToolsProtocol):
    """An HTTP connection whose application can drop it."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        writable = self.flow._is_writable_event
        self.scope["extensions"] = {EXTENSION: Wire(writable, self.transport.abort)}  # type: ignore[dict-item]
