"""Prometheus metrics of the turns of conversations: the silence, its stages, and whose fault bad ones were."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

from antiphon.dialog.turn_record import STAGES, TurnRecord
from antiphon.server.records import stages_ms


class TurnMetrics:
    """Folds turn records. All labels have few values; every stage is there from the beginning."""

    def __init__(self, registry: CollectorRegistry, buckets_s: Sequence[float]) -> None:
        about = "From the end of what the user said to the first sound that they heard in answer."
        self._silence = Histogram("antiphon_turn_silence_seconds", about, buckets=buckets_s, registry=registry)
        about = "A part of that silence; the stages of a turn sum to it."
        self._stage = Histogram("antiphon_turn_stage_seconds", about, ["stage"], buckets=buckets_s, registry=registry)
        about = "Turns of conversations by how they ended, and the cause where they went badly (none: they did not)."
        self._turns = Counter("antiphon_turns", about, ["outcome", "cause"], registry=registry)
        about = "Answers prepared before the turn was over, by whether they could be used."
        self._guesses = Counter("antiphon_turn_guesses", about, ["result"], registry=registry)
        about = "Tool calls of conversations by how they ended."
        self._tools = Counter("antiphon_turn_tools", about, ["effect", "state"], registry=registry)
        for name in STAGES:
            self._stage.labels(name)

    def fold(self, record: TurnRecord) -> None:
        self._turns.labels(record.outcome, record.cause or "none").inc()
        for tool in record.tools:
            self._tools.labels(tool.effect, tool.state).inc()
        if record.speculation == "right":
            self._guesses.labels("right").inc()
        wrong = record.guesses - (record.speculation == "right")
        if wrong > 0:
            self._guesses.labels("wrong").inc(wrong)
        if record.silence_s is None or record.times.heard_s is None:
            return  # a wait that nobody heard the end of is in the turns, not in the times
        self._silence.observe(record.silence_s)
        for name, spent_ms in stages_ms(record).items():
            self._stage.labels(name).observe(spent_ms / 1000)
