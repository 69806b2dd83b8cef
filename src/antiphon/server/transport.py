"""uvicorn's protocols, with what ASGI does not tell an application about its socket (:mod:`antiphon.server.wire`), and
with limits that uvicorn leaves out: how long and how large the head of a request may be, and for how long a peer may
take nothing.
"""

import asyncio
import socket
import struct
from collections.abc import Sequence
from typing import Any

import uvicorn
from starlette.websockets import WebSocketDisconnect
from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.protocol import State

from antiphon.server.wire import EXTENSION, Message, SocketWire, Wire

LOST = 1006
"""The code of a connection that ended without a goodbye."""
_UNSENT_LIMIT_BYTES = 32_768
"""What the kernel may hold beyond what the peer's window takes: about 300 ms of 16-bit 24 kHz speech in base64."""
_HEAD_LIMIT_BYTES = 65_536
_LINGER_S = 0.5
_MOST_PINGS = 100
"""In one read from the socket."""
_MEDIUM_HEAD, _LARGE_HEAD = struct.Struct("!BBH").pack, struct.Struct("!BBQ").pack
_TCP_NOTSENT_LOWAT = getattr(socket, "TCP_NOTSENT_LOWAT", None)


class WireConfig(uvicorn.Config):
    """uvicorn's settings, and how patient the wire is.

    ``stall_timeout_s``: a peer that does not take what was sent for this long is dropped, also while it is closing.
    ``head_timeout_s``: in which a request's line and headers must be complete.
    """

    def __init__(self, app: Any, *, stall_timeout_s: float, head_timeout_s: float, **given: Any) -> None:
        super().__init__(app, **given)
        self.stall_timeout_s = stall_timeout_s
        self.head_timeout_s = head_timeout_s


class _Guard:
    """Drops a peer that takes nothing: a polite close would wait for it for ever, and keep its socket."""

    def __init__(self, transport: asyncio.Transport, config: uvicorn.Config) -> None:
        assert isinstance(config, WireConfig)
        self._transport = transport
        self._stall_s = config.stall_timeout_s
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """To be told of every byte that waits. A TLS transport may pause right here, for what its handshake left."""
        # Not 0: TLS transports pause at "size >= high", and would stay paused when empty.
        self._transport.set_write_buffer_limits(high=1, low=0)

    def paused(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._stall_s, self._transport.abort)

    def resumed(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Guarded(asyncio.Protocol):
    """A protocol whose guard knows when the transport's buffer fills and empties."""

    _guard: _Guard

    def connection_lost(self, exc: Exception | None) -> None:
        self._guard.resumed()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._guard.paused()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._guard.resumed()


class SocketProtocol(_Guarded, WebSocketsSansIOProtocol):
    """A WebSocket whose application is told when the transport's buffer is empty."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._guard = _Guard(self.transport, self.config)
        self._pings = 0
        self._guard.begin()
        sock = transport.get_extra_info("socket")
        if sock is not None and _TCP_NOTSENT_LOWAT is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, _UNSENT_LIMIT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.handshake_complete and self.conn.close_rcvd is None:  # uvicorn says 1005, as of a close without a code
            self.queue.put_nowait({"type": "websocket.disconnect", "code": LOST})
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._pings = 0
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            # A handshake beyond the parser's limits gets no answer from uvicorn, and would hang.
            self.handshake_initiated = self.handshake_complete = self.close_sent = True
            about = f"this is no WebSocket handshake: {self.conn.handshake_exc}"
            self.transport.write(_refusal(b"400 Bad Request", about))
            self.transport.close()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)  # starts the application's task, which first runs after this returns
        if hasattr(self, "scope"):
            wire = SocketWire(self.writable, self.transport.abort, self._send_messages, self._allow, self._more)
            self.scope["extensions"][EXTENSION] = wire  # type: ignore[assignment]

    def _send_messages(self, messages: Sequence[Message]) -> None:
        """As :meth:`send` does, less what it takes to come here by ASGI, and with one system call for all. There are no
        extensions that could change a message (see :func:`antiphon.server.binding.config`)."""
        if self.disconnected or self.close_sent or self.conn.state is not State.OPEN:
            raise WebSocketDisconnect(LOST)
        pieces: list[bytes] = []
        for message, text in messages:
            pieces += (_frame_head(Opcode.TEXT if text else Opcode.BINARY, len(message)), message)
        self.transport.writelines(pieces)

    def _allow(self, message_bytes: int) -> None:
        self.conn.max_message_size = message_bytes

    def _more(self) -> bool:
        return not self.queue.empty()

    def send_receive_event_to_app(self) -> None:
        """uvicorn stops reading at every message until it is received: two system calls for each piece of audio. Here
        only where the one before still waits."""
        first, paused = self.queue.empty(), self.read_paused
        self.read_paused = first or paused  # so it finds nothing to stop
        super().send_receive_event_to_app()
        if first:
            self.read_paused = paused

    def handle_ping(self) -> None:
        pong = b"".join(self.conn.data_to_send())
        self._pings += 1
        if self._pings > _MOST_PINGS:  # no client does this, and every one of them costs everyone time
            self.transport.abort()
        elif self.writable.is_set():  # answers to someone who pings and never reads would pile up
            self.transport.write(pong)

    async def send(self, message: ASGISendEvent) -> None:
        if self.close_sent and message["type"] in ("websocket.send", "websocket.close"):
            raise ClientDisconnected  # closed for a fault of the peer's, which the application has yet to read
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # refused is complete too; uvicorn would log an error


class HeadTooLarge(Exception):
    """Raised out of the parser's callback; answered with 431."""


class RequestProtocol(_Guarded, HttpToolsProtocol):
    """An HTTP connection whose application can drop it, and whose heads are bounded in size and time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        assert isinstance(self.config, WireConfig)
        self._guard = _Guard(transport, self.config)
        self._head_s = self.config.head_timeout_s
        self._head_bytes = 0
        self._in_head = True
        """Whether no head is complete; ``_growing``: and one has begun."""
        self._growing = False
        self._deaf = False
        """Whether what comes is no business of ours."""
        self._answering: RequestResponseCycle | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._guard.begin()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)
        # uvicorn tells the request that came last; the one that is being answered may be an earlier one.
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        growing = self._growing
        super().data_received(data)
        if self._deaf or not self._in_head or self.transport.is_closing():
            return
        if growing and self._growing:
            self._head_bytes += len(data)  # a header is only seen when it is complete
        if self._head_bytes > _HEAD_LIMIT_BYTES:
            self.send_400_response("")
        elif self.cycle is None or self.cycle.response_complete:
            self._await_head()

    def handle_websocket_upgrade(self) -> None:
        self._deaf = True  # the wire is another protocol's from here on
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        self._growing = True
        writable = self.flow._is_writable_event
        self.scope["extensions"] = {EXTENSION: Wire(writable, self.transport.abort)}  # type: ignore[dict-item]

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = self._growing = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._head_bytes > _HEAD_LIMIT_BYTES:
            about = f"the request line and headers have more than {_HEAD_LIMIT_BYTES} bytes"
            self.transport.write(_refusal(b"431 Request Header Fields Too Large", about))
            # To close with unread bytes is a reset, which would overtake the answer.
            self._deaf = True
            self._stop_waiting()
            self.loop.call_later(_LINGER_S, self.transport.close)
        else:
            super().send_400_response(msg)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > _HEAD_LIMIT_BYTES:
            raise HeadTooLarge

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self._head_s, self._head_overdue)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_overdue(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            about = f"the request line and headers did not come within {self._head_s:g} s"
            self.transport.write(_refusal(b"408 Request Timeout", about))
            self.transport.close()


def _frame_head(opcode: int, size: int) -> bytes:
    """Of a whole message from a server (RFC 6455, 5.2): final, unmasked, ``size`` bytes."""
    first = 0x80 | opcode
    if size < 126:
        return bytes((first, size))
    return _MEDIUM_HEAD(first, 126, size) if size < 65_536 else _LARGE_HEAD(first, 127, size)


def _refusal(status: bytes, about: str) -> bytes:
    """A whole response, for faults found before there is a request that a route could answer."""
    body = about.encode() + b"\n"
    head = b"HTTP/1.1 " + status + b"\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    return head + b"content-length: %d\r\n\r\n" % len(body) + body
