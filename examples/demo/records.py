"""What the server's recorder wrote of the call, on the recording's line of time. Format: docs/records.md."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Decision:
    """An entry of the ledger. ``at_s``: seconds of the recording. ``fault``: whose it was, where it was one."""

    at_s: float
    kind: str
    reason: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """``state``: done, failed, cancelled, superseded, timed_out or running."""

    call_id: str
    name: str
    effect: str
    state: str
    arguments: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn as the server saw it. ``moments``: name -> seconds of the recording. ``stages``: name and seconds, one
    behind the other, from the end of speech to the first sound heard; they sum to ``silence_s``."""

    number: int
    outcome: str
    cause: str
    silence_s: float | None
    stages: tuple[tuple[str, float], ...]
    moments: dict[str, float]
    speculation: str = "none"
    said: str = ""
    reply: str = ""
    heard: str = ""
    tools: tuple[ToolRun, ...] = ()
    ledger: tuple[Decision, ...] = ()

    @property
    def began_s(self) -> float:
        """When the server noticed that the caller speaks."""
        return self.ledger[0].at_s if self.ledger else 0.0


def read_records(root: Path, began_unix_s: float) -> tuple[TurnRecord, ...]:
    """All turns under ``root``. ``began_unix_s``: when the recording begins."""
    said = {line["turn"]: line for line in _lines(root, "transcript")}
    generated = {line["turn"]: line for line in _lines(root, "generated")}
    retrieved = {(line["turn"], line["call_id"]): line for line in _lines(root, "retrieved")}
    turns = []
    for line in _lines(root, "log"):
        if line["event"] != "turn":
            continue
        number = line["turn"]
        ahead_s = line["unix_s"] - line["after_s"] - began_unix_s  # the session began so long after the recording
        texts = generated.get(number, {})
        turns.append(
            TurnRecord(
                number=number,
                outcome=line["outcome"],
                cause=line["cause"] or "",
                silence_s=None if line["silence_ms"] is None else line["silence_ms"] / 1000,
                stages=tuple((name, spent_ms / 1000) for name, spent_ms in line["stages_ms"].items()),
                moments={name: at_s + ahead_s for name, at_s in line["at_s"].items()},
                speculation=line["speculation"],
                said=said.get(number, {}).get("text", ""),
                reply=texts.get("text", ""),
                heard=texts.get("heard", ""),
                tools=tuple(_tool(tool, retrieved.get((number, tool["call_id"]), {})) for tool in line["tools"]),
                ledger=tuple(
                    Decision(one["at_s"] + ahead_s, one["kind"], one.get("reason", ""), one.get("fault", ""))
                    for one in line["ledger"]
                ),
            )
        )
    return tuple(sorted(turns, key=lambda turn: turn.number))


def _tool(told: dict[str, Any], found: dict[str, Any]) -> ToolRun:
    arguments, content = found.get("arguments", ""), found.get("content", "")
    return ToolRun(told["call_id"], told["name"], told["effect"], told["state"], arguments, content)


def _lines(root: Path, kind: str) -> Iterator[dict[str, Any]]:
    for path in sorted((root / kind).rglob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)
