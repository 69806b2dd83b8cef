"""The application: a hub, and the routes around it. Which path leads where is declared in ``routes/table.py``."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon import __version__
from antiphon.core.brain import Brain
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.engine.brain_plain import plain_brain
from antiphon.protocol import openapi
from antiphon.protocol.http import JSON
from antiphon.server.admission import Admission
from antiphon.server.agent import NO_TOOLS, MakeAgentLog, SessionKeeper, ToolSource
from antiphon.server.auth import gate_for
from antiphon.server.dictionaries import Dictionaries
from antiphon.server.front import Front
from antiphon.server.hub import Engines, Hub
from antiphon.server.journal import Fold, Journal
from antiphon.server.lifecycle import Lifecycle
from antiphon.server.observe import LogLines, Metrics, tallied
from antiphon.server.pages import CONTENT_POLICY, docs_page
from antiphon.server.records import MakeSink, records_for
from antiphon.server.reply import error_response
from antiphon.server.routes.router import Page, router
from antiphon.server.routes.table import entries
from antiphon.settings import Settings

TITLE = "Antiphon"


@dataclass(frozen=True, slots=True)
class App:
    """An ASGI application with the state behind it. Not ready until ``hub.lifecycle.ready()`` is called."""

    hub: Hub
    _app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


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
    keeper: SessionKeeper | None = None,
    device: str = "cpu",
) -> App:
    """``voices``: the registry of engines. ``brain``: who answers; None: the plain rules.
    ``tools``: what agents can do. ``folds``: further readers of the journal; ``agent_logs``: of conversations;
    ``turn_sinks``: of their turns. ``keeper``: who puts agents' sessions away for the next process.

    Raises ``SettingsError`` where the settings would leave the door open (see :func:`gate_for`).
    """
    clock = clock or MonotonicClock()
    metrics = Metrics(__version__, device, dict.fromkeys(info.engine for info in voices.voices()))
    journal = Journal(tallied(metrics.fold, LogLines().fold), *folds)
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
        keeper=keeper,
    )
    served = entries(hub)
    document = openapi.document(TITLE, __version__, [entry.described for entry in served])
    policy = {"content-security-policy": CONTENT_POLICY}
    pages = (
        Page("/openapi.json", document, JSON),
        Page("/docs", docs_page(TITLE, __version__), "text/html", policy),
    )
    front: ASGIApp = Front(router(served, pages), hub, error_response)
    if settings.server.cors_origins:  # outermost: a page must be able to read errors too
        front = CORSMiddleware(
            front,
            allow_origins=settings.server.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["x-request-id", "server-timing", "retry-after", "cartesia-file-id"],
        )
    return App(hub, front)
