"""The conversation bench: scripted callers against a server, N at once; clips over a speaking agent; ways of feeding.

Everything is played in real time on the client's clock over the native socket; all that is stated comes from the
two-channel recordings, from stamps of the client, and from the log of the scripted model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from antiphon.bench import conversation_tables as tables
from antiphon.bench.conditions import conditions, network
from antiphon.bench.conversation_call import Call, Part, Question, Thought
from antiphon.bench.conversation_caller import Recited, Speak, part_of, read_aloud, room
from antiphon.bench.conversation_clips import (
    LabelledClip,
    Verdict,
    clip_part,
    clip_scenario,
    labelled,
    shipped_clips,
    verdict_of,
)
from antiphon.bench.conversation_feeding import FEEDS, QUESTION, Feed, feeding, turning_order
from antiphon.bench.conversation_feeding import SCENARIO as FEEDING
from antiphon.bench.conversation_measure import Outcome, measure_call
from antiphon.bench.corpus import spread
from antiphon.bench.measure import Measured, measure
from antiphon.bench.recording import Take
from antiphon.bench.report import Report, Table, write
from antiphon.bench.scenario import Scenario, scenarios_hash
from antiphon.bench.scenario_script import instructions_for
from antiphon.bench.target.caller import Caller, Wire, hold_all
from antiphon.bench.target.native import NativeWire, ask_all
from antiphon.bench.target.realtime import RealtimeWire
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples

WireName: TypeAlias = Literal["native", "realtime"]
WIRES: tuple[WireName, ...] = ("native", "realtime")
WARM_UP = 1
"""Calls before the first one that counts."""


@dataclass(frozen=True, slots=True)
class ModelPace:
    """Of the scripted model."""

    first_s: float = 0.1
    token_s: float = 0.02


@dataclass(frozen=True, slots=True)
class ConversationOptions:
    """``at_once``: loads. ``rounds``: times that each scenario is played under each load, in other voices each time.
    ``clips``: how many labelled clips to play over the agent (0: none), ``clips_at_once`` at a time. ``questions``: of
    each way of feeding (0: none). ``recorded``: sentences of real voices to be said as turns. ``recordings``: a folder
    with lines of scenarios. ``audio``: a folder that gets every two-channel recording."""

    url: str
    wire: WireName = "native"
    api_key: str = ""
    voice: str = ""
    name: str = "antiphon"
    scenarios: tuple[Scenario, ...] = ()
    at_once: tuple[int, ...] = (1, 4)
    rounds: int = 3
    clips: int = 0
    clips_at_once: int = 2
    noises: Mapping[str, Samples] = field(default_factory=dict)
    babble: Mapping[str, Samples] = field(default_factory=dict)
    recorded: tuple[tuple[str, Samples], ...] = ()
    recordings: Path | None = None
    questions: int = 0
    pace: ModelPace = ModelPace()
    seed: int = 1
    models: tuple[tuple[str, Path], ...] = ()
    notes: tuple[str, ...] = ()
    out: Path | None = None
    audio: Path | None = None


def played_scenarios(options: ConversationOptions) -> tuple[Scenario, ...]:
    """All that the scripted model must know."""
    found = list(options.scenarios)
    if options.recorded:
        found.append(read_aloud(options.recorded))
    if options.clips:
        found.append(clip_scenario(shipped_clips(), LabelledClip("", "noise", room(0)), 0))
    if options.questions:
        found.append(FEEDING)
    return tuple(found)


def run(
    options: ConversationOptions,
    speak: Speak,
    thoughts: Callable[[], Sequence[Thought]],
    progress: Callable[[str], None],
    clock: Clock | None = None,
) -> Report:
    """``speak``: the caller's voice. ``thoughts``: the scripted model's log. Raises ``ModelUnavailable`` where not one
    call could be held."""
    clock = clock or MonotonicClock()
    at = conditions(
        dict(options.models),
        {"scenarios": scenarios_hash(played_scenarios(options))},
        (*_notes(options), *options.notes),
        network=network(options.url),
        settings={"wire": options.wire, "at once": options.at_once, "rounds": options.rounds, "seed": options.seed},
    )
    if options.questions and options.wire != "native":
        raise InvalidInput("ways of feeding are compared over the native wire only", "feeding")
    bench = _Bench(options, Recited(speak), thoughts, progress, clock)
    by_load: Mapping[int, Sequence[Outcome]] = {}
    fed: Mapping[Feed, Sequence[Measured]] = {}
    verdicts: Sequence[Verdict] = ()

    def reported() -> Report:
        """What is known so far; written down after each part, so that a run that is broken off is not lost."""
        report = Report(
            title=f"Conversations with {options.name}",
            conditions=at,
            tables=tuple(_tables(options, by_load, verdicts, fed)),
            details=_details(by_load, verdicts, fed),
        )
        if options.out is not None:
            write(report, options.out)
        return report

    by_load = bench.conversations()
    reported()
    fed = bench.feeding()
    reported()
    verdicts = bench.clips()
    return reported()


class _Bench:
    """One run: numbers its calls, so that the model's log can be told apart."""

    def __init__(
        self,
        options: ConversationOptions,
        speak: Speak,
        thoughts: Callable[[], Sequence[Thought]],
        progress: Callable[[str], None],
        clock: Clock,
    ) -> None:
        self._options = options
        self._speak = speak
        self._thoughts = thoughts
        self._progress = progress
        self._native = NativeWire(options.url, clock, api_key=options.api_key, voice=options.voice)
        realtime = RealtimeWire(options.url, clock, api_key=options.api_key, voice=options.voice)
        wire: Wire = self._native if options.wire == "native" else realtime
        self._caller = Caller(wire, clock)
        self._recorded = read_aloud(options.recorded) if options.recorded else None
        self._number = 0

    def conversations(self) -> dict[int, list[Outcome]]:
        options = self._options
        if not (options.scenarios or options.recorded) or not options.at_once:
            return {}
        self._progress("synthesising the caller's lines")
        by_load: dict[int, list[Outcome]] = {}
        for at_once in options.at_once:
            rounds = self._rounds()
            warm_up = rounds[:1] * WARM_UP if not by_load else []
            self._progress(f"{len(rounds)} conversations, {at_once} at once")
            parts = [self._part(scenario, voice) for scenario, voice in [*warm_up, *rounds]]
            calls = self._with_thoughts(hold_all(self._caller, parts, at_once, self._tell))
            kept = calls[len(warm_up) :]
            if all(call.error and not call.events for call in kept):
                raise ModelUnavailable(f"{options.name} does not converse: {kept[0].error}")
            self._keep(kept, f"{at_once}")
            by_load[at_once] = [measure_call(call) for call in kept]
        return by_load

    def clips(self) -> list[Verdict]:
        options = self._options
        if not options.clips:
            return []
        clip_set = shipped_clips()
        self._progress("making the clips")
        every = labelled(clip_set, self._speak, options.noises, options.babble, seed=options.seed)
        clips = spread(every, options.clips)
        self._progress(f"{len(clips)} clips over a speaking agent, {options.clips_at_once} at once")
        by_number = {self._number + index: clip for index, clip in enumerate(clips)}
        parts = [clip_part(clip_set, clip, number) for number, clip in by_number.items()]
        self._number += len(parts)
        calls = hold_all(self._caller, parts, options.clips_at_once, self._tell_clip)
        self._keep(calls, "clips")
        return [verdict_of(by_number[call.number], call) for call in calls]

    def feeding(self) -> dict[Feed, list[Measured]]:
        options = self._options
        if not options.questions:
            return {}
        order = turning_order(options.questions + 1)
        self._progress(f"{len(order)} questions, fed in {len(FEEDS)} ways")
        instructions = instructions_for(FEEDING)
        questions = [Question(QUESTION, instructions, feed) for feed in order]
        takes = ask_all(self._native, questions, self._tell_answer)
        fed: dict[Feed, list[Measured]] = {feed: [] for feed in FEEDS}
        for feed, take in list(zip(order, takes, strict=True))[len(FEEDS) :]:  # the first round warms up
            fed[feed].append(measure(take))
        return fed

    def _rounds(self) -> list[tuple[Scenario, int]]:
        """Scenarios in turning order, each round in another voice."""
        options = self._options
        scenarios = [*options.scenarios, *([self._recorded] if self._recorded else [])]
        count = len(scenarios)
        return [
            (scenarios[(place + round_) % count], options.seed + round_)
            for round_ in range(options.rounds)
            for place in range(count)
        ]

    def _part(self, scenario: Scenario, voice: int) -> Part:
        options = self._options
        self._number += 1
        if scenario is self._recorded:
            return Part(self._number, scenario, [samples for _, samples in options.recorded], room(options.seed))
        return part_of(scenario, self._number, voice, self._speak, options.recordings, options.seed)

    def _with_thoughts(self, calls: Sequence[Call]) -> list[Call]:
        thoughts = self._thoughts()
        return [
            replace(call, thoughts=tuple(one for one in thoughts if one.call == call.number)) for call in calls
        ]

    def _keep(self, calls: Sequence[Call], label: str) -> None:
        folder = self._options.audio
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        for call in calls:
            path = folder / f"{label}-{call.scenario.name}-{call.number:03d}.wav"
            path.write_bytes(call.recording.wav())

    def _tell(self, call: Call) -> None:
        said = sum(line.said == "said" for line in call.lines)
        trouble = f": {call.error}" if call.error else ""
        self._progress(f"  {call.scenario.name}: {said} of {len(call.lines)} lines{trouble}")

    def _tell_answer(self, question: Question, take: Take) -> None:
        self._progress(f"  {question.feed}: {take.error or f'{take.audio_s:.1f} s of answer'}")

    def _tell_clip(self, call: Call) -> None:
        if call.error:
            self._progress(f"  {call.scenario.about}: {call.error}")


def _tables(
    options: ConversationOptions,
    by_load: Mapping[int, Sequence[Outcome]],
    verdicts: Sequence[Verdict],
    fed: Mapping[Feed, Sequence[Measured]],
) -> list[Table]:
    found: list[Table] = []
    if by_load:
        groups = tables.groups_of(by_load)
        found += [
            tables.waits(groups),
            tables.stages(by_load),
            tables.interruptions(groups),
            tables.tasks(groups),
            tables.causes(by_load),
            tables.worst_turns(by_load),
        ]
    if verdicts:
        found.append(tables.selectivity(verdicts, options.clips_at_once))
    if fed:
        found.append(feeding(fed, options.pace.first_s, options.pace.token_s))
    return found


def _details(
    by_load: Mapping[int, Sequence[Outcome]],
    verdicts: Sequence[Verdict],
    fed: Mapping[Feed, Sequence[Measured]],
) -> dict[str, Any]:
    return {
        "calls": {str(at_once): list(outcomes) for at_once, outcomes in by_load.items()},
        "clips": list(verdicts),
        "feeding": {feed: list(taken) for feed, taken in fed.items()},
    }


def _notes(options: ConversationOptions) -> tuple[str, ...]:
    pace = options.pace
    return (
        f"the model is scripted: {1e3 * pace.first_s:.0f} ms to the first token, {1e3 * pace.token_s:.0f} ms a token",
        "the caller's lines are synthesised by hibari in three pitches, over a room at -65 dBFS; easier than people",
        *(("recorded: sentences of real voices",) if options.recorded else ()),
    )
