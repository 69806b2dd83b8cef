"""Folds over the journal and over the turns of conversations: Prometheus metrics."""

from collections import Counter as Tallied
from collections.abc import Iterable
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from antiphon.server import journal
from antiphon.server.agent import AgentSessionFacts
from antiphon.server.observe.tally import Tally
from antiphon.server.observe.turns import TurnMetrics
from antiphon.server.records import TurnsOnly

CONTENT_TYPE = CONTENT_TYPE_LATEST
_LATENCY_BUCKETS_S = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0)


@dataclass(slots=True)
class _Sums:
    """What the streams of one engine that speaks, or hears, have done since somebody last looked. ``opened``: more than
    ended."""

    opened: int = 0
    chars: int = 0
    audio_s: float = 0.0
    compute_s: float = 0.0
    data_bytes: int = 0
    ended: Tallied[str] = field(default_factory=Tallied)


class Metrics:
    """Prometheus text for ``/metrics``. Labels have few values: routes, engines, outcomes; never ids or key names."""

    def __init__(self, version: str, device: str = "cpu", engines: Iterable[str] = ()) -> None:
        """``engines``: those that are there from the beginning, so that a scrape finds them at 0."""
        self._registry = registry = CollectorRegistry()
        self._sums: dict[str, _Sums] = {}
        self._first_audio: dict[tuple[str, str], tuple[Histogram, Histogram]] = {}
        """By engine and route, found once: of the time to the first byte, and of its queue."""

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

    def fold(self, entry: journal.Entry, tally: Tally | None = None) -> None:
        """``tally``: of the entry's stream, see :func:`~antiphon.server.observe.tally.tallied`."""
        if tally is not None:
            self._of_stream(entry, tally)
            return
        match entry:
            case journal.Answered():
                self._answers.labels(entry.brain, entry.outcome).inc()
                if entry.ttft_s is not None:
                    self._first_word.labels(entry.brain).observe(entry.ttft_s)
            case journal.ConnectionOpened():
                self._connections.inc()
            case journal.ConnectionClosed():
                self._connections.dec()
            case journal.Refused():
                self._refused.labels(entry.route, entry.reason).inc()
            case journal.RequestEnded():
                self._requests.labels(entry.route, str(entry.status)).inc()
            case journal.Crashed():
                self._errors.labels(entry.route).inc()
            case journal.PhaseChanged():
                self._ready.set(entry.phase == "ready")

    def session(self, facts: AgentSessionFacts) -> TurnsOnly:
        """A conversation begins: what takes its turns."""
        return TurnsOnly(lambda record: self._conversations.fold(record, facts.route))

    def text(self) -> bytes:
        self._settle()
        return generate_latest(self._registry)

    def _settle(self) -> None:
        """What comes with every stream costs the loop a sum; it is Prometheus' when that is read."""
        for engine, sums in self._sums.items():
            self._streams.labels(engine).inc(sums.opened)
            for counter, value in (
                (self._chars, sums.chars),
                (self._audio, sums.audio_s),
                (self._compute, sums.compute_s),
                (self._bytes, sums.data_bytes),
            ):
                if value:
                    counter.labels(engine).inc(value)
            for outcome, number in sums.ended.items():
                self._ended.labels(engine, outcome).inc(number)
        self._sums.clear()

    def _of_stream(self, entry: journal.Entry, tally: Tally) -> None:
        sums = self._sums.get(tally.opened.engine)
        if sums is None:
            sums = self._sums[tally.opened.engine] = _Sums()
        match entry:
            case journal.AudioSent():
                sums.audio_s += entry.audio_s
                sums.compute_s += entry.compute_s
                sums.data_bytes += entry.data_bytes
                if tally.tellings == 1:
                    self._spoke(tally)
            case journal.TextPushed():
                sums.chars += entry.chars
            case journal.StreamOpened():
                sums.opened += 1
            case journal.StreamEnded():
                sums.opened -= 1
                sums.ended[entry.outcome] += 1
            case journal.AudioTaken() | journal.TextHeard() | journal.Finalized() | journal.TurnOver():
                self._listened(entry, tally)

    def _spoke(self, tally: Tally) -> None:
        engine, route = tally.opened.engine, tally.opened.route
        found = self._first_audio.get((engine, route))
        if found is None:
            found = self._first_audio[engine, route] = self._ttfb.labels(engine, route), self._queue.labels(engine)
        ttfb, queue = found
        ttfb.observe(tally.ttfb_s or 0.0)
        queue.observe(tally.queue_s or 0.0)

    def _listened(
        self, entry: journal.AudioTaken | journal.TextHeard | journal.Finalized | journal.TurnOver, tally: Tally
    ) -> None:
        """Streams of listening last for hours, and say something once a second at the most: summed as it comes."""
        engine, route = tally.opened.engine, tally.opened.route
        match entry:
            case journal.AudioTaken():
                self._heard_audio.labels(engine).inc(entry.audio_s)
                self._heard_compute.labels(engine).inc(max(0.0, entry.compute_s))
            case journal.TextHeard():
                self._heard_chars.labels(engine).inc(entry.chars)
            case journal.Finalized():
                self._final.labels(engine, route).observe(entry.waited_s)
            case journal.TurnOver():
                self._turns.labels(engine, entry.reason).inc()
