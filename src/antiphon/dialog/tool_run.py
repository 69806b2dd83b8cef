"""What a conversation knows of one tool call, and what it wants done about it. Plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from antiphon.core.brain import Effect, ToolCall

CallState: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled", "superseded", "timed_out"]
_OPEN = ("waiting", "running")


@dataclass(frozen=True, slots=True)
class CallTool:
    """Execute this call. ``key`` is the same for every attempt at the same write."""

    call: ToolCall
    key: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class CancelTool:
    """Nobody waits for this call any more."""

    call_id: str


ToolAction: TypeAlias = CallTool | CancelTool


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """``targets``: for a write tool, the arguments that name what it writes to.

    Two writes of one turn with the same target are one write, corrected: the later counts if the earlier has not run.
    A tool without targets is corrected only by starting the turn's answer anew.
    """

    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_calls_per_turn: int = 16
    fillers: Mapping[str, tuple[str | None, float | None]] = field(default_factory=dict)
    """For a tool: what is said while it takes long, and after how many seconds; None: as for every tool."""
    write_grace_s: float = 0.0
    """No write runs sooner after its turn's end: a user who goes on at once still corrects it."""


@dataclass(slots=True)
class ToolRun:
    """One call and how far it came. ``twin_of``: the call that does the same write and whose result counts."""

    call: ToolCall
    effect: Effect
    key: str
    turn: int
    owner: str
    state: CallState
    deadline_s: float
    timeout_s: float
    signature: str = ""
    target: str = ""
    twin_of: str = ""
    due_s: float | None = None
    """When a write whose turn is certain starts; None: started, or not certain."""
    started: bool = False
    said: str = ""
    """Its result, once it ended."""
    told: bool = False
    """Whether the user has heard how it went."""

    @property
    def open(self) -> bool:
        return self.state in _OPEN
