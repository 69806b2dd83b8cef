"""Every decision of a conversation, readable; and the one cause of a turn that went badly."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Cause: TypeAlias = Literal["stt", "turn", "llm", "tool", "tts", "network", "client_playback"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision. ``at_s`` is monotonic, ``at_sample`` media time; ``fault``: whose failure it records, if any."""

    turn: int
    at_s: float
    at_sample: int
    kind: str
    reason: str = ""
    fault: Cause | None = None


class Ledger:
    """A bounded list of :class:`Entry`; the oldest are forgotten first."""

    def __init__(self, max_entries: int = 2_000) -> None:
        self._entries: deque[Entry] = deque(maxlen=max_entries)
        self._fresh: deque[Entry] = deque(maxlen=max_entries)

    def note(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._fresh.append(entry)

    def restore(self, entries: Iterable[Entry]) -> None:
        """Those of an earlier process; nobody is told of them again."""
        self._entries.extend(entries)

    def take_fresh(self) -> list[Entry]:
        """What was noted since the last time."""
        out = list(self._fresh)
        self._fresh.clear()
        return out

    def entries(self, turn: int | None = None) -> tuple[Entry, ...]:
        return tuple(entry for entry in self._entries if turn is None or entry.turn == turn)

    def text(self, turn: int | None = None) -> str:
        """One line per entry, for people."""
        return "\n".join(
            f"{entry.at_s:9.3f} s  turn {entry.turn}  {entry.kind}"
            + (f": {entry.reason}" if entry.reason else "")
            + (f"  [{entry.fault}]" if entry.fault else "")
            for entry in self.entries(turn)
        )

    def dicts(self, turn: int | None = None) -> list[dict[str, object]]:
        """The same as plain values that JSON can hold; ``fault`` only where there is one."""
        return [
            {
                "turn": entry.turn,
                "at_s": round(entry.at_s, 6),
                "at_sample": entry.at_sample,
                "kind": entry.kind,
                "reason": entry.reason,
                **({"fault": entry.fault} if entry.fault else {}),
            }
            for entry in self.entries(turn)
        ]


_STAGES: tuple[tuple[str, str, float, Cause], ...] = (
    ("brain.asked", "brain.first", 1.0, "llm"),
    ("tool.called", "tool.ended", 2.0, "tool"),
    ("voice.text", "voice.first", 0.6, "tts"),
    ("speech.released", "playing.first", 0.5, "network"),
)
"""From, to, how long is still good, whose time it is."""


def cause(entries: Iterable[Entry]) -> Cause | None:
    """Why a turn went badly; None: it did not. ``entries`` are those of one turn, in order.

    The earliest fault counts: later ones tend to follow from it. Without a fault, the stage that took the most time
    beyond what is good.
    """
    since: dict[str, float] = {}
    worst: tuple[float, Cause | None] = (0.0, None)
    for entry in entries:
        if entry.fault is not None:
            return entry.fault
        for begin, end, good_s, whose in _STAGES:
            if entry.kind == begin:
                since[begin] = entry.at_s
            elif entry.kind == end and begin in since:
                worst = max(worst, (entry.at_s - since.pop(begin) - good_s, whose), key=lambda pair: pair[0])
    return worst[1]
