"""A turn's record as plain values for JSON: one for each kind of data, so that each can be kept apart."""

from collections.abc import Callable
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


def log_of(record: TurnRecord, began_s: float, clean: Clean) -> dict[str, Any]:
    """Times (seconds since the session began), decisions and causes; nobody's words."""
    times = record.times
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
        "ledger": [_entry(entry, began_s, clean) for entry in record.ledger],
    }


def stages_ms(record: TurnRecord) -> dict[str, float]:
    """Milliseconds of each stage, in their order; a stage that came more than once is summed."""
    spent: dict[str, float] = {}
    for stage in record.stages:
        spent[stage.name] = spent.get(stage.name, 0.0) + stage.seconds
    return {name: round(seconds * 1000, 1) for name, seconds in spent.items()}


def transcript_of(record: TurnRecord, clean: Clean) -> dict[str, Any]:
    return {"turn": record.turn, "outcome": record.outcome, "text": clean(record.user_text)}


def generated_of(record: TurnRecord, clean: Clean) -> dict[str, Any]:
    return {
        "turn": record.turn,
        "interrupted": record.interrupted,
        "text": clean(record.reply_text),
        "heard": clean(record.heard_text),
    }


def retrieved_of(record: TurnRecord, clean: Clean) -> list[dict[str, Any]]:
    return [
        {
            "turn": record.turn,
            "call_id": tool.call_id,
            "name": tool.name,
            "arguments": clean(tool.arguments),
            "content": clean(tool.content),
        }
        for tool in record.tools
    ]


def _entry(entry: Entry, began_s: float, clean: Clean) -> dict[str, Any]:
    told: dict[str, Any] = {"at_s": round(entry.at_s - began_s, 4), "kind": entry.kind}
    if entry.reason and entry.kind in _PLAIN_REASONS:
        told["reason"] = clean(entry.reason)
    if entry.fault is not None:
        told["fault"] = entry.fault
    return told


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)
