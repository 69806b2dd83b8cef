"""The door of every WebSocket: who may come in, how many, and that a refusal is an answer to the handshake."""

from collections.abc import Callable

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.core.errors import AntiphonError, AtCapacity
from antiphon.server.front import request_id_of
from antiphon.server.hub import Hub
from antiphon.server.reply import admit
from antiphon.server.session import Machine, SpeechSocket

MakeMachine = Callable[[WebSocket, str], Machine]
"""The dialect's machine for a socket with this request id."""


class SocketRoute:
    """An ASGI endpoint. ``grant`` is what an access token must allow ("tts", "stt")."""

    def __init__(self, hub: Hub, route: str, grant: str, make_machine: MakeMachine) -> None:
        self._hub = hub
        self._route = route
        self._grant = grant
        self._make_machine = make_machine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Client libraries report the status of a refused handshake, and nothing of a socket closed later."""
        hub, request_id = self._hub, request_id_of(scope)
        websocket = WebSocket(scope, receive, send)
        principal = admit(hub, websocket, self._grant)
        try:
            hub.lifecycle.require_ready()
            place = hub.admission.connect()
        except AntiphonError as error:
            hub.refuse(error, request_id, self._route, "connections" if isinstance(error, AtCapacity) else "unready")
            raise
        try:
            try:
                await websocket.accept()
            except (OSError, WebSocketDisconnect):  # gone while shaking hands
                return
            machine = self._make_machine(websocket, request_id)
            await SpeechSocket(hub, websocket, machine, principal, request_id, self._route).run()
        finally:
            place.release()
