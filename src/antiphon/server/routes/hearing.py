"""Routes that listen: Cartesia's two sockets, and recordings over HTTP in both dialects."""

from collections.abc import Callable
from contextlib import closing

import msgspec
from starlette.requests import Request
from starlette.websockets import WebSocket

from antiphon.core.errors import AntiphonError
from antiphon.protocol.cartesia_stt import SttSocket
from antiphon.protocol.cartesia_stt_batch import read_stt_request, stt_reply
from antiphon.protocol.cartesia_stt_socket import HearingLimits
from antiphon.protocol.cartesia_stt_turns import TurnsSocket
from antiphon.protocol.http import EVENT_STREAM, JSON
from antiphon.protocol.openai_transcription import (
    SseTranscription,
    read_transcription_request,
    reply_type,
    transcription_reply,
    translations_refusal,
)
from antiphon.protocol.transcription import Transcript
from antiphon.server.auth import Principal
from antiphon.server.exchange import Exchange, Order
from antiphon.server.front import request_id_of, route_of
from antiphon.server.hub import Hub
from antiphon.server.reply import admit
from antiphon.server.sockets import SocketRoute
from antiphon.server.transcription import transcription_order
from antiphon.server.upload import Upload, read_upload
from antiphon.settings import Settings

FINALIZE, TURNS = "/stt/websocket", "/stt/turns/websocket"
BATCH = ("/stt", "/audio/transcriptions")
TRANSCRIPTIONS, TRANSLATIONS = "/v1/audio/transcriptions", "/v1/audio/translations"


def hearing_limits(settings: Settings) -> HearingLimits:
    return HearingLimits(
        max_frame_bytes=settings.server.frame_limit_bytes,
        idle_s=settings.stt.idle_timeout_s,
        close_limit_s=settings.stt.close_limit_s,
    )


class HearingRoutes:
    """Endpoints; each is given a scope that :class:`~antiphon.server.front.Front` has named."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        limits = hearing_limits(hub.settings)

        def finalize(websocket: WebSocket, request_id: str, _: Principal) -> SttSocket:
            return SttSocket(_query(websocket), limits, request_id)

        def turns(websocket: WebSocket, request_id: str, _: Principal) -> TurnsSocket:
            return TurnsSocket(_query(websocket), limits, request_id)

        self.finalize_socket = SocketRoute(hub, FINALIZE, "stt", finalize)
        self.turns_socket = SocketRoute(hub, TURNS, "stt", turns)

    async def transcribe(self, request: Request) -> Exchange:
        """``POST /stt`` and Cartesia's ``POST /audio/transcriptions``."""
        request_id = request_id_of(request.scope)

        def order(upload: Upload) -> Order:
            asked = read_stt_request(upload.fields, request.query_params.multi_items())

            def reply(transcript: Transcript) -> bytes:
                return msgspec.json.encode(stt_reply(asked, transcript, request_id))

            return transcription_order(asked, upload.file, JSON, reply)

        return await self._exchange(request, order)

    async def transcribe_openai(self, request: Request) -> Exchange:
        """``POST /v1/audio/transcriptions``."""

        def order(upload: Upload) -> Order:
            asked = read_transcription_request(upload.fields)
            if asked.sse:
                return transcription_order(asked.request, upload.file, EVENT_STREAM, events=SseTranscription(asked))

            def reply(transcript: Transcript) -> bytes:
                return transcription_reply(asked, transcript).body

            return transcription_order(asked.request, upload.file, reply_type(asked), reply)

        return await self._exchange(request, order)

    async def translate(self, request: Request) -> Exchange:
        """``POST /v1/audio/translations``: heard out, then refused."""
        admit(self._hub, request, "stt")
        with closing((await self._upload(request)).file):
            raise translations_refusal()

    async def _exchange(self, request: Request, order: Callable[[Upload], Order]) -> Exchange:
        principal = admit(self._hub, request, "stt")
        upload = await self._upload(request)
        try:
            made = order(upload)
        except BaseException:
            upload.file.close()
            raise
        return Exchange(self._hub, made, principal, request_id_of(request.scope), route_of(request.scope))

    async def _upload(self, request: Request) -> Upload:
        hub = self._hub
        try:
            hub.lifecycle.require_ready()
            place = hub.admission.upload()
        except AntiphonError as error:
            hub.refuse(error, request_id_of(request.scope), route_of(request.scope))
            raise
        try:
            return await read_upload(request, hub.settings.stt.file_limit_bytes, hub.settings.server.body_timeout_s)
        finally:
            place.release()


def _query(websocket: WebSocket) -> str:
    return bytes(websocket.scope["query_string"]).decode("latin-1")
