"""OpenTelemetry spans of conversations (extra ``otel``): one trace for a session, in it each turn with its stages.

Times, names, outcomes and causes; never anybody's words. Spans leave in batches, on the exporter's own thread.
"""

from collections.abc import Mapping
from typing import Any

from antiphon import __version__
from antiphon.core.errors import InvalidInput
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.turn_record import TurnRecord
from antiphon.server.agent import AgentSessionFacts
from antiphon.server.records.turns import TurnSink
from antiphon.settings import TelemetrySettings

_OWNERS = {"final": "stt", "turn": "turn", "llm": "llm", "tool": "tool", "unit": "llm", "tts": "tts",
           "send": "network", "playback": "client"}  # fmt: skip


class TurnSpans:
    """Exports spans of every session. ``exporter``: instead of OTLP over HTTP to ``settings.otlp_url`` (for tests)."""

    def __init__(self, settings: TelemetrySettings, exporter: Any = None) -> None:
        """Raises ``InvalidInput`` where the extra is not installed."""
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        except ImportError:
            raise _missing() from None
        resource = Resource({"service.name": settings.service_name, "service.version": __version__})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        if exporter is not None:
            self._provider.add_span_processor(SimpleSpanProcessor(exporter))
        else:
            self._provider.add_span_processor(BatchSpanProcessor(_otlp(settings)))
        self._tracer = self._provider.get_tracer("antiphon", __version__)

    def session(self, facts: AgentSessionFacts) -> "SessionSpans":
        return SessionSpans(self._tracer, facts)

    def close(self, timeout_s: float = 5.0) -> None:
        """Send what waits, and stop."""
        self._provider.force_flush(int(timeout_s * 1000))
        self._provider.shutdown()


class SessionSpans(TurnSink):
    """The trace of one session; it goes on the caller's trace where the handshake named one (``traceparent``)."""

    def __init__(self, tracer: Any, facts: AgentSessionFacts) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracer = tracer
        self._facts = facts
        carrier = {"traceparent": facts.traceparent} if facts.traceparent else {}
        self._root = tracer.start_span(
            "conversation",
            context=TraceContextTextMapPropagator().extract(carrier),
            kind=SpanKind.SERVER,
            start_time=self._ns(facts.began_s),
            attributes={
                "antiphon.session_id": facts.session_id,
                "antiphon.route": facts.route,
                "antiphon.brain": facts.brain,
                "antiphon.voice": facts.voice,
                "antiphon.language": facts.language,
            },
        )
        self._within = set_span_in_context(self._root)
        self._turns = 0

    def turn(self, moment: Moment, record: TurnRecord) -> None:
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        self._turns += 1
        entries = [entry.at_s for entry in record.ledger]
        begin_s = min([stage.begin_s for stage in record.stages[:1]] + entries, default=moment.now_s)
        span = self._span("turn", begin_s, self._within, _attributes(record))
        within = set_span_in_context(span)
        if record.silence_s is not None:
            first, last = record.stages[0], record.stages[-1]
            silence = self._span("silence", first.begin_s, within, {"antiphon.heard": record.times.heard_s is not None})
            inside = set_span_in_context(silence)
            for stage in record.stages:
                if stage.seconds > 0:
                    owner = {"antiphon.owner": _OWNERS[stage.name]}
                    self._span(f"stage.{stage.name}", stage.begin_s, inside, owner).end(self._ns(stage.end_s))
            silence.end(self._ns(last.end_s))
        for tool in record.tools:
            about = {"antiphon.tool": tool.name, "antiphon.effect": tool.effect, "antiphon.state": tool.state}
            called = self._span("tool", tool.began_s, within, about)
            if tool.state in ("failed", "timed_out"):
                called.set_status(Status(StatusCode.ERROR, tool.state))
            called.end(self._ns(moment.now_s if tool.ended_s is None else tool.ended_s))
        if record.cause is not None:
            span.set_status(Status(StatusCode.ERROR, record.cause))
        span.end(self._ns(moment.now_s))

    def end(self, moment: Moment, reason: str) -> None:
        self._root.set_attribute("antiphon.turns", self._turns)
        self._root.end(self._ns(moment.now_s))

    def _span(self, name: str, begin_s: float, context: Any, attributes: Mapping[str, Any]) -> Any:
        return self._tracer.start_span(name, context=context, start_time=self._ns(begin_s), attributes=dict(attributes))

    def _ns(self, at_s: float) -> int:
        return round((self._facts.began_unix_s + at_s - self._facts.began_s) * 1e9)


def _attributes(record: TurnRecord) -> dict[str, Any]:
    told: dict[str, Any] = {
        "antiphon.turn": record.turn,
        "antiphon.outcome": record.outcome,
        "antiphon.speculation": record.speculation,
        "antiphon.guesses": record.guesses,
        "antiphon.interrupted": record.interrupted,
    }
    if record.cause is not None:
        told["antiphon.cause"] = record.cause
    if record.silence_s is not None:
        told["antiphon.silence_ms"] = round(record.silence_s * 1000, 1)
    return told


def _otlp(settings: TelemetrySettings) -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise _missing() from None
    headers = {name: value.get_secret_value() for name, value in settings.otlp_headers.items()}
    return OTLPSpanExporter(endpoint=settings.otlp_url, headers=headers)


def _missing() -> InvalidInput:
    return InvalidInput(
        "telemetry.otlp_url needs the extra 'otel' (pip install 'antiphon[otel]')", "telemetry.otlp_url"
    )
