"""What a brain (a language model, or rules) is asked and what it says: the same shape for every one.

A brain never executes anything: it asks for tools by :class:`ToolCall`; whoever holds the conversation decides.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Effect: TypeAlias = Literal["read", "write"]
"""``read`` changes nothing and may run on a guess; ``write`` runs once, after the turn is certain."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A wish for a tool. ``arguments`` is a JSON object as text. ``call_id`` is unique in the conversation."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the history. ``tool_calls`` on assistant messages; ``call_id`` on tool messages (the result's)."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the brain sees it (``parameters``: JSON schema as text) and as the conversation judges it."""

    name: str
    description: str
    parameters: str = '{"type":"object","properties":{}}'
    effect: Effect = "read"
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class BrainRequest:
    """One question to a brain. ``messages`` are well-formed: every tool call has its result right behind it."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class BrainDone:
    """The answer is complete. ``reason``: stop, tool_calls, length."""

    reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class BrainFailed:
    """The answer broke off; what was said before it stands. ``retryable``: another attempt may succeed."""

    message: str
    retryable: bool = True


BrainEvent: TypeAlias = TextDelta | ToolCall | BrainDone | BrainFailed


class Brain(Protocol):
    """Any number of answers may be under way at once. ``stream`` ends with ``BrainDone`` or ``BrainFailed``; closing
    it, or cancelling its task, stops the answer."""

    @property
    def name(self) -> str: ...

    def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]: ...
