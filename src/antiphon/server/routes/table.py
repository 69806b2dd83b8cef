"""Which path leads where: every route is declared once, here.

The router, ``/openapi.json``, the labels of metrics and ``/docs`` follow from it.
"""

from typing import Any, Literal, get_args

from starlette.requests import Request
from starlette.responses import Response

from antiphon import __version__
from antiphon.protocol import openapi
from antiphon.protocol.cartesia_dictionaries import CreateDictionary, DictionaryBody, DictionaryPage, UpdateDictionary
from antiphon.protocol.cartesia_errors import ErrorBody
from antiphon.protocol.cartesia_http import UNSUPPORTED, StatusReply, TokenReply, TokenRequest
from antiphon.protocol.cartesia_messages import ServerMessage
from antiphon.protocol.cartesia_request import BytesRequest, CancelRequest, GenerationRequest, SseRequest
from antiphon.protocol.cartesia_stt_batch import SttForm, SttReply
from antiphon.protocol.cartesia_stt_messages import CloseCommand, ConfigCommand, SttMessage, TurnsMessage
from antiphon.protocol.cartesia_voices import VoiceBody, VoicePage
from antiphon.protocol.http import EVENT_STREAM, TEXT
from antiphon.protocol.native_messages import SERVER_MESSAGES
from antiphon.protocol.native_messages import AnyClientMessage as AgentCommand
from antiphon.protocol.native_speech_messages import AnyClientMessage as SpeechCommand
from antiphon.protocol.native_speech_messages import AnyServerMessage as SpeechMessage
from antiphon.protocol.openai_http import ErrorReply, ModelCard, ModelList, SpeechRequest
from antiphon.protocol.openai_realtime_client import AnyClientEvent
from antiphon.protocol.openai_realtime_events import SERVER_EVENTS
from antiphon.protocol.openai_realtime_http import SecretReply, SecretRequest
from antiphon.protocol.openai_transcription import TranscriptionForm, TranscriptionReply
from antiphon.protocol.openapi import Answer, Query, Socket
from antiphon.server.hub import Hub
from antiphon.server.observe import CONTENT_TYPE
from antiphon.server.reply import json_response
from antiphon.server.routes import agent, cartesia, dictionaries, hearing, native_speech, openai, realtime
from antiphon.server.routes.agent import AgentRoute
from antiphon.server.routes.cartesia import CartesiaRoutes
from antiphon.server.routes.dictionaries import DictionaryRoutes
from antiphon.server.routes.hearing import HearingRoutes
from antiphon.server.routes.openai import OpenAiRoutes
from antiphon.server.routes.realtime import RealtimeRoutes
from antiphon.server.routes.router import Entry

FORM = "multipart/form-data"
SttCommand = Literal["finalize", "close", "done"]
"""Text frames of the finalize socket: bare words."""
_AUDIO = Answer("Audio, streamed as it is made", content_type="audio/*")
_EVENTS = Answer("Server-sent events", content_type=EVENT_STREAM)
_PLAIN = Answer("Plain text", content_type=TEXT)
_FAULTS = {status: Answer(about, ErrorBody) for status, about in ((400, "Bad request"), (401, "Bad or missing key"))}
_BUSY = {429: Answer("No place is free; retry after the given time", ErrorBody)}
_V1_FAULTS = {400: Answer("Bad request", ErrorReply), 401: Answer("Bad or missing key", ErrorReply)}


def entries(hub: Hub) -> list[Entry]:
    speaking, v1, listening = CartesiaRoutes(hub), OpenAiRoutes(hub), HearingRoutes(hub)
    conversing, agents = RealtimeRoutes(hub), AgentRoute(hub)

    def entry(endpoint: Any, method: str, path: str, summary: str, tag: str, **more: Any) -> Entry:
        return Entry(openapi.Route(method, path, summary, tag=tag, **more), endpoint)

    async def status(request: Request) -> Response:
        return json_response(StatusReply(ok=True, version=__version__))

    async def health(request: Request) -> Response:
        return json_response({"status": "alive"})

    async def ready(request: Request) -> Response:
        phase = hub.lifecycle.phase
        return json_response({"status": phase}, 200 if hub.lifecycle.is_ready else 503)

    async def metrics(request: Request) -> Response:
        return Response(hub.metrics_text(), media_type=CONTENT_TYPE)

    served = [
        entry(status, "GET", "/", "The server and its version", "server", secured=False,
              responses={200: Answer("Status", StatusReply)}),
        entry(health, "GET", "/health", "Alive", "server", secured=False, responses={200: Answer("Alive")}),
        entry(ready, "GET", "/ready", "Ready for work: a real inference has passed", "server", secured=False,
              responses={200: Answer("Ready"), 503: Answer("Starting, or shutting down")}),
        entry(metrics, "GET", "/metrics", "Prometheus metrics", "server", secured=False, responses={200: _PLAIN}),
        entry(speaking.socket, "GET", cartesia.SOCKET, "Speech over a WebSocket, in contexts", "Cartesia",
              socket=Socket(receives=(GenerationRequest, CancelRequest), sends=(ServerMessage,)),
              query=_SOCKET_QUERY, responses={401: _FAULTS[401], **_BUSY}),
        entry(speaking.speak_bytes, "POST", cartesia.BYTES, "Speech as raw, wav or mp3", "Cartesia",
              request=BytesRequest, responses={200: _AUDIO, **_FAULTS, **_BUSY}),
        entry(speaking.speak_sse, "POST", cartesia.SSE, "Speech as server-sent events", "Cartesia",
              request=SseRequest, responses={200: _EVENTS, **_FAULTS, **_BUSY}),
        entry(listening.finalize_socket, "GET", hearing.FINALIZE,
              "Speech heard; the client says when an utterance is over", "Cartesia",
              socket=Socket(receives=(SttCommand,), sends=(SttMessage,)), query=(*_HEARING_QUERY, *_SOCKET_QUERY),
              responses={401: _FAULTS[401], **_BUSY}),
        entry(listening.turns_socket, "GET", hearing.TURNS,
              "Speech heard; the server says when a turn begins and ends", "Cartesia",
              socket=Socket(receives=(CloseCommand, ConfigCommand), sends=(TurnsMessage,)),
              query=(*_HEARING_QUERY, *_TURNS_QUERY, *_SOCKET_QUERY), responses={401: _FAULTS[401], **_BUSY}),
        *(entry(listening.transcribe, "POST", path, "The text of a recording", "Cartesia",
                request=SttForm, request_type=FORM, query=_RAW_QUERY,
                responses={200: Answer("Transcript", SttReply), **_FAULTS, 413: Answer("Too large", ErrorBody),
                           **_BUSY})
          for path in hearing.BATCH),
        entry(speaking.access_token, "POST", "/access-token", "A short-lived token for browsers", "Cartesia",
              request=TokenRequest, responses={200: Answer("Token", TokenReply), **_FAULTS}),
        entry(speaking.list_voices, "GET", "/voices", "Voices", "Cartesia",
              query=tuple(Query(name, about) for name, about in _VOICE_QUERY),
              responses={200: Answer("A page of voices", VoicePage), **_FAULTS}),
        entry(speaking.get_voice, "GET", "/voices/{id}", "One voice", "Cartesia",
              responses={200: Answer("Voice", VoiceBody), 404: Answer("No such voice", ErrorBody)}),
        *_dictionary_entries(DictionaryRoutes(hub)),
        entry(v1.speak, "POST", openai.SPEECH, "Speech as mp3, opus, aac, flac, wav or pcm", "OpenAI",
              request=SpeechRequest, responses={200: _AUDIO, **_V1_FAULTS, 429: Answer("Busy", ErrorReply)}),
        entry(listening.transcribe_openai, "POST", hearing.TRANSCRIPTIONS,
              "The text of a recording as json, text, srt, vtt or verbose_json, or as events", "OpenAI",
              request=TranscriptionForm, request_type=FORM,
              responses={200: Answer("Transcript", TranscriptionReply), **_V1_FAULTS,
                         413: Answer("Too large", ErrorReply), 429: Answer("Busy", ErrorReply)}),
        entry(listening.translate, "POST", hearing.TRANSLATIONS, "Not offered: translation", "not offered",
              responses={501: Answer("Not offered", ErrorReply)}),
        entry(conversing.socket, "GET", realtime.SOCKET,
              "A conversation by speech, or a transcription of what is said", "OpenAI",
              socket=Socket(receives=get_args(AnyClientEvent), sends=SERVER_EVENTS), query=_REALTIME_QUERY,
              responses={400: _V1_FAULTS[400], 401: _V1_FAULTS[401]}),
        entry(conversing.client_secret, "POST", realtime.SECRETS, "A short-lived secret that opens a session",
              "OpenAI", request=SecretRequest, responses={200: Answer("Secret", SecretReply), **_V1_FAULTS}),
        entry(agents, "GET", agent.SOCKET, "A conversation with the agent: audio both ways, see docs/native.md",
              "Antiphon",
              socket=Socket(receives=get_args(AgentCommand), sends=SERVER_MESSAGES), responses={401: _FAULTS[401]}),
        entry(native_speech.speech_route(hub), "GET", native_speech.SOCKET,
              "Speech as binary audio; a stream can be saved and resumed on another server, see docs/speech.md",
              "Antiphon", socket=Socket(receives=get_args(SpeechCommand), sends=get_args(SpeechMessage)),
              responses={401: _FAULTS[401]}),
        entry(v1.list_models, "GET", "/v1/models", "Models", "OpenAI",
              responses={200: Answer("Models", ModelList)}),
        entry(v1.get_model, "GET", "/v1/models/{id}", "One model", "OpenAI",
              responses={200: Answer("Model", ModelCard), 404: Answer("No such model", ErrorReply)}),
    ]  # fmt: skip
    for feature, paths in UNSUPPORTED.items():
        refusal = speaking.unsupported(feature)
        answers = {501: Answer(f"Not offered: {feature}", ErrorBody)}
        served += [
            entry(refusal, method, path, f"Not offered: {feature}", "not offered", responses=answers)
            for method, path in paths
        ]
    return served


def _dictionary_entries(routes: DictionaryRoutes) -> list[Entry]:
    one = {200: Answer("Dictionary", DictionaryBody), 404: Answer("No such dictionary", ErrorBody), **_FAULTS}

    def entry(endpoint: Any, method: str, path: str, summary: str, **more: Any) -> Entry:
        return Entry(openapi.Route(method, path, summary, tag="Cartesia", **{"responses": one, **more}), endpoint)

    return [
        entry(routes.list_all, "GET", dictionaries.PATH, "Pronunciation dictionaries of the caller",
              query=tuple(Query(name, about) for name, about in _VOICE_QUERY[:3]),
              responses={200: Answer("A page of dictionaries", DictionaryPage), **_FAULTS}),
        entry(routes.create, "POST", dictionaries.PATH, "Make a pronunciation dictionary",
              request=CreateDictionary),
        entry(routes.get, "GET", dictionaries.ONE, "One pronunciation dictionary"),
        entry(routes.update, "PATCH", dictionaries.ONE, "Rename it, or replace its items",
              request=UpdateDictionary),
        entry(routes.delete, "DELETE", dictionaries.ONE, "Delete it",
              responses={204: Answer("Deleted"), 404: one[404]}),
        entry(routes.pin, "POST", dictionaries.PIN, "Pin it"),
        entry(routes.unpin, "POST", dictionaries.UNPIN, "Unpin it"),
    ]  # fmt: skip


_SOCKET_QUERY = (
    Query("api_key", "API key, where headers cannot be set"),
    Query("access_token", "Access token"),
    Query("cartesia_version", "API version; wins over the header"),
)
_REALTIME_QUERY = (
    Query("model", "Any name; shown in the session"),
    Query("intent", "transcription: a session that only listens"),
)
_HEARING_QUERY = (
    Query("model", "ink-2 and the like: the default ear"),
    Query("encoding", "pcm_s16le, pcm_s32le, pcm_f16le, pcm_f32le, pcm_mulaw or pcm_alaw", required=True),
    Query("sample_rate", "In Hz", required=True),
    Query("language", "Code; en if absent"),
    Query("keyterm", "A word to expect; may be repeated"),
)
_TURNS_QUERY = tuple(
    Query(name, about)
    for name, about in (
        ("turn_start_threshold", "0.5 to 0.9; 0.8 if absent"),
        ("turn_eager_end_threshold", "0.3 to 0.6; 0.4 if absent"),
        ("turn_end_threshold", "0.05 to 0.5; 0.2 if absent"),
        ("turn_end_timeout_ms", "640 to 11200; 5600 if absent"),
    )
)
_RAW_QUERY = (Query("encoding", "Of raw samples; a container says it itself"), Query("sample_rate", "Of raw samples"))
_VOICE_QUERY = (
    ("limit", "1 to 100, 10 if absent"),
    ("starting_after", "Id of the voice before the page"),
    ("ending_before", "Id of the voice after the page"),
    ("q", "Part of a name or description"),
    ("gender", "masculine, feminine or gender_neutral"),
    ("language", "Language code"),
)
