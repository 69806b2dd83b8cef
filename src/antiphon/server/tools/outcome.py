"""What comes of a tool call, in words that a brain can use."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from antiphon.core.errors import AntiphonError


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """``content`` is what the brain is told: JSON, or plain text. ``ok``: the tool did what it was asked to; a refusal
    that the tool itself words as a result ("there is no such order") is ok too."""

    ok: bool
    content: str


class ToolFailed(AntiphonError):
    """A tool may raise this to say why it could not. The message is told to the brain, which may say it aloud.

    ``details`` is put beside it for a model to read.
    """

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.details = dict(details or {})


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a call comes from. ``report``: told the outcome of a write that nobody waited for any more when it came."""

    conversation_id: str = ""
    turn: int = 0
    report: Callable[[ToolOutcome], None] | None = None


def failed(message: str, details: Mapping[str, Any] | None = None) -> ToolOutcome:
    """``{"error": message, ...}``."""
    return ToolOutcome(False, json.dumps({"error": message, **(details or {})}, ensure_ascii=False, default=str))


def said(value: object) -> str:
    """A tool's result as text: a string as it is, nothing as ``{"status": "done"}``, all else as JSON."""
    if value is None:
        return '{"status":"done"}'
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)  # pydantic's models
    return dump(mode="json") if callable(dump) else str(value)
