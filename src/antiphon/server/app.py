"""The application: which path leads where, and nothing else.

Every route is declared once, here; the router, ``/openapi.json``, the labels of metrics and ``/docs`` follow from it.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router, WebSocketRoute, request_response
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon import __version__
from antiphon.core.brain import Brain
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import NotFound
from antiphon.engine.brain_plain import plain_brain
from antiphon.protocol import openapi
from antiphon.protocol.cartesia_dictionaries import CreateDictionary, DictionaryBody, DictionaryPage, UpdateDictionary
from antiphon.protocol.cartesia_errors import ErrorBody
from antiphon.protocol.cartesia_http import UNSUPPORTED, StatusReply, TokenReply, TokenRequest
from antiphon.protocol.cartesia_messages import ServerMessage
from antiphon.protocol.cartesia_request import BytesRequest, CancelRequest, GenerationRequest, SseRequest
from antiphon.protocol.cartesia_stt_batch import SttForm, SttReply
from antiphon.protocol.cartesia_stt_messages import CloseCommand, ConfigCommand, SttMessage, TurnsMessage
from antiphon.protocol.cartesia_voices import VoiceBody, VoicePage
from antiphon.protocol.http import EVENT_STREAM, JSON, TEXT, shown
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
from antiphon.server import (
    cartesia_routes,
    dictionary_routes,
    hearing_routes,
    native_speech_routes,
    openai_routes,
    realtime_routes,
)
from antiphon.server.admission import Admission
from antiphon.server.agent import NO_TOOLS, MakeAgentLog, ToolSource
from antiphon.server.agent import routes as agent_routes
from antiphon.server.agent.routes import AgentRoute
from antiphon.server.auth import gate_for
from antiphon.server.cartesia_routes import CartesiaRoutes, upgrade_needed
from antiphon.server.dictionaries import Dictionaries
from antiphon.server.dictionary_routes import DictionaryRoutes
from antiphon.server.front import Front, MethodNotAllowed
from antiphon.server.hearing_routes import HearingRoutes
from antiphon.server.hub import Engines, Hub
from antiphon.server.journal import Fold, Journal
from antiphon.server.lifecycle import Lifecycle
from antiphon.server.observe import CONTENT_TYPE, LogLines, Metrics
from antiphon.server.openai_routes import OpenAiRoutes
from antiphon.server.pages import CONTENT_POLICY, docs_page
from antiphon.server.realtime_routes import RealtimeRoutes
from antiphon.server.records import MakeSink, records_for
from antiphon.server.reply import error_response, json_response
from antiphon.settings import Settings

TITLE = "Antiphon"
FORM = "multipart/form-data"
SttCommand = Literal["finalize", "close", "done"]
"""Text frames of the finalize socket: bare words."""
_AUDIO = Answer("Audio, streamed as it is made", content_type="audio/*")
_EVENTS = Answer("Server-sent events", content_type=EVENT_STREAM)
_PLAIN = Answer("Plain text", content_type=TEXT)
_FAULTS = {status: Answer(about, ErrorBody) for status, about in ((400, "Bad request"), (401, "Bad or missing key"))}
_BUSY = {429: Answer("No place is free; retry after the given time", ErrorBody)}
_V1_FAULTS = {400: Answer("Bad request", ErrorReply), 401: Answer("Bad or missing key", ErrorReply)}


@dataclass(frozen=True, slots=True)
class App:
    """An ASGI application with the state behind it. Not ready until ``hub.lifecycle.ready()`` is called."""

    hub: Hub
    _app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A described route and the endpoint behind it: a function of a request, or an ASGI application."""

    described: openapi.Route
    endpoint: Any


def create_app(
    settings: Settings,
    voices: Engines,
    *,
    brain: Brain | None = None,
    tools: ToolSource = NO_TOOLS,
    clock: Clock | None = None,
    folds: Sequence[Fold] = (),
    agent_logs: Sequence[MakeAgentLog] = (),
    turn_sinks: Sequence[MakeSink] = (),
    device: str = "cpu",
) -> App:
    """``voices``: the registry of engines. ``brain``: who answers; None: the plain rules.
    ``tools``: what agents can do. ``folds``: further readers of the journal; ``agent_logs``: of conversations;
    ``turn_sinks``: of their turns.

    Raises ``SettingsError`` where the settings would leave the door open (see :func:`gate_for`).
    """
    clock = clock or MonotonicClock()
    metrics = Metrics(__version__, device, dict.fromkeys(info.engine for info in voices.voices()))
    journal = Journal(metrics.fold, LogLines().fold, *folds)
    hub = Hub(
        settings=settings,
        voices=voices,
        brain=brain or plain_brain(),
        clock=clock,
        journal=journal,
        metrics=metrics,
        admission=Admission(settings.server.max_connections, settings.stream_limit, settings.stt.max_uploads),
        gate=gate_for(settings.server),
        lifecycle=Lifecycle(journal, clock),
        dictionaries=Dictionaries(settings.tts.dictionaries),
        tools=tools,
        agent_logs=(records_for([metrics.session, *turn_sinks]), *agent_logs),
    )
    entries = _entries(hub)
    document = openapi.document(TITLE, __version__, [entry.described for entry in entries])
    page = docs_page(TITLE, __version__)

    async def openapi_json(request: Request) -> Response:
        return Response(document, media_type=JSON)

    async def docs(request: Request) -> Response:
        return Response(page, media_type="text/html", headers={"content-security-policy": CONTENT_POLICY})

    routes = _routes(entries)
    routes += [Route("/openapi.json", _Methods({"GET": openapi_json})), Route("/docs", _Methods({"GET": docs}))]
    front: ASGIApp = Front(Router(routes, redirect_slashes=False, default=_no_route), hub, error_response)
    if settings.server.cors_origins:  # outermost: a page must be able to read errors too
        front = CORSMiddleware(
            front,
            allow_origins=settings.server.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["x-request-id", "server-timing", "retry-after", "cartesia-file-id"],
        )
    return App(hub, front)


def _entries(hub: Hub) -> list[_Entry]:
    cartesia, openai, hearing = CartesiaRoutes(hub), OpenAiRoutes(hub), HearingRoutes(hub)
    realtime, agents = RealtimeRoutes(hub), AgentRoute(hub)

    def entry(endpoint: Any, method: str, path: str, summary: str, tag: str, **more: Any) -> _Entry:
        return _Entry(openapi.Route(method, path, summary, tag=tag, **more), endpoint)

    async def status(request: Request) -> Response:
        return json_response(StatusReply(ok=True, version=__version__))

    async def health(request: Request) -> Response:
        return json_response({"status": "alive"})

    async def ready(request: Request) -> Response:
        phase = hub.lifecycle.phase
        return json_response({"status": phase}, 200 if hub.lifecycle.is_ready else 503)

    async def metrics(request: Request) -> Response:
        return Response(hub.metrics.text(), media_type=CONTENT_TYPE)

    served = [
        entry(status, "GET", "/", "The server and its version", "server", secured=False,
              responses={200: Answer("Status", StatusReply)}),
        entry(health, "GET", "/health", "Alive", "server", secured=False, responses={200: Answer("Alive")}),
        entry(ready, "GET", "/ready", "Ready for work: a real inference has passed", "server", secured=False,
              responses={200: Answer("Ready"), 503: Answer("Starting, or shutting down")}),
        entry(metrics, "GET", "/metrics", "Prometheus metrics", "server", secured=False, responses={200: _PLAIN}),
        entry(cartesia.socket, "GET", cartesia_routes.SOCKET, "Speech over a WebSocket, in contexts", "Cartesia",
              socket=Socket(receives=(GenerationRequest, CancelRequest), sends=(ServerMessage,)),
              query=_SOCKET_QUERY, responses={401: _FAULTS[401], **_BUSY}),
        entry(cartesia.speak_bytes, "POST", cartesia_routes.BYTES, "Speech as raw, wav or mp3", "Cartesia",
              request=BytesRequest, responses={200: _AUDIO, **_FAULTS, **_BUSY}),
        entry(cartesia.speak_sse, "POST", cartesia_routes.SSE, "Speech as server-sent events", "Cartesia",
              request=SseRequest, responses={200: _EVENTS, **_FAULTS, **_BUSY}),
        entry(hearing.finalize_socket, "GET", hearing_routes.FINALIZE,
              "Speech heard; the client says when an utterance is over", "Cartesia",
              socket=Socket(receives=(SttCommand,), sends=(SttMessage,)), query=(*_HEARING_QUERY, *_SOCKET_QUERY),
              responses={401: _FAULTS[401], **_BUSY}),
        entry(hearing.turns_socket, "GET", hearing_routes.TURNS,
              "Speech heard; the server says when a turn begins and ends", "Cartesia",
              socket=Socket(receives=(CloseCommand, ConfigCommand), sends=(TurnsMessage,)),
              query=(*_HEARING_QUERY, *_TURNS_QUERY, *_SOCKET_QUERY), responses={401: _FAULTS[401], **_BUSY}),
        *(entry(hearing.transcribe, "POST", path, "The text of a recording", "Cartesia",
                request=SttForm, request_type=FORM, query=_RAW_QUERY,
                responses={200: Answer("Transcript", SttReply), **_FAULTS, 413: Answer("Too large", ErrorBody),
                           **_BUSY})
          for path in hearing_routes.BATCH),
        entry(cartesia.access_token, "POST", "/access-token", "A short-lived token for browsers", "Cartesia",
              request=TokenRequest, responses={200: Answer("Token", TokenReply), **_FAULTS}),
        entry(cartesia.list_voices, "GET", "/voices", "Voices", "Cartesia",
              query=tuple(Query(name, about) for name, about in _VOICE_QUERY),
              responses={200: Answer("A page of voices", VoicePage), **_FAULTS}),
        entry(cartesia.get_voice, "GET", "/voices/{id}", "One voice", "Cartesia",
              responses={200: Answer("Voice", VoiceBody), 404: Answer("No such voice", ErrorBody)}),
        *_dictionary_entries(DictionaryRoutes(hub)),
        entry(openai.speak, "POST", openai_routes.SPEECH, "Speech as mp3, opus, aac, flac, wav or pcm", "OpenAI",
              request=SpeechRequest, responses={200: _AUDIO, **_V1_FAULTS, 429: Answer("Busy", ErrorReply)}),
        entry(hearing.transcribe_openai, "POST", hearing_routes.TRANSCRIPTIONS,
              "The text of a recording as json, text, srt, vtt or verbose_json, or as events", "OpenAI",
              request=TranscriptionForm, request_type=FORM,
              responses={200: Answer("Transcript", TranscriptionReply), **_V1_FAULTS,
                         413: Answer("Too large", ErrorReply), 429: Answer("Busy", ErrorReply)}),
        entry(hearing.translate, "POST", hearing_routes.TRANSLATIONS, "Not offered: translation", "not offered",
              responses={501: Answer("Not offered", ErrorReply)}),
        entry(realtime.socket, "GET", realtime_routes.SOCKET,
              "A conversation by speech, or a transcription of what is said", "OpenAI",
              socket=Socket(receives=get_args(AnyClientEvent), sends=SERVER_EVENTS), query=_REALTIME_QUERY,
              responses={400: _V1_FAULTS[400], 401: _V1_FAULTS[401]}),
        entry(realtime.client_secret, "POST", realtime_routes.SECRETS, "A short-lived secret that opens a session",
              "OpenAI", request=SecretRequest, responses={200: Answer("Secret", SecretReply), **_V1_FAULTS}),
        entry(agents, "GET", agent_routes.SOCKET, "A conversation with the agent: audio both ways, see docs/native.md",
              "Antiphon",
              socket=Socket(receives=get_args(AgentCommand), sends=SERVER_MESSAGES), responses={401: _FAULTS[401]}),
        entry(native_speech_routes.speech_route(hub), "GET", native_speech_routes.SOCKET,
              "Speech as binary audio; a stream can be saved and resumed on another server, see docs/speech.md",
              "Antiphon", socket=Socket(receives=get_args(SpeechCommand), sends=get_args(SpeechMessage)),
              responses={401: _FAULTS[401]}),
        entry(openai.list_models, "GET", "/v1/models", "Models", "OpenAI",
              responses={200: Answer("Models", ModelList)}),
        entry(openai.get_model, "GET", "/v1/models/{id}", "One model", "OpenAI",
              responses={200: Answer("Model", ModelCard), 404: Answer("No such model", ErrorReply)}),
    ]  # fmt: skip
    for feature, paths in UNSUPPORTED.items():
        refusal = cartesia.unsupported(feature)
        answers = {501: Answer(f"Not offered: {feature}", ErrorBody)}
        served += [
            entry(refusal, method, path, f"Not offered: {feature}", "not offered", responses=answers)
            for method, path in paths
        ]
    return served


def _dictionary_entries(routes: DictionaryRoutes) -> list[_Entry]:
    one = {200: Answer("Dictionary", DictionaryBody), 404: Answer("No such dictionary", ErrorBody), **_FAULTS}

    def entry(endpoint: Any, method: str, path: str, summary: str, **more: Any) -> _Entry:
        return _Entry(openapi.Route(method, path, summary, tag="Cartesia", **{"responses": one, **more}), endpoint)

    return [
        entry(routes.list_all, "GET", dictionary_routes.PATH, "Pronunciation dictionaries of the caller",
              query=tuple(Query(name, about) for name, about in _VOICE_QUERY[:3]),
              responses={200: Answer("A page of dictionaries", DictionaryPage), **_FAULTS}),
        entry(routes.create, "POST", dictionary_routes.PATH, "Make a pronunciation dictionary",
              request=CreateDictionary),
        entry(routes.get, "GET", dictionary_routes.ONE, "One pronunciation dictionary"),
        entry(routes.update, "PATCH", dictionary_routes.ONE, "Rename it, or replace its items",
              request=UpdateDictionary),
        entry(routes.delete, "DELETE", dictionary_routes.ONE, "Delete it",
              responses={204: Answer("Deleted"), 404: one[404]}),
        entry(routes.pin, "POST", dictionary_routes.PIN, "Pin it"),
        entry(routes.unpin, "POST", dictionary_routes.UNPIN, "Unpin it"),
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


class _Methods:
    """What one path answers to, method by method. HEAD is GET without its body; OPTIONS names the methods."""

    def __init__(self, endpoints: dict[str, Any]) -> None:
        self._apps: dict[str, ASGIApp] = {method: _asgi(endpoint) for method, endpoint in endpoints.items()}
        if "GET" in self._apps:
            self._apps.setdefault("HEAD", self._apps["GET"])
        self._allow = ", ".join(sorted({*self._apps, "OPTIONS"}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._apps.get(scope["method"])
        if app is not None:
            await app(scope, receive, send)
        elif scope["method"] == "OPTIONS":
            await Response(status_code=204, headers={"allow": self._allow})(scope, receive, send)
        else:
            raise MethodNotAllowed(f"{scope['method']} {shown(scope['path'])}: use {self._allow}", self._allow)


def _asgi(endpoint: Any) -> ASGIApp:
    return request_response(endpoint) if inspect.isroutine(endpoint) else endpoint


def _routes(entries: Sequence[_Entry]) -> list[BaseRoute]:
    """Fixed paths before patterns: ``/voices/clone`` is not a voice."""
    sockets: list[BaseRoute] = []
    by_path: dict[str, dict[str, Any]] = {}
    for entry in entries:
        path, endpoint = entry.described.path, entry.endpoint
        if entry.described.socket is not None:
            sockets.append(WebSocketRoute(path, _Socket(endpoint)))
            endpoint = upgrade_needed
        by_path.setdefault(path, {})[entry.described.method] = endpoint
    paths = sorted(by_path, key=lambda path: "{" in path)
    return [*sockets, *(Route(path, _Methods(by_path[path])) for path in paths)]


class _Socket:
    """Starlette takes an object (but not a bound method) as an ASGI application."""

    def __init__(self, endpoint: ASGIApp) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint(scope, receive, send)


async def _no_route(scope: Scope, receive: Receive, send: Send) -> None:
    asked = f"{scope.get('method', 'WebSocket')} {shown(scope['path'])}"
    raise NotFound(f"{asked}: there is no such route; /docs lists them", "route")
