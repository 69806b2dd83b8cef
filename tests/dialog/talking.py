"""What users say and brains answer in scripted dialogues: with the conversation, and over its socket."""

import random
from collections.abc import Callable
from typing import Protocol

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta, ToolCall
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.dialog.conversation import Conversation

Ear = Callable[[float, object], None]
"""Takes an event at a time in seconds."""


def says(ear: Ear, at_s: float, text: str, eager: bool = True, pace_s: float = 0.3, end_s: float = 0.4) -> float:
    """A whole turn; returns when it ends."""
    ear(at_s, TurnStarted(round(at_s * EAR_RATE_HZ)))
    words = text.split()
    for i in range(len(words)):
        at_s += pace_s
        ear(at_s, TurnUpdated(" ".join(words[: i + 1]), round(at_s * EAR_RATE_HZ)))
    if eager and words:
        ear(at_s + end_s / 2, TurnEagerEnded(text, round(at_s * EAR_RATE_HZ)))
    at_s += end_s
    ear(at_s, TurnEnded(text, round(at_s * EAR_RATE_HZ), "model"))
    return at_s


def hesitates(ear: Ear, at_s: float, first: str, rest: str, pause_s: float = 1.0) -> float:
    """A turn with a pause in it that looks like its end; returns when it ends."""
    ear(at_s, TurnStarted(round(at_s * EAR_RATE_HZ)))
    ear(at_s + 0.5, TurnUpdated(first, 0))
    ear(at_s + 0.7, TurnEagerEnded(first, 0))
    ear(at_s + 0.7 + pause_s, TurnResumed(0))
    ear(at_s + 1.2 + pause_s, TurnUpdated(first + rest, 0))
    ear(at_s + 1.5 + pause_s, TurnEagerEnded(first + rest, 0))
    ear(at_s + 1.7 + pause_s, TurnEnded(first + rest, 0, "model"))
    return at_s + 1.7 + pause_s


class Talker(Protocol):
    def says(self, at_s: float, text: str, eager: bool = True) -> float: ...

    def hesitates(self, at_s: float, first: str, rest: str, pause_s: float = 1.0) -> float: ...


def says_at_random(
    user: Talker, rng: random.Random, what: float, at_s: float, number: str, books: float
) -> float | None:
    """A question (``what`` below 0.35), an order (below ``books``), a correction (below 0.75) or a listener's word
    (below 0.85); returns when it ends. None: nothing of it."""
    if what < 0.35:
        return user.says(at_s, f"please tell me about {number}", eager=rng.random() < 0.7)
    if what < books:
        return user.says(at_s, f"please book {number}", eager=rng.random() < 0.7)
    if what < 0.75:
        return user.hesitates(at_s, f"book Friday {number}a", f" no Thursday book {number}", rng.uniform(0.2, 3.0))
    return user.says(at_s, "mhm") if what < 0.85 else None


def tokens(text: str) -> list[BrainEvent]:
    """A brain's answer, a word at a time."""
    words = text.split(" ")
    deltas: list[BrainEvent] = [TextDelta(word if i == 0 else f" {word}") for i, word in enumerate(words)]
    return [*deltas, BrainDone()]


def asks(name: str, arguments: str = "{}", text: str = "", call_id: str = "c1") -> list[BrainEvent]:
    said: list[BrainEvent] = [TextDelta(text)] if text else []
    return [*said, ToolCall(call_id, name, arguments), BrainDone("tool_calls")]


def last(request: BrainRequest) -> str:
    """What the user said."""
    return next(message.content for message in reversed(request.messages) if message.role == "user")


def echo(request: BrainRequest) -> list[BrainEvent]:
    return tokens(f"You said {last(request)} and that is all.")


def asked_about(request: BrainRequest) -> tuple[str, int]:
    """A name for the question that only it has, and how many results have come for it."""
    at = max(i for i, message in enumerate(request.messages) if message.role == "user")
    results = sum(message.role == "tool" for message in request.messages[at + 1 :])
    return "".join(filter(str.isalnum, request.messages[at].content))[-12:], results


def books(name: str) -> list[BrainEvent]:
    """A read and a write."""
    return [
        TextDelta(f"{name}a let {name}b me {name}c see."),
        ToolCall("c", "look_up", "{}"),
        ToolCall("c", "book", f'{{"what":"{name}"}}'),
        BrainDone("tool_calls"),
    ]


def unique(name: str, results: int, sentences: int, words: int) -> str:
    """A text whose every word is unique to the question."""
    made = (" ".join(f"{name}r{results}s{s}w{w}" for w in range(words)) + "." for s in range(sentences))
    return " ".join(made)


def assert_settled(conversation: Conversation) -> None:
    assert conversation.over or not conversation.busy, "hangs"
    assert not any(run.open for run in conversation.desk.runs.values()), "a call without an end"


def failed_calls(conversation: Conversation) -> set[str]:
    runs = conversation.desk.runs.values()
    return {f"{run.call.name} {run.call.arguments}" for run in runs if run.state == "failed"}


def assert_no_result_is_lost(conversation: Conversation, recorded: set[str], returned: dict[str, str]) -> None:
    """``recorded``: calls that the history has; ``returned``: what came back of calls."""
    for call_id, content in returned.items():
        if call_id in recorded:
            assert conversation.history.results[call_id] == content, "a result lost"
        else:
            assert conversation.desk.runs[call_id].effect == "read", "a write that history does not know"


def assert_nothing_is_said_twice(heard: str, own: set[str]) -> None:
    """``own``: words of the agent's own phrases."""
    words = [word for word in heard.split() if word not in own and "w" in word]
    assert len(words) == len(set(words)), "said twice"
