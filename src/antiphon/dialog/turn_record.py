"""The record of one turn: when what happened, how the silence was spent, and whose fault it was if it went badly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from antiphon.core.brain import Effect
from antiphon.dialog.ledger import Cause, Entry
from antiphon.dialog.ledger import cause as cause_of_entries

StageName: TypeAlias = Literal["final", "turn", "llm", "tool", "unit", "tts", "send", "playback"]
Outcome: TypeAlias = Literal["answered", "interrupted", "taken_back", "unanswered", "ignored"]
"""``answered``: to the end. ``interrupted``: part of the answer was heard. ``taken_back``: the user went on before any
of it was heard. ``unanswered``: the conversation ended before. ``ignored``: no turn after all (a listener's word)."""
Speculation: TypeAlias = Literal["none", "right", "wrong"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Up to how long is good, of each stage and of the whole silence."""

    final: float = 0.7
    turn: float = 1.5
    llm: float = 1.0
    tool: float = 2.0
    unit: float = 0.6
    tts: float = 0.6
    send: float = 0.5
    playback: float = 0.6
    silence: float = 2.5


STAGES: tuple[StageName, ...] = ("final", "turn", "llm", "tool", "unit", "tts", "send", "playback")

_OWNERS: dict[StageName, Cause] = {
    "final": "stt",
    "turn": "turn",
    "llm": "llm",
    "tool": "tool",
    "unit": "llm",
    "tts": "tts",
    "send": "network",
    "playback": "client_playback",
}


@dataclass(frozen=True, slots=True)
class Times:
    """Monotonic seconds; None: it did not come to that, or is not known.

    ``final_s`` is when the last of the words was known; a recogniser's formal final, which only confirms them, may wait
    for the decision that the turn is over, and that wait is the turn's.
    On a right guess the brain and the voice were ready before the turn was over; their times say so.
    """

    speech_end_s: float | None = None
    final_s: float | None = None
    turn_end_s: float | None = None
    llm_first_s: float | None = None
    unit_s: float | None = None
    tts_first_s: float | None = None
    sent_s: float | None = None
    heard_s: float | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the silence. The stages of a turn follow each other without a gap, and sum to the silence."""

    name: StageName
    begin_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True, slots=True)
class Span:
    """``[begin_s, end_s)`` in which somebody was waited for."""

    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call that ran. ``state``: done, failed, cancelled, timed_out, or running (when the record was made)."""

    call_id: str
    name: str
    effect: Effect
    arguments: str
    state: str
    began_s: float
    ended_s: float | None
    content: str


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """``heard_text`` is what the user heard of the answer, ``reply_text`` what was given to the voice.

    ``speech``: media samples ``[start, end)`` of the user's turn at the ear's rate. ``clock``: the end was heard
    according to the clock, not to a report of the client.
    """

    turn: int
    outcome: Outcome
    times: Times
    stages: tuple[Stage, ...]
    cause: Cause | None
    speculation: Speculation = "none"
    guesses: int = 0
    tools: tuple[ToolUse, ...] = ()
    user_text: str = ""
    reply_text: str = ""
    heard_text: str = ""
    ended_by: str = ""
    """Why it is over: the ledger's words."""
    speech: tuple[int, int] = (0, 0)
    speeches: tuple[str, ...] = ()
    clock: bool = False
    ledger: tuple[Entry, ...] = field(default=(), repr=False)

    @property
    def silence_s(self) -> float | None:
        """From the user's last sound to the agent's first; None where one of them is not known."""
        return self.stages[-1].end_s - self.stages[0].begin_s if self.stages else None

    @property
    def interrupted(self) -> bool:
        return self.outcome in ("interrupted", "taken_back")


def stages_between(
    times: Times, asked: Sequence[Span] = (), ran: Sequence[Span] = (), until_s: float | None = None
) -> tuple[Stage, ...]:
    """How the time from the end of speech to the first sound was spent.

    ``asked``: waits for the brain's first word; ``ran``: running tools. ``until_s``: where nothing was heard, the
    moment up to which it was waited. What was ready beforehand takes no time; what did not happen neither.
    """
    end_s = times.heard_s if times.heard_s is not None else until_s
    if times.speech_end_s is None or end_s is None:
        return ()
    now_s, end_s = times.speech_end_s, max(times.speech_end_s, end_s)
    out: list[Stage] = []

    def upto(name: StageName, at_s: float | None, missing_is_end: bool = False) -> None:
        nonlocal now_s
        to_s = end_s if at_s is None and missing_is_end else at_s
        to_s = now_s if to_s is None else min(max(to_s, now_s), end_s)
        out.append(Stage(name, now_s, to_s))
        now_s = to_s

    cut = times.heard_s is None
    upto("final", times.final_s, cut and times.turn_end_s is None)
    upto("turn", times.turn_end_s, cut)
    for name, at_s in _thinking(now_s, min(end_s, _known(times, end_s)), asked, ran):
        upto(name, at_s)
    upto("tts", times.tts_first_s, cut and times.unit_s is not None)
    upto("send", times.sent_s, cut and times.tts_first_s is not None)
    upto("playback", end_s)
    return tuple(out)


def cause_of(
    entries: Iterable[Entry],
    stages: Sequence[Stage],
    outcome: Outcome,
    budget: Budget | None = None,
    ran: Sequence[Span] = (),
) -> Cause | None:
    """The one cause of a bad turn; None: it was a good one.

    A fault counts first (the earliest), then the stage furthest beyond its budget; where only the whole is too long,
    the stage that took most of its own. A tool (of those that ``ran``) that was too slow counts even if something was
    said meanwhile. An answer that was taken back without any delay came too early: the turn was not over.
    Where the silence is not known, the ledger alone decides.
    """
    budget = budget or Budget()
    entries = tuple(entries)
    fault = next((entry.fault for entry in entries if entry.fault is not None), None)
    if fault is not None or outcome == "ignored":
        return fault
    if not stages:
        return cause_of_entries(entries)
    spent: dict[StageName, float] = dict.fromkeys(STAGES, 0.0)
    for stage in stages:
        spent[stage.name] += stage.seconds
    worst = max(STAGES, key=lambda name: spent[name] - float(getattr(budget, name)))
    if spent[worst] > getattr(budget, worst):
        return _OWNERS[worst]
    if sum(spent.values()) > budget.silence:
        return _OWNERS[max(STAGES, key=lambda name: spent[name] / float(getattr(budget, name)))]
    if any(span.end_s - span.begin_s > budget.tool for span in ran):
        return "tool"
    return "turn" if outcome == "taken_back" else None


def _known(times: Times, end_s: float) -> float:
    """When the first unit was there, or must have been."""
    after = (times.unit_s, times.tts_first_s, times.sent_s, end_s)
    return next(at_s for at_s in after if at_s is not None)


def _thinking(
    begin_s: float, end_s: float, asked: Sequence[Span], ran: Sequence[Span]
) -> list[tuple[StageName, float]]:
    """Who was waited for between the end of the turn and the first unit: ends of stages, in order."""
    edges = {end_s}
    for span in (*asked, *ran):
        edges.update(at_s for at_s in (span.begin_s, span.end_s) if begin_s < at_s < end_s)
    parts: list[tuple[StageName, float]] = []
    since_s = begin_s
    for at_s in sorted(edges):
        middle_s = (since_s + at_s) / 2
        name: StageName = "llm" if _within(middle_s, asked) else "tool" if _within(middle_s, ran) else "unit"
        if parts and parts[-1][0] == name:
            parts[-1] = (name, at_s)
        else:
            parts.append((name, at_s))
        since_s = at_s
    return parts


def _within(at_s: float, spans: Sequence[Span]) -> bool:
    return any(span.begin_s <= at_s < span.end_s for span in spans)
