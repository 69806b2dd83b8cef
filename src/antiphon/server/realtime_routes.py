"""OpenAI's Realtime routes: the socket that answers, and the secrets that let browsers open it."""

import uuid

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from antiphon.core.clock import unix_time_s
from antiphon.protocol.openai_realtime import RealtimeLimits, RealtimeSocket
from antiphon.protocol.openai_realtime_http import SUBPROTOCOL, SecretReply, read_secret_request, session_at
from antiphon.protocol.openai_realtime_session import Settings
from antiphon.server.auth import REALTIME, Principal
from antiphon.server.hub import Hub
from antiphon.server.reply import admit, json_response
from antiphon.server.sockets import SocketRoute
from antiphon.server.speech import read_body

SOCKET, SECRETS = "/v1/realtime", "/v1/realtime/client_secrets"


class RealtimeRoutes:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._limits = RealtimeLimits()
        self._plain = Settings(instructions=hub.settings.brain.instructions)

        def converse(websocket: WebSocket, request_id: str, principal: Principal) -> RealtimeSocket:
            carried = principal.session
            begun = self._plain if carried is None else msgspec.json.decode(carried, type=Settings)
            asked = session_at(bytes(websocket.scope["query_string"]).decode("latin-1"), begun)
            return RealtimeSocket(self._named(asked), self._limits, _new_id, principal.name)

        self.socket = SocketRoute(
            hub,
            SOCKET,
            REALTIME,
            converse,
            subprotocol=SUBPROTOCOL,
            frame_bytes=self._limits.max_frame_chars,
            told_inside=True,
        )

    async def client_secret(self, request: Request) -> Response:
        """``POST /v1/realtime/client_secrets``."""
        hub, server = self._hub, self._hub.settings.server
        principal = admit(hub, request, None)
        body = await read_body(request, server.body_limit_bytes, server.body_timeout_s)
        settings, lifetime_s = read_secret_request(body, self._plain)
        session = msgspec.json.encode(settings)
        secret, expires_at = hub.gate.issue_secret(principal, session, lifetime_s, unix_time_s())
        return json_response(SecretReply(secret, expires_at, self._named(settings).echo()))

    def _named(self, settings: Settings) -> Settings:
        expires_at = int(unix_time_s() + self._limits.max_session_s)
        return msgspec.structs.replace(settings, id=f"sess_{_new_id()}", expires_at=expires_at)


def _new_id() -> str:
    return uuid.uuid4().hex[:24]
