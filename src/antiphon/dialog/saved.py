"""What a conversation is beyond its process: plain values, from which another process goes on with it.

Times that say when to give up begin anew; those of the ledger are the saving process's own, and are shifted by whoever
restores (``Conversation.restore``).
"""

from dataclasses import dataclass, field

from antiphon.dialog.history import UserSaid
from antiphon.dialog.ledger import Entry
from antiphon.dialog.reply import Reply
from antiphon.dialog.tool_run import ToolRun

RESTARTED = "the server was restarted"


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """One entry of the history: exactly one of the two."""

    user: UserSaid | None = None
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """The answer under way, stopped where it was heard. ``entry`` and ``reply`` are places in the history; ``entry``
    None: the agent speaks of its own accord."""

    reply: int
    entry: int | None
    state: str
    heard: int
    final: bool
    concluding: str = ""
    asked: bool = False
    round_chars: int = 0
    rounds: int = 0
    failures: int = 0
    fillers: int = 0


@dataclass(frozen=True, slots=True)
class SavedConversation:
    """``at_s``: monotonic, when it was saved; ``numbers``: how many ids were given out."""

    at_s: float
    sample: int
    turn: int
    numbers: int
    history: list[SavedEntry] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    runs: list[ToolRun] = field(default_factory=list)
    ledger: list[Entry] = field(default_factory=list)
    answer: SavedAnswer | None = None
    kept: list[str] = field(default_factory=list)
    """Said during a protected reply, and not answered yet."""
    prompts: int = 0
    digits: str = ""
