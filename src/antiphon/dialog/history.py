"""What a brain is told of the conversation: only what was heard, always well-formed, bounded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from antiphon.core.brain import Message
from antiphon.dialog.reply import Reply


@dataclass(slots=True)
class UserSaid:
    """One turn of the user."""

    text: str


Entry: TypeAlias = UserSaid | Reply


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """Bounds. The oldest exchanges are forgotten first; the instructions and the latest exchange never."""

    max_entries: int = 200
    max_chars: int = 60_000
    max_result_chars: int = 8_000


class History:
    """The conversation so far. Replies are kept by reference: a cut changes what later requests say of them.

    Results of tools outlive interruptions: whenever one comes, it stands behind its call from then on.
    """

    def __init__(self, instructions: str = "", settings: HistorySettings | None = None) -> None:
        self.instructions = instructions
        self.settings = settings or HistorySettings()
        self.entries: list[Entry] = []
        self.results: dict[str, str] = {}

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def remove(self, entry: Entry) -> None:
        """Take back an entry that turned out to be part of a longer one. Nothing happens if it is not there."""
        self.entries = [other for other in self.entries if other is not entry]

    def settle(self, call_id: str, content: str) -> None:
        """The result of a tool call, or what stands for it; a later one replaces an earlier one."""
        limit = self.settings.max_result_chars
        self.results[call_id] = content if len(content) <= limit else content[:limit] + " [cut]"

    def messages(self, draft: Sequence[Entry] = ()) -> tuple[Message, ...]:
        """All of it, with ``draft`` (entries that may still be discarded) behind it."""
        out = [Message("system", self.instructions)] if self.instructions else []
        for entry in (*self.entries, *draft):
            out += [Message("user", entry.text)] if isinstance(entry, UserSaid) else entry.messages(self.results)
        return tuple(out)

    def trim(self, is_open: Callable[[str], bool] = lambda call_id: False) -> None:
        """Forget the oldest exchanges over the bounds, none with a call that ``is_open`` says still runs."""
        while self._over():
            cut = next((i for i, entry in enumerate(self.entries) if i and isinstance(entry, UserSaid)), None)
            if cut is None or any(is_open(call_id) for call_id in _call_ids(self.entries[:cut])):
                break
            self.entries = self.entries[cut:]
        known = set(_call_ids(self.entries))
        self.results = {call_id: text for call_id, text in self.results.items() if call_id in known or is_open(call_id)}

    def _over(self) -> bool:
        chars = sum(len(entry.text) for entry in self.entries)
        chars += sum(map(len, self.results.values()))
        return len(self.entries) > self.settings.max_entries or chars > self.settings.max_chars


def _call_ids(entries: Sequence[Entry]) -> list[str]:
    return [call.call_id for entry in entries if isinstance(entry, Reply) for _, call in entry.calls]
