"""Cartesia's routes: sockets and requests handed to the shell with their dialect's machine."""

from itertools import count

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from antiphon.core.clock import unix_time_s
from antiphon.protocol.cartesia_http import (
    SseSpeech,
    TokenReply,
    not_supported,
    read_bytes_request,
    read_sse_request,
    read_token_request,
)
from antiphon.protocol.cartesia_tts import SocketLimits, TtsSocket
from antiphon.protocol.cartesia_voices import VoiceQuery, list_voices, voice_body
from antiphon.protocol.http import EVENT_STREAM, RequestLimits, content_type
from antiphon.server.auth import Principal
from antiphon.server.exchange import Exchange
from antiphon.server.front import request_id_of
from antiphon.server.hub import Hub
from antiphon.server.reply import admit, error_response, json_response, version_of
from antiphon.server.sockets import SocketRoute
from antiphon.server.speech import AudioBody, read_body, speech_order
from antiphon.settings import Settings

SOCKET, BYTES, SSE = "/tts/websocket", "/tts/bytes", "/tts/sse"


def socket_limits(settings: Settings) -> SocketLimits:
    return SocketLimits(
        max_contexts=settings.server.max_contexts,
        max_frame_chars=settings.server.frame_limit_bytes,
        max_text_chars=settings.tts.max_text_chars,
        idle_s=settings.tts.context_idle_s,
        max_buffer_delay_s=settings.tts.max_buffer_delay_s,
    )


async def upgrade_needed(request: Request) -> Response:
    """A plain GET on a socket's path."""
    headers = {"upgrade": "websocket", "connection": "upgrade"}
    return Response("this is a WebSocket: connect with ws:// or wss://\n", 426, headers)


class CartesiaRoutes:
    """Endpoints; each is given a scope that :class:`~antiphon.server.front.Front` has named."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        server = hub.settings.server
        self._limits = RequestLimits(server.body_limit_bytes, hub.settings.tts.max_text_chars)
        limits = socket_limits(hub.settings)

        def contexts(websocket: WebSocket, request_id: str, _: Principal) -> TtsSocket:
            numbers = count(1)
            return TtsSocket(version_of(websocket), limits, lambda: f"{request_id}-{next(numbers)}", request_id)

        self.socket = SocketRoute(hub, SOCKET, "tts", contexts)

    async def speak_bytes(self, request: Request) -> Exchange:
        hub, request_id = self._hub, request_id_of(request.scope)
        principal = admit(hub, request, "tts")
        order = read_bytes_request(await self._body(request), self._limits)
        headers = {"cartesia-file-id": f"file_{request_id}"} if order.save else {}
        made = speech_order(order.config, order.text, content_type(order.config.format), AudioBody(), headers)
        return Exchange(hub, made, principal, request_id, BYTES)

    async def speak_sse(self, request: Request) -> Exchange:
        hub, request_id = self._hub, request_id_of(request.scope)
        principal = admit(hub, request, "tts")
        order = read_sse_request(await self._body(request), self._limits)
        writer = SseSpeech(order, version_of(request), request_id)
        made = speech_order(order.config, order.text, EVENT_STREAM, writer)
        return Exchange(hub, made, principal, request_id, SSE)

    async def access_token(self, request: Request) -> Response:
        principal = admit(self._hub, request, None)
        order = read_token_request(await self._body(request))
        token = self._hub.gate.issue(principal, order.grants, order.expires_in_s, unix_time_s())
        return json_response(TokenReply(token))

    async def list_voices(self, request: Request) -> Response:
        admit(self._hub, request, None)
        return json_response(list_voices(self._hub.voices.voices(), VoiceQuery.read(request.query_params)))

    async def get_voice(self, request: Request) -> Response:
        admit(self._hub, request, None)
        return json_response(voice_body(self._hub.voices.voice(request.path_params["id"])))

    def unsupported(self, feature: str) -> "Unsupported":
        return Unsupported(self._hub, feature)

    async def _body(self, request: Request) -> bytes:
        server = self._hub.settings.server
        return await read_body(request, server.body_limit_bytes, server.body_timeout_s)


class Unsupported:
    """A documented route that says that it is not offered here."""

    def __init__(self, hub: Hub, feature: str) -> None:
        self._hub = hub
        self._feature = feature

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        admit(self._hub, Request(scope), None)
        response = error_response(not_supported(self._feature), scope)
        await response(scope, receive, send)
