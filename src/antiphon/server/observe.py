"""Folds over the journal: Prometheus metrics, and log lines for people and for log collectors."""

import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from antiphon.dialog.turn_record import TurnRecord
from antiphon.server.journal import (
    Answered,
    AudioSent,
    AudioTaken,
    ConnectionClosed,
    ConnectionOpened,
    Crashed,
    Entry,
    Finalized,
    PhaseChanged,
    Refused,
    RequestEnded,
    StreamEnded,
    StreamOpened,
    StreamWarned,
    TextHeard,
    TextPushed,
    TurnOver,
)
from antiphon.server.observe_turns import TurnMetrics

CONTENT_TYPE = CONTENT_TYPE_LATEST
_LATENCY_BUCKETS_S = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0)

log = logging.getLogger("antiphon")


@dataclass(slots=True)
class Tally:
    """What one open stream has done so far; ``ttfb_s`` counts from its first text to its first byte of audio.

    ``audio_s`` is what was spoken or heard, ``chars`` the text that was given or understood.
    """

    opened: StreamOpened
    text_at_s: float | None = None
    ttfb_s: float | None = None
    queue_s: float | None = None
    chars: int = 0
    chunks: int = 0
    audio_s: float = 0.0
    compute_s: float = 0.0
    data_bytes: int = 0
    turns: int = 0
    finals: int = 0
    waited_s: float = 0.0
    """Of the finals that were asked for, the longest."""


Counted: TypeAlias = StreamOpened | TextPushed | AudioSent | AudioTaken | TextHeard | Finalized | TurnOver | StreamEnded


class Tallies:
    """Open streams by number. ``update`` returns the tally that an entry belongs to, and forgets those that ended."""

    def __init__(self) -> None:
        self._open: dict[int, Tally] = {}

    def __len__(self) -> int:
        return len(self._open)

    def update(self, entry: Counted) -> Tally | None:
        if isinstance(entry, StreamOpened):
            self._open[entry.stream] = tally = Tally(entry)
            return tally
        if isinstance(entry, StreamEnded):
            return self._open.pop(entry.stream, None)
        found = self._open.get(entry.stream)
        if found is None:
            return None
        match entry:
            case AudioSent():
                if found.ttfb_s is None:
                    asked_s = found.opened.at_s if found.text_at_s is None else found.text_at_s
                    found.ttfb_s = entry.at_s - asked_s
                    found.queue_s = max(0.0, found.ttfb_s - entry.compute_s)
                found.chunks += 1
                found.audio_s += entry.audio_s
                found.compute_s += entry.compute_s
                found.data_bytes += entry.data_bytes
            case TextPushed():
                found.chars += entry.chars
                if found.text_at_s is None and entry.chars:
                    found.text_at_s = entry.at_s
            case AudioTaken():
                found.audio_s += entry.audio_s
                found.compute_s += entry.compute_s
            case TextHeard():
                found.chars += entry.chars
            case Finalized():
                found.finals += 1
                found.waited_s = max(found.waited_s, entry.waited_s)
            case TurnOver():
                found.turns += 1
        return found


class Metrics:
    """Prometheus text for ``/metrics``. Labels have few values: routes, engines, outcomes; never ids or key names."""

    def __init__(self, version: str, device: str = "cpu", engines: Iterable[str] = ()) -> None:
        """``engines``: those that are there from the beginning, so that a scrape finds them at 0."""
        self._registry = registry = CollectorRegistry()
        self._tallies = Tallies()

        def gauge(name: str, about: str, *labels: str) -> Gauge:
            return Gauge(f"antiphon_{name}", about, labels, registry=registry)

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"antiphon_{name}", about, labels, registry=registry)

        def latency(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(f"antiphon_{name}", about, labels, buckets=_LATENCY_BUCKETS_S, registry=registry)

        ProcessCollector(registry=registry)  # memory, CPU time, open files: what a leak would show in
        gauge("build_info", "Always 1; the labels tell the build.", "version", "device").labels(version, device).set(1)
        self._ready = gauge("ready", "1 while /ready answers 200.")
        self._connections = gauge("connections", "Open WebSockets.")
        self._streams = gauge("active_streams", "Open streams, speaking and listening.", "engine")
        for engine in engines:
            self._streams.labels(engine)
        about = "From a stream's first text to its first byte of audio at the socket (waiting for text included)."
        self._ttfb = latency("tts_ttfb_seconds", about, "engine", "route")
        about = "The part of the time to first byte in which no worker computed that first chunk."
        self._queue = latency("tts_queue_seconds", about, "engine")
        self._audio = counter("tts_audio_seconds", "Playing time of audio sent.", "engine")
        self._compute = counter("tts_compute_seconds", "Worker time of audio sent.", "engine")
        self._bytes = counter("tts_audio_bytes", "Encoded audio sent.", "engine")
        self._chars = counter("tts_text_characters", "Text taken in.", "engine")
        self._heard_audio = counter("stt_audio_seconds", "Audio taken in to be heard.", "engine")
        self._heard_compute = counter("stt_compute_seconds", "Worker time spent on hearing.", "engine")
        self._heard_chars = counter("stt_text_characters", "Text that became final.", "engine")
        about = "From a finalize (or the end of the audio) to its answer: all that was said before is final."
        self._final = latency("stt_final_seconds", about, "engine", "route")
        self._turns = counter("stt_turns", "Turns of speakers by how they ended.", "engine", "reason")
        self._first_word = latency("brain_ttft_seconds", "From a question to the first of its answer.", "brain")
        self._answers = counter("brain_answers", "Answers of brains by how they ended.", "brain", "outcome")
        self._ended = counter("streams_ended", "Streams by how they ended.", "engine", "outcome")
        self._refused = counter("refused", "Told no at the door.", "route", "reason")
        self._requests = counter("http_requests", "HTTP requests by answer.", "route", "status")
        self._errors = counter("internal_errors", "Faults of ours; see the log.", "route")
        self._conversations = TurnMetrics(registry, _LATENCY_BUCKETS_S)

    def fold(self, entry: Entry) -> None:
        match entry:
            case AudioSent():
                self._spoke(entry)
            case AudioTaken() | TextHeard() | Finalized() | TurnOver():
                self._listened(entry)
            case TextPushed():
                if tally := self._tallies.update(entry):
                    self._chars.labels(tally.opened.engine).inc(entry.chars)
            case StreamOpened():
                self._tallies.update(entry)
                self._streams.labels(entry.engine).inc()
            case StreamEnded():
                if tally := self._tallies.update(entry):
                    self._close(tally, entry.outcome)
            case Answered():
                self._answers.labels(entry.brain, entry.outcome).inc()
                if entry.ttft_s is not None:
                    self._first_word.labels(entry.brain).observe(entry.ttft_s)
            case ConnectionOpened():
                self._connections.inc()
            case ConnectionClosed():
                self._connections.dec()
            case Refused():
                self._refused.labels(entry.route, entry.reason).inc()
            case RequestEnded():
                self._requests.labels(entry.route, str(entry.status)).inc()
            case Crashed():
                self._errors.labels(entry.route).inc()
            case PhaseChanged():
                self._ready.set(entry.phase == "ready")

    def turn(self, record: TurnRecord) -> None:
        """A turn of an agent's conversation is over."""
        self._conversations.fold(record)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def _spoke(self, entry: AudioSent) -> None:
        tally = self._tallies.update(entry)
        if tally is not None and tally.chunks == 1:
            self._ttfb.labels(tally.opened.engine, tally.opened.route).observe(tally.ttfb_s or 0.0)
            self._queue.labels(tally.opened.engine).observe(tally.queue_s or 0.0)

    def _listened(self, entry: AudioTaken | TextHeard | Finalized | TurnOver) -> None:
        """Streams of listening last for hours, and say something once a second at the most: summed as it comes."""
        tally = self._tallies.update(entry)
        if tally is None:
            return
        engine, route = tally.opened.engine, tally.opened.route
        match entry:
            case AudioTaken():
                self._heard_audio.labels(engine).inc(entry.audio_s)
                self._heard_compute.labels(engine).inc(max(0.0, entry.compute_s))
            case TextHeard():
                self._heard_chars.labels(engine).inc(entry.chars)
            case Finalized():
                self._final.labels(engine, route).observe(entry.waited_s)
            case TurnOver():
                self._turns.labels(engine, entry.reason).inc()

    def _close(self, tally: Tally, outcome: str) -> None:
        """Sums are added once per stream: a chunk in flight costs the loop as little as possible."""
        engine = tally.opened.engine
        self._streams.labels(engine).dec()
        self._ended.labels(engine, outcome).inc()
        if not tally.chunks:  # it said nothing, or it listened
            return
        self._audio.labels(engine).inc(tally.audio_s)
        self._compute.labels(engine).inc(tally.compute_s)
        self._bytes.labels(engine).inc(tally.data_bytes)


class LogLines:
    """One line per connection, refusal, stream, answer and request; text is never logged, only how much there was."""

    def __init__(self) -> None:
        self._tallies = Tallies()

    def fold(self, entry: Entry) -> None:
        match entry:
            case (
                StreamOpened() | TextPushed() | AudioSent() | AudioTaken() | TextHeard() | Finalized() | TurnOver()
            ):
                self._tallies.update(entry)
            case StreamEnded():
                if tally := self._tallies.update(entry):
                    self._stream_line(entry, tally)
            case Crashed():
                _emit(logging.ERROR, "internal error", **_fields(entry))
            case Refused():
                _emit(logging.WARNING, "refused", **_fields(entry))
            case StreamWarned():
                _emit(logging.WARNING, "stream warning", **_fields(entry))
            case Answered():
                self._answer_line(entry)
            case RequestEnded():
                level = logging.DEBUG if entry.route in ("/health", "/ready", "/metrics") else logging.INFO
                _emit(level, "request", **_fields(entry))
            case ConnectionOpened() | ConnectionClosed() | PhaseChanged():
                name = {ConnectionOpened: "connected", ConnectionClosed: "disconnected", PhaseChanged: "phase"}
                _emit(logging.INFO, name[type(entry)], **_fields(entry))

    @staticmethod
    def _answer_line(answered: Answered) -> None:
        _emit(
            logging.WARNING if answered.outcome == "failed" else logging.INFO,
            "answer",
            request_id=answered.request_id,
            brain=answered.brain,
            outcome=answered.outcome,
            ttft_ms=None if answered.ttft_s is None else round(answered.ttft_s * 1000, 1),
            elapsed_s=round(answered.elapsed_s, 3),
            message=answered.message,
        )

    @staticmethod
    def _stream_line(ended: StreamEnded, tally: Tally) -> None:
        opened = tally.opened
        ttfb_ms = None if tally.ttfb_s is None else round(tally.ttfb_s * 1000, 1)
        _emit(
            logging.WARNING if ended.outcome == "failed" else logging.INFO,
            "stream",
            request_id=opened.request_id,
            stream=opened.stream,
            route=opened.route,
            key=opened.key,
            engine=opened.engine,
            voice=opened.voice,
            outcome=ended.outcome,
            chars=tally.chars,
            audio_s=round(tally.audio_s, 3),
            compute_s=round(tally.compute_s, 3),
            ttfb_ms=ttfb_ms,
            turns=tally.turns or None,
            final_ms=round(tally.waited_s * 1000, 1) if tally.finals else None,
            elapsed_s=round(ended.at_s - opened.at_s, 3),
            message=ended.message,
        )


class LineFormat(logging.Formatter):
    """``json``: one object a line; otherwise ``time level name: message key=value ...``."""

    def __init__(self, as_json: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, object] = getattr(record, "values", {})
        if self._as_json:
            head = {"time": self.formatTime(record), "level": record.levelname.lower(), "event": record.getMessage()}
            if record.exc_info:
                head["trace"] = self.formatException(record.exc_info)
            return json.dumps({**head, **values}, default=str)
        trace = values.get("trace")
        pairs = [f"{key}={_quoted(value)}" for key, value in values.items() if key != "trace"]
        line = " ".join([super().format(record), *pairs])
        return f"{line}\n{trace}" if trace else line


def configure_logging(level: str, as_json: bool) -> None:
    """Our lines and uvicorn's, in one format, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormat(as_json))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(level.upper())
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
        logging.getLogger(name).setLevel(logging.WARNING)


def _is_news(record: logging.LogRecord) -> bool:
    """A body that we broke off on purpose is in the journal with its reason; a caller's bad bytes are no fault."""
    return not record.getMessage().startswith(
        ("ASGI callable returned without completing response", "Invalid UTF-8 sequence received from client", "Cancel ")
    )


def _emit(level: int, event: str, /, **values: object) -> None:
    if log.isEnabledFor(level):
        told = {key: value for key, value in values.items() if value not in ("", None)}
        log.log(level, event, extra={"values": told})


def _fields(entry: Entry) -> dict[str, object]:
    values = asdict(entry) if fields(entry) else {}
    values.pop("at_s", None)
    return values


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text) if not text or any(char in text for char in ' "=') or not text.isprintable() else text
