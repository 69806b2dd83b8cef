"""Prometheus metrics of the turns of conversations: the silence, its stages, and whose fault bad ones were."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

from antiphon.dialog.turn_record import STAGES, TurnRecord
from antiphon.server.agent import AGENT_ROUTE, REALTIME_ROUTE
from antiphon.server.records import stages_ms


class TurnMetrics:
    """Folds turn records. All labels have few values; every stage of each route is there from the beginning."""

    def __init__(self, registry: CollectorRegistry, buckets_s: Sequence[float]) -> None:
        about = "From the end of what the user said to the first sound that they heard in answer."
        self._silence = _seconds("silence", about, ["route"], buckets_s, registry)
        about = "A part of that silence; the stages of a turn sum to it."
        self._stage = _seconds("stage", about, ["route", "stage"], buckets_s, registry)
        about = "Turns of conversations by how they ended, and the cause where they went badly (none: they did not)."
        self._turns = Counter("antiphon_turns", about, ["route", "outcome", "cause"], registry=registry)
        about = "Answers prepared before the turn was over, by whether they could be used."
        self._guesses = Counter("antiphon_turn_guesses", about, ["route", "result"], registry=registry)
        about = "Tool calls of conversations by how they ended."
        self._tools = Counter("antiphon_turn_tools", about, ["route", "effect", "state"], registry=registry)
        for route in (AGENT_ROUTE, REALTIME_ROUTE):
            self._silence.labels(route)
            for name in STAGES:
                self._stage.labels(route, name)

    def fold(self, record: TurnRecord, route: str) -> None:
        self._turns.labels(route, record.outcome, record.cause or "none").inc()
        for tool in record.tools:
            self._tools.labels(route, tool.effect, tool.state).inc()
        if record.speculation == "right":
            self._guesses.labels(route, "right").inc()
        wrong = record.guesses - (record.speculation == "right")
        if wrong > 0:
            self._guesses.labels(route, "wrong").inc(wrong)
        if record.silence_s is None or record.times.heard_s is None:
            return  # a wait that nobody heard the end of is in the turns, not in the times
        self._silence.labels(route).observe(record.silence_s)
        for name, spent_ms in stages_ms(record).items():
            self._stage.labels(route, name).observe(spent_ms / 1000)


def _seconds(
    name: str, about: str, labels: Sequence[str], buckets_s: Sequence[float], registry: CollectorRegistry
) -> Histogram:
    return Histogram(f"antiphon_turn_{name}_seconds", about, labels, buckets=buckets_s, registry=registry)
