"""OpenAI's Realtime routes: the socket that answers, and the secrets that let browsers open it."""

import uuid
from collections.abc import Callable, Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import NotFound
from antiphon.protocol.openai_realtime import RealtimeLimits, RealtimeSocket
from antiphon.protocol.openai_realtime_http import SUBPROTOCOL, SecretReply, read_secret_request, session_at
from antiphon.protocol.openai_realtime_session import Settings, audio_format
from antiphon.server.agent import REALTIME_ROUTE, AgentLog, AgentSessionFacts
from antiphon.server.auth import REALTIME, Principal
from antiphon.server.hub import Hub
from antiphon.server.machine import Machine
from antiphon.server.realtime import RecordedSocket
from antiphon.server.reply import admit, json_response
from antiphon.server.session import SpeechSocket
from antiphon.server.sockets import SocketRoute, traceparent_of
from antiphon.server.speech import read_body
from antiphon.server.transport import LOST

SOCKET, SECRETS = REALTIME_ROUTE, "/v1/realtime/client_secrets"


class RealtimeRoute(SocketRoute):
    """Tells the record of a conversation when its client has gone."""

    async def serve(self, socket: SpeechSocket, machine: Machine) -> None:
        try:
            await socket.run()
        finally:
            if isinstance(machine, RecordedSocket):
                machine.gone(self.hub.clock.now_s(), lost=socket.closed_with == LOST)


class RealtimeRoutes:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._limits = RealtimeLimits()
        self._plain = Settings(instructions=hub.settings.brain.instructions)

        def converse(websocket: WebSocket, request_id: str, principal: Principal) -> RealtimeSocket | RecordedSocket:
            carried = principal.session
            begun = self._plain if carried is None else msgspec.json.decode(carried, type=Settings)
            asked = session_at(bytes(websocket.scope["query_string"]).decode("latin-1"), begun)
            socket = RealtimeSocket(self._named(asked), self._limits, _new_id, principal.name)
            if asked.kind == "transcription":
                return socket
            return RecordedSocket(socket, self._records(principal, traceparent_of(websocket)))

        self.socket = RealtimeRoute(
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

    def _records(self, principal: Principal, traceparent: str) -> Callable[[Settings, float], Sequence[AgentLog]]:
        hub = self._hub

        def begin(settings: Settings, began_s: float) -> Sequence[AgentLog]:
            heard, spoken = audio_format(settings.input.format), audio_format(settings.output.format)
            transcription = settings.input.transcription
            facts = AgentSessionFacts(
                session_id=settings.id,
                principal=principal.name,
                brain=hub.brain.name,
                voice=self._voice(settings.output.voice),
                language=(transcription.language if transcription is not None else "") or "en",
                input_encoding=heard.encoding,
                input_rate_hz=heard.sample_rate_hz,
                output_encoding=spoken.encoding,
                output_rate_hz=spoken.sample_rate_hz,
                began_s=began_s,
                began_unix_s=unix_time_s() - (hub.clock.now_s() - began_s),
                traceparent=traceparent,
                route=SOCKET,
            )
            return [make(facts) for make in hub.agent_logs]

        return begin

    def _voice(self, name: str) -> str:
        try:
            return self._hub.voices.voice(name).name
        except NotFound:
            return name

    def _named(self, settings: Settings) -> Settings:
        expires_at = int(unix_time_s() + self._limits.max_session_s)
        return msgspec.structs.replace(settings, id=f"sess_{_new_id()}", expires_at=expires_at)


def _new_id() -> str:
    return uuid.uuid4().hex[:24]
