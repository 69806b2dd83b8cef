"""OpenAI's routes under ``/v1``."""

from starlette.requests import Request
from starlette.responses import Response

from antiphon.protocol.http import EVENT_STREAM, RequestLimits, content_type
from antiphon.protocol.openai_http import SPEECH_MODELS, SseSpeech, find_model, list_models, read_speech_request
from antiphon.protocol.openai_realtime_session import REALTIME_MODELS
from antiphon.protocol.openai_transcription import TRANSCRIPTION_MODELS
from antiphon.server.exchange import Exchange
from antiphon.server.front import request_id_of
from antiphon.server.hub import Hub
from antiphon.server.reply import admit, json_response
from antiphon.server.speech import AudioBody, read_body, speech_order

SPEECH = "/v1/audio/speech"
_CREATED = 1_767_225_600
"""2026-01-01: models here have no birthday of their own, and clients want a number."""


class OpenAiRoutes:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._limits = RequestLimits(hub.settings.server.body_limit_bytes, hub.settings.tts.max_text_chars)

    async def speak(self, request: Request) -> Exchange:
        hub, server = self._hub, self._hub.settings.server
        principal = admit(hub, request, "tts")
        body = await read_body(request, server.body_limit_bytes, server.body_timeout_s)
        order = read_speech_request(body, self._limits)
        kind, writer = (
            (EVENT_STREAM, SseSpeech(order)) if order.sse else (content_type(order.config.format), AudioBody())
        )
        made = speech_order(order.config, order.text, kind, writer)
        return Exchange(hub, made, principal, request_id_of(request.scope), SPEECH)

    async def list_models(self, request: Request) -> Response:
        admit(self._hub, request, None)
        return json_response(list_models(self._names(), _CREATED))

    async def get_model(self, request: Request) -> Response:
        admit(self._hub, request, None)
        return json_response(find_model(self._names(), request.path_params["id"], _CREATED))

    def _names(self) -> list[str]:
        """Our engines, then the names that clients have as defaults."""
        engines = [info.engine for info in self._hub.voices.voices()]
        theirs = (*SPEECH_MODELS, *TRANSCRIPTION_MODELS, *REALTIME_MODELS)
        return list(dict.fromkeys((*engines, *self._hub.voices.ears(), *theirs)))
