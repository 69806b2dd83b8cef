"""A reply as it goes into the history: what was written, which tools were asked for, how much was heard."""

from dataclasses import dataclass, field
from itertools import groupby

from antiphon.core.brain import Message, ToolCall

RUNNING = '{"status":"running","note":"no result yet; do not guess it"}'
"""The result of a call that has none, for a brain that must be asked before there is one."""


@dataclass(slots=True)
class Reply:
    """One reply of the agent.

    ``calls`` are tool calls with the length of the text before each. ``heard_chars`` None: the reply is being said, and
    counts as said; else the rest was not heard and never said.
    """

    reply_id: str
    turn: int
    text: str = ""
    calls: list[tuple[int, ToolCall]] = field(default_factory=list)
    preface: int = 0
    """So many characters were said only because it took long to begin; a brain need not know of them."""
    heard_chars: int | None = None
    protected: bool = False
    """Plays out whatever the user says."""

    @property
    def heard(self) -> str:
        return self.text if self.heard_chars is None else self.text[: self.heard_chars]

    def say_before_calls(self, begin: int) -> None:
        """What was said since ``begin``, while its calls were under way, belongs before them: a brain that is asked
        for what comes after the results must find them last."""
        self.calls = [(len(self.text) if chars >= begin else chars, call) for chars, call in self.calls]

    def messages(self, results: dict[str, str]) -> list[Message]:
        """The reply for a brain. Every call has exactly one tool message right behind it, its asking."""
        out: list[Message] = []
        heard, begin = self.heard, 0
        for chars, group in groupby(self.calls, key=lambda entry: entry[0]):
            calls = tuple(call for _, call in group)
            out.append(Message("assistant", heard[begin:chars].strip(), calls))
            out += [Message("tool", results.get(call.call_id, RUNNING), call_id=call.call_id) for call in calls]
            begin = chars
        rest = heard[begin:].strip()
        if rest and len(heard) > self.preface:
            out.append(Message("assistant", rest))
        return out
