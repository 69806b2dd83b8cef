"""The door of every WebSocket: who may come in, how many, and that a refusal is an answer to the handshake."""

from collections.abc import Callable

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.core.errors import AntiphonError, AtCapacity
from antiphon.protocol.actions import Send as SendFrame
from antiphon.server.auth import Principal
from antiphon.server.front import request_id_of
from antiphon.server.hub import Hub
from antiphon.server.lifecycle import Unready
from antiphon.server.machine import Machine
from antiphon.server.reply import admit
from antiphon.server.session import SpeechSocket
from antiphon.server.wire import SocketWire

TRY_LATER = 1013
_TRACEPARENT_CHARS = 128

MakeMachine = Callable[[WebSocket, str, Principal], Machine]
"""The dialect's machine for a socket with this request id. Raises ``AntiphonError`` where the handshake asks for what
cannot be."""


def traceparent_of(websocket: WebSocket) -> str:
    """The trace that the handshake named (W3C Trace Context); "" for none."""
    return websocket.headers.get("traceparent", "")[:_TRACEPARENT_CHARS]


class SocketRoute:
    """An ASGI endpoint.

    ``grant`` is what a token must allow ("tts", "stt"). ``subprotocol`` is agreed to if it is offered. ``frame_bytes``:
    what a frame may have at most, if not what is usual. ``told_inside``: that the server is full is said on the socket,
    which is closed at once; clients of such a dialect read nothing else. ``audio_mark``, ``finishes``: see
    :class:`SpeechSocket`.
    """

    def __init__(
        self,
        hub: Hub,
        route: str,
        grant: str,
        make_machine: MakeMachine,
        *,
        subprotocol: str = "",
        frame_bytes: int | None = None,
        told_inside: bool = False,
        audio_mark: bytes = b"",
        finishes: bool = False,
    ) -> None:
        self.hub = hub
        self._route = route
        self._grant = grant
        self._make_machine = make_machine
        self._subprotocol = subprotocol
        self._frame_bytes = frame_bytes
        self._told_inside = told_inside
        self._audio_mark = audio_mark
        self._finishes = finishes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Client libraries report the status of a refused handshake, and nothing of a socket closed later."""
        hub, request_id = self.hub, request_id_of(scope)
        websocket = WebSocket(scope, receive, send)
        principal = admit(hub, websocket, self._grant)
        try:
            hub.lifecycle.require_ready()
            place = hub.admission.connect()
        except (AtCapacity, Unready) as error:
            hub.refuse(error, request_id, self._route, "connections" if isinstance(error, AtCapacity) else "unready")
            if not self._told_inside:
                raise
            await self._turn_away(websocket, self._make_machine(websocket, request_id, principal), error)
            return
        try:
            machine = self._make_machine(websocket, request_id, principal)
            if self._frame_bytes is not None:
                SocketWire.under(websocket).allow(self._frame_bytes)
            try:
                await self._accept(websocket)
            except (OSError, WebSocketDisconnect):  # gone while shaking hands
                return
            socket = SpeechSocket(
                hub, websocket, machine, principal, request_id, self._route,
                audio_mark=self._audio_mark, finishes=self._finishes,
            )  # fmt: skip
            await self.serve(socket, machine)
        finally:
            place.release()

    async def serve(self, socket: SpeechSocket, machine: Machine) -> None:
        """Returns when the socket is over."""
        await socket.run()

    async def _accept(self, websocket: WebSocket) -> None:
        offered = self._subprotocol in websocket.scope.get("subprotocols", ())
        await websocket.accept(self._subprotocol if offered else None)

    async def _turn_away(self, websocket: WebSocket, machine: Machine, error: AntiphonError) -> None:
        try:
            await self._accept(websocket)
            for action in machine.close(error):
                if isinstance(action, SendFrame):
                    await websocket.send_text(action.frame.decode())
            await websocket.close(TRY_LATER)
        except (OSError, WebSocketDisconnect):
            return
