"""The native speech socket's route."""

import secrets

from starlette.websockets import WebSocket

from antiphon.core.clock import unix_time_s
from antiphon.protocol.native_speech import NativeSpeechSocket, SpeechLimits
from antiphon.protocol.native_speech_snapshot import SpeechSeal
from antiphon.server.auth import Principal
from antiphon.server.hub import Hub
from antiphon.server.sockets import SocketRoute
from antiphon.settings import Settings

SOCKET = "/speech/websocket"
GRANT = "tts"
SNAPSHOT_BYTES = 1 << 20


def seal_of(settings: Settings) -> SpeechSeal:
    """Where no key is set, one that only this process knows."""
    tts = settings.tts
    key = secrets.token_bytes(32) if tts.snapshot_key is None else tts.snapshot_key.get_secret_value().encode()
    return SpeechSeal(key, tts.snapshot_key is not None, tts.snapshot_ttl_s, SNAPSHOT_BYTES, unix_time_s)


def speech_route(hub: Hub) -> SocketRoute:
    limits = SpeechLimits(
        max_frame_bytes=hub.settings.server.frame_limit_bytes,
        max_buffer_delay_s=hub.settings.tts.max_buffer_delay_s,
    )
    seal = seal_of(hub.settings)

    def speak(_: WebSocket, request_id: str, principal: Principal) -> NativeSpeechSocket:
        return NativeSpeechSocket(limits, seal, principal.name)

    frame_bytes = max(limits.max_frame_bytes, SNAPSHOT_BYTES + 1)
    return SocketRoute(hub, SOCKET, GRANT, speak, frame_bytes=frame_bytes, told_inside=True)
