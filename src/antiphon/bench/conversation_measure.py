"""From a played conversation to figures. Pure; definitions in docs/bench-conversation.md."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from antiphon.bench.conversation_call import Call, Line
from antiphon.bench.conversation_director import Said
from antiphon.bench.conversation_sound import AgentSound, agent_sound, longest_hole, spoken_span
from antiphon.bench.conversation_stages import Stages, plain_words, stages_of
from antiphon.bench.scenario import Kind, Step
from antiphon.client.events import Heard, ToolRan
from antiphon.protocol import native_messages as wire

GOOD_V2V_S = 1.0
GOOD_BARGE_IN_S = 0.25
AFTER_S = 2.5
"""For so long after a backchannel the agent is watched."""
STAGE_TOLERANCE_S = 0.02

Cause: TypeAlias = Literal["stt", "turn", "llm", "tool", "tts", "network", "client_playback"]

BUDGET_S: dict[str, tuple[float, Cause]] = {
    "final": (0.20, "stt"),
    "turn end": (0.30, "turn"),
    "model": (0.15, "llm"),
    "tool": (0.20, "tool"),
    "model again": (0.15, "llm"),
    "first byte": (0.10, "tts"),
    "audible": (0.05, "tts"),
    "heard": (0.05, "client_playback"),
}
"""What a stage may take; whose time it is beyond that."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the caller and what followed. Times are seconds; of the recording where they are moments.

    ``v2v_s``: last audible user sample -> first audible sample of the answer. None: no answer, or the agent spoke
    before the caller had ended (``cut_off``). ``barge_in_s``: the caller's first audible sample -> the agent's last
    one, for interruptions that stopped it. ``stopped``: of a line said over the agent, whether the reply was given up
    (None: it was just ending). ``hole_s``: of a backchannel, the longest silence in the reply around it.
    ``stages``/``stage_error_s``: see :mod:`conversation_stages`; the error is their sum minus the recorded silence.
    ``met``: the answer has what was expected (None: nothing was). ``cause``: of a turn that went badly, the one.
    """

    call: int
    scenario: str
    step: int
    kind: Kind
    text: str
    said: Said
    end_s: float | None = None
    v2v_s: float | None = None
    cut_off: bool = False
    barge_in_s: float | None = None
    stopped: bool | None = None
    hole_s: float | None = None
    stages: Stages | None = None
    stage_error_s: float | None = None
    transcript: str = ""
    reply: str = ""
    met: bool | None = None
    cause: Cause | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole call. ``wrong_actions``: writes that were not asked for. ``missing_actions``: that were not done.
    ``corrected``: a correction was honoured (None: there was none). ``repeated``: sentences that a turn's answer had
    twice. ``underruns``: holes that the player had."""

    call: int
    scenario: str
    success: bool
    wrong_actions: int
    missing_actions: int
    corrected: bool | None
    repeated: int
    underruns: int
    behind_s: float
    error: str
    turns: tuple[Turn, ...]


def measure_call(call: Call) -> Outcome:
    sound = agent_sound(call.recording.agent, call.recording.rate_hz)
    turns = tuple(_turn(call, line, sound) for line in call.lines)
    done, wanted = _writes(call), [(one.tool, dict(one.arguments)) for one in call.scenario.calls]
    wrong, missing = _difference(done, wanted), _difference(wanted, done)
    met = all(turn.met is not False for turn in turns) and all(turn.said == "said" for turn in turns)
    over = {event.reply_id: event.underruns for _, event in call.events if isinstance(event, Heard)}
    return Outcome(
        call=call.number,
        scenario=call.scenario.name,
        success=met and not wrong and not missing and not call.error,
        wrong_actions=wrong,
        missing_actions=missing,
        corrected=not wrong and not missing if call.scenario.corrected else None,
        repeated=sum(_repeated(turn.reply) for turn in turns),
        underruns=sum(over.values()),
        behind_s=call.behind_s,
        error=call.error,
        turns=turns,
    )


def _turn(call: Call, line: Line, sound: AgentSound) -> Turn:
    step = call.scenario.steps[line.index]
    turn = Turn(call.number, call.scenario.name, line.index, step.kind, step.text, line.said)
    if line.start_s is None or line.end_s is None:
        return turn
    span = spoken_span(call.recording, line.start_s, line.end_s)
    if span is None:
        return turn
    until_s = _next_start(call, line)
    over_agent = step.kind != "turn"
    stop_s = sound.stops_after(span.start_s) if over_agent else None
    stopped = _given_up(call, span.start_s, until_s if step.kind == "interruption" else span.end_s + AFTER_S)
    if step.kind == "backchannel":
        hole_s = longest_hole(sound, span.start_s, span.end_s + AFTER_S)
        return replace(
            turn, end_s=span.end_s, stopped=stopped, hole_s=hole_s,
            cause="turn" if stopped else None, why="a backchannel stopped the agent" if stopped else "",
        )  # fmt: skip
    barge_in_s = None if stop_s is None or not stopped else stop_s - span.start_s
    searched_s = span.start_s if stop_s is None else min(max(stop_s, span.start_s), span.end_s)
    onset_s = sound.first_after(searched_s)
    if onset_s is not None and onset_s >= until_s:
        onset_s = None
    if over_agent and not stopped and stop_s is not None:
        onset_s = sound.first_after(max(stop_s, span.end_s))  # it went on to its end
    cut_off = onset_s is not None and onset_s < span.end_s
    v2v_s = None if onset_s is None or cut_off else onset_s - span.end_s
    stages = None if v2v_s is None or onset_s is None else stages_of(call, span.end_s, onset_s, sound.level_dbfs)
    reply = _text_between(call, span.start_s, until_s)
    measured = replace(
        turn,
        end_s=span.end_s,
        v2v_s=v2v_s,
        cut_off=cut_off or _ended_early(call, line, span.end_s),
        barge_in_s=barge_in_s,
        stopped=stopped if over_agent else None,
        stages=stages,
        stage_error_s=None if stages is None or v2v_s is None else stages.total_s - v2v_s,
        transcript=_transcript(call, span.start_s, until_s),
        reply=reply,
        met=None if not step.expects else re.search(step.expects, reply, re.IGNORECASE) is not None,
    )
    cause, why = _cause(measured, step)
    return replace(measured, cause=cause, why=why)


def _cause(turn: Turn, step: Step) -> tuple[Cause | None, str]:
    """The one cause of a turn that went badly: what went wrong first counts."""
    if turn.kind == "interruption" and turn.stopped is False:
        return "turn", "the interruption did not stop the agent"
    if turn.cut_off:
        return "turn", "the agent did not let the caller finish"
    if turn.v2v_s is None:
        if not turn.transcript:
            return "stt", "no answer: nothing was understood"
        return "llm" if not turn.reply else "tts", "no answer was heard"
    if turn.met is False:
        heard, said = plain_words(turn.transcript), plain_words(step.text)
        if heard != said:
            return "stt", f"understood {turn.transcript.strip()!r}"
        return "llm", "the answer was not what was asked for"
    if turn.v2v_s > GOOD_V2V_S and turn.stages is not None:
        name, spent_s = _worst(turn.stages)
        return BUDGET_S[name][1], f"{name} took {spent_s:.2f} s"
    if turn.barge_in_s is not None and turn.barge_in_s > GOOD_BARGE_IN_S:
        return "turn", f"silence came after {turn.barge_in_s:.2f} s"
    return None, ""


def _worst(stages: Stages) -> tuple[str, float]:
    """The stage that is furthest beyond its budget."""
    name = max(stages.seconds, key=lambda one: stages.seconds[one] - BUDGET_S[one][0])
    return name, stages.seconds[name]


def _next_start(call: Call, line: Line) -> float:
    starts = [one.start_s for one in call.lines[line.index + 1 :] if one.start_s is not None]
    return min(starts, default=call.recording.length_s)


def _given_up(call: Call, start_s: float, until_s: float) -> bool | None:
    """Whether the reply that sounds when the line begins is cleared before ``until_s``; None: none sounds."""
    begin_s, rate_hz = call.recording.begin_s, call.recording.rate_hz
    at_s = begin_s + start_s
    sounding = [
        piece.reply_id
        for piece in call.pieces
        if piece.start_s <= at_s + 0.3 and piece.start_s + piece.samples / rate_hz > at_s - 0.3
    ]
    if not sounding:
        return None
    return any(
        isinstance(event, wire.Clear) and event.reply_id in sounding and at_s <= moment < begin_s + until_s
        for moment, event in call.events
    )


def _ended_early(call: Call, line: Line, end_s: float) -> bool:
    """A turn end, while the caller was still speaking, after which the agent wrote."""
    begin_s = call.recording.begin_s
    early = [
        at_s
        for at_s, event in call.events
        if isinstance(event, wire.UserEnded) and begin_s + (line.start_s or 0.0) < at_s < begin_s + end_s
    ]
    writes = _write_tools(call)
    return bool(early) and any(
        isinstance(event, ToolRan) and event.name in writes and early[0] < at_s < begin_s + end_s
        for at_s, event in call.events
    )


def _transcript(call: Call, start_s: float, until_s: float) -> str:
    begin_s = call.recording.begin_s
    return "".join(
        event.transcript
        for at_s, event in call.events
        if isinstance(event, wire.UserEnded) and start_s <= at_s - begin_s < until_s
    ).strip()


def _text_between(call: Call, start_s: float, until_s: float) -> str:
    """What replies that began between the two moments said."""
    begin_s = call.recording.begin_s
    begun = [
        event.reply_id
        for at_s, event in call.events
        if isinstance(event, wire.ReplyStarted) and start_s <= at_s - begin_s < until_s
    ]
    texts = dict.fromkeys(begun, "")
    for _, event in call.events:
        if isinstance(event, wire.ReplyText) and event.reply_id in texts:
            texts[event.reply_id] += event.delta
    return " ".join(" ".join(text.split()) for text in texts.values())


def _write_tools(call: Call) -> set[str]:
    return {tool.name for tool in call.scenario.tools if tool.effect == "write"}


def _writes(call: Call) -> list[tuple[str, dict[str, str]]]:
    writes = _write_tools(call)
    return [
        (event.name, {str(key): str(value) for key, value in json.loads(event.arguments or "{}").items()})
        for _, event in call.events
        if isinstance(event, ToolRan) and event.ok and event.name in writes
    ]


def _difference(these: Sequence[tuple[str, dict[str, str]]], those: Sequence[tuple[str, dict[str, str]]]) -> int:
    left = Counter((name, tuple(sorted(arguments.items()))) for name, arguments in these)
    left.subtract(Counter((name, tuple(sorted(arguments.items()))) for name, arguments in those))
    return sum(count for count in left.values() if count > 0)


def _repeated(text: str) -> int:
    sentences = [sentence.strip().casefold() for sentence in re.split(r"(?<=[.!?])\s+", text) if sentence.strip()]
    counts = Counter(sentence for sentence in sentences if len(sentence.split()) >= 4)
    return sum(count - 1 for count in counts.values())
