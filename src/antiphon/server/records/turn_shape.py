"""A turn's record as plain values for JSON: one for each kind of data, so that each can be kept apart."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from antiphon.dialog.ledger import Entry
from antiphon.dialog.turn_record import TurnRecord

Clean = Callable[[str], str]
"""Takes personal data out of a text."""

_PLAIN_REASONS = frozenset(
    ("answer.held", "brain.asked", "brain.failed", "brain.rounds", "client.lost", "ear.failed", "ended", "filler",
     "guess.none", "guess.right", "guess.wrong", "interruption.false", "playing.unreported", "tool.called",
     "tool.ended", "tool.late", "turn.too_long", "voice.failed")
)  # fmt: skip
"""Decisions whose reasons are our own words, not the user's or the agent's."""


class CleanTurn:
    """One turn, cleaned when it is first asked for, by whoever asks: ``clean`` reads through all of a turn's text, for
    which a call cannot wait.

    ``clean`` may remember the names that it comes upon, so a turn's texts are always read in the same order.
    """

    def __init__(self, record: TurnRecord, began_s: float, clean: Clean) -> None:
        self._record = record
        self._began_s = began_s
        self._clean = clean

    @cached_property
    def transcript(self) -> dict[str, Any]:
        record = self._record
        return {"turn": record.turn, "outcome": record.outcome, "text": self._clean(record.user_text)}

    @cached_property
    def generated(self) -> dict[str, Any]:
        _ = self.transcript
        record, clean = self._record, self._clean
        return {
            "turn": record.turn,
            "interrupted": record.interrupted,
            "text": clean(record.reply_text),
            "heard": clean(record.heard_text),
        }

    @cached_property
    def retrieved(self) -> list[dict[str, Any]]:
        _ = self.generated
        clean = self._clean
        return [
            {
                "turn": self._record.turn,
                "call_id": tool.call_id,
                "name": tool.name,
                "arguments": clean(tool.arguments),
                "content": clean(tool.content),
            }
            for tool in self._record.tools
        ]

    def result(self, index: int) -> dict[str, Any]:
        """Of the turn's tools, this one's."""
        return self.retrieved[index]

    @cached_property
    def log(self) -> dict[str, Any]:
        """Times (seconds since the session began), decisions and causes; nobody's words."""
        _ = self.retrieved
        record, began_s, times = self._record, self._began_s, self._record.times
        points = {name.removesuffix("_s"): getattr(times, name) for name in times.__dataclass_fields__}
        return {
            "turn": record.turn,
            "outcome": record.outcome,
            "cause": record.cause,
            "silence_ms": _ms(record.silence_s),
            "stages_ms": stages_ms(record),
            "at_s": {name: round(at_s - began_s, 4) for name, at_s in points.items() if at_s is not None},
            "heard_by": "clock" if record.clock else "report",
            "speculation": record.speculation,
            "guesses": record.guesses,
            "interrupted": record.interrupted,
            "tools": [
                {
                    "call_id": tool.call_id,
                    "name": tool.name,
                    "effect": tool.effect,
                    "state": tool.state,
                    "ms": None if tool.ended_s is None else _ms(tool.ended_s - tool.began_s),
                }
                for tool in record.tools
            ],
            "ledger": [_entry(entry, began_s, self._clean) for entry in record.ledger],
        }


def stages_ms(record: TurnRecord) -> dict[str, float]:
    """Milliseconds of each stage, in their order; a stage that came more than once is summed."""
    spent: dict[str, float] = {}
    for stage in record.stages:
        spent[stage.name] = spent.get(stage.name, 0.0) + stage.seconds
    return {name: round(seconds * 1000, 1) for name, seconds in spent.items()}


def _entry(entry: Entry, began_s: float, clean: Clean) -> dict[str, Any]:
    told: dict[str, Any] = {"at_s": round(entry.at_s - began_s, 4), "kind": entry.kind}
    if entry.reason and entry.kind in _PLAIN_REASONS:
        told["reason"] = clean(entry.reason)
    if entry.fault is not None:
        told["fault"] = entry.fault
    return told


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)
