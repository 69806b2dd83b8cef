"""``antiphon bench tts``: what is measured in which order. A thin command calls :func:`run` and shows the report."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, cycle
from statistics import median
from typing import TYPE_CHECKING

from antiphon.bench import tts_load_tables as loading
from antiphon.bench import tts_tables as tables
from antiphon.bench.arrivals import ClosedLoop, Schedule, bursts, one_at_a_time
from antiphon.bench.capacity import Capacity, Verdict, judge, search
from antiphon.bench.conditions import conditions, network
from antiphon.bench.duel import Plan, Score, describe, interleave
from antiphon.bench.message_cost import compare
from antiphon.bench.player import Player
from antiphon.bench.process import serving_pid
from antiphon.bench.quality import Mos
from antiphon.bench.quality import judge as judge_quality
from antiphon.bench.report import Group, Report, Table, write
from antiphon.bench.systems import WIRES, Progress, System, peer, silent, try_out
from antiphon.bench.target.contract import Line, Target, links_of
from antiphon.bench.tts_loads import Loads
from antiphon.bench.tts_options import TtsOptions, check
from antiphon.bench.workload import distinct, generate, wer_list_hash, wer_sentences
from antiphon.core.errors import AntiphonError
from antiphon.core.frame import Samples

if TYPE_CHECKING:
    from antiphon.bench.wer import Recognise

TRY_OUT_TEXTS = 8
HOPELESS = 1.0
"""A peer whose places an open-loop load would keep busier than this is not run under it: its queue has no end."""


def run(
    options: TtsOptions,
    *,
    recognise: "Recognise | None" = None,
    listener: Callable[[Samples], Mos] | None = None,
    progress: Progress = silent,
) -> Report:
    """Measure and report. ``recognise``: 16 kHz audio -> text, for ``wer`` and ``quality``; ``listener``: 16 kHz audio
    -> scores of listening quality, for ``quality``.

    Raises ``InvalidInput`` for options that do not go together, ``ModelUnavailable`` when the server or a peer that was
    asked for does not speak; both before any long work.
    """
    check(options, recognise)
    workloads = {f"{options.text}, seed {options.seed}": generate(options.text, options.starts, options.seed).sha256}
    if options.scenario is not None:
        workloads[options.scenario.title] = options.scenario.sha256
    if options.wer:
        workloads["wer300"] = wer_list_hash()
    at = conditions(
        dict(options.models), workloads, options.notes, network=network(options.server.url), region=options.region,
        settings={
            "wire": options.server.wire, "starts": options.starts, "blocks": options.blocks, "seed": options.seed,
            "pre-roll ms": f"{1e3 * options.pre_roll_s:g}", "loads": ", ".join(map(str, options.streams)) or "none",
        },
    )  # fmt: skip
    with Player(timeout_s=options.timeout_s) as player:
        bench = _Bench(options, player, progress, recognise, listener)
        if bench.loads.all():
            bench.speed()
        if options.containers:
            bench.containers()
        if options.burst:
            bench.bursts()
        if options.capacity:
            bench.capacity()
        if options.capacity_bursts:
            bench.capacity_bursts()
        if options.overload:
            bench.overload()
        if options.echo:
            bench.message_cost()
        if options.wer and recognise is not None:
            bench.read_back(recognise)
    report = Report("antiphon bench tts", at, tuple(bench.tables), tuple(bench.groups), bench.details)
    if options.out is not None:
        write(report, options.out)
    return report


class _Bench:
    """One run: systems that have been tried out, one source of texts for all of it, and what has come of it so far."""

    def __init__(
        self,
        options: TtsOptions,
        player: Player,
        progress: Progress,
        recognise: "Recognise | None",
        listener: Callable[[Samples], Mos] | None,
    ) -> None:
        self.options = options
        self.player = player
        self.progress = progress
        self.recognise = recognise
        self.listener = listener
        self.texts: Iterator[str] = distinct(options.text, options.seed)
        self.lines: Iterator[str | Line] = self.texts
        if options.scenario is not None:
            self.lines = cycle(Line(each.text, language=each.language) for each in options.scenario.texts)
        self.idle_s: dict[str, float] = {}
        self.tables: list[Table] = []
        self.groups: list[Group] = []
        self.details: dict[str, object] = {}
        self.threads = options.peer_threads or os.cpu_count() or 1
        self.server = self._system(options.server.target())
        self.loads = Loads(options, self.server)
        self.peers = [self._system(self._peer(name), self.threads) for name in options.peers]

    def speed(self) -> None:
        loads: list[tables.Loaded] = []
        groups: list[Group] = []
        for streams, plan in self.loads.all():
            schedule = plan(self.server, 0)
            closed = isinstance(schedule, ClosedLoop)
            systems, left_out = self._able(schedule.streams, closed=closed)
            scores = self._interleave(systems, plan, self.loads.blocks)
            load = describe(schedule)
            loads.append((load, scores, left_out))
            groups += [self._group(score, system, load, streams) for score, system in zip(scores, systems, strict=True)]
        options = self.options
        self.tables += [
            tables.speed("First audio", loads, options.pre_roll_s, options.token_gap_s),
            tables.boundaries(groups),
            tables.waits(groups),
        ]
        if options.quality:
            self.tables.append(tables.quality(groups))
        self.groups += groups

    def containers(self) -> None:
        """The same texts over every wire that the server has, in turns; what each costs in bytes and time."""
        systems = []
        reasons = []
        for wire in WIRES:
            try:
                target = replace(self.options.server, wire=wire, name=wire).target()
                systems.append(try_out(self.player, target, [next(self.texts)]))
            except AntiphonError as error:
                reasons.append(f"{wire} was left out: {error}")
        scores = self._interleave(systems, lambda *_: one_at_a_time(10, first=1), 2, self.texts)
        self.tables.append(tables.containers([(score, score.overhead) for score in scores], reasons))
        for system in systems:
            self.player.part(system.target)

    def bursts(self) -> None:
        loads: list[tables.Loaded] = []
        for streams in (load for load in self.options.streams if load > 1):
            systems, left_out = self._able(streams, burst=True)

            def plan(system: System, block: int, streams: int = streams) -> Schedule:
                return bursts(streams, 1, system.playing_s)

            scores = self._interleave(systems, plan, self.options.burst_times)
            loads.append((f"{streams} at once, {self.options.burst_times} times", scores, left_out))
        self._add(tables.speed("Bursts", loads, self.options.pre_roll_s, self.options.token_gap_s), loads)

    def capacity(self) -> None:
        found = self._largest("streams", lambda streams, probe: self.loads.steady(streams, 1, salt=1000 + probe))
        self._add_capacity("capacity", found, "Concurrent streams")

    def capacity_bursts(self) -> None:
        """The largest number of requests at the same moment, three times in a row."""
        found = self._largest("at once", lambda streams, _: lambda system, _: bursts(streams, 3, system.playing_s))
        self._add_capacity("capacity_bursts", found, "Requests at once")

    def _largest(self, what: str, plan: Callable[[int, int], Plan]) -> Capacity:
        """``plan``: (streams, number of the probe) -> what to play."""
        options = self.options
        numbers = count(1)

        def probe(streams: int) -> Verdict:
            score = self._interleave([self.server], plan(streams, next(numbers)), 1)[0]
            verdict = judge(streams, score.figures, options.limits)
            said = "hold" if verdict.holds else f"fail: {verdict.reasons[0]}"
            self.progress(f"capacity: {streams} {what} {said}")
            return verdict

        return search(probe, start=options.capacity_start, highest=options.capacity_highest)

    def _add_capacity(self, name: str, found: Capacity, title: str) -> None:
        options = self.options
        self.tables.append(loading.capacity(found, options.limits, options.pre_roll_s, self.server.playing_s, title))
        self.details[name] = found

    def overload(self) -> None:
        score = self._interleave([self.server], self.loads.steady(self.options.overload, 1, salt=2000), 1)[0]
        self.tables.append(loading.overload(self.options.overload, score))
        self.groups.append(score.group(f"{self.options.overload} streams, overload"))

    def message_cost(self) -> None:
        pid = self.options.server_pid or serving_pid(self.options.server.url)
        if not pid:
            note = "The server's process is not on this machine, or not this user's: give its pid."
            self.tables.append(Table("Cost per message", ("",), (), (note,)))
            return
        system = self.server
        if self.options.echo_model:
            system = self._system(self.options.server.target(model=self.options.echo_model))
        costs = compare(
            self.player,
            system,
            pid,
            self.texts,
            streams=self.options.echo_streams,
            blocks=self.options.blocks,
            progress=self.progress,
        )
        self.tables.append(loading.message_cost(costs, self.options.echo_streams, self.options.echo_model))
        self.details["message_cost"] = costs

    def read_back(self, recognise: "Recognise") -> None:
        from antiphon.bench.roundtrip import Reader, read_back

        baseline = next((system for system in self.peers if system.name == "hibari"), None)
        if baseline is None:
            baseline = self._system(self._peer("hibari"), self.threads)
        target = self.server.target
        readers = [
            Reader("hibari", baseline.target),
            Reader(target.name, target),
            Reader(f"{target.name}, token by token", target, self.options.wer_token_gap_s),
        ]
        backs = read_back(self.player, readers, wer_sentences("all"), recognise, progress=self.progress)
        self.tables.append(tables.read_back(backs))
        self.details["read_back"] = backs

    def _group(self, score: Score, system: System, load: str, streams: float) -> Group:
        links = links_of(system.target)
        quality = None
        if self.options.quality:
            self.progress(f"quality: {system.name}, {load}")
            quality = judge_quality(score.kept, self.recognise, self.listener)
        group = score.group(
            load, streams=streams, connects_s=links.connects_s, round_trips_s=links.rtts_s,
            idle_first_byte_s=self.idle_s.get(score.system), quality=quality,
        )  # fmt: skip
        firsts = [take.ttfb_s for take in score.figures if take.ttfb_s is not None]
        if streams == 1 and firsts:
            self.idle_s.setdefault(score.system, median(firsts))
        return group

    def _interleave(
        self, systems: Sequence[System], plan: Plan, blocks: int, lines: Iterator[str | Line] | None = None
    ) -> list[Score]:
        return interleave(
            self.player,
            systems,
            plan,
            self.lines if lines is None else lines,
            blocks=blocks,
            pre_roll_s=self.options.pre_roll_s,
            token_gap_s=self.options.token_gap_s,
            keep=self.options.quality_takes if self.options.quality else 0,
            progress=self.progress,
        )

    def _able(self, streams: int, *, burst: bool = False, closed: bool = False) -> tuple[list[System], list[str]]:
        """The systems to run under a load, and why others are left out."""
        able, left_out = [self.server], []
        for system in self.peers:
            demand = system.demand(streams)
            seconds = streams * system.service_s * self.options.burst_times / self.threads
            if burst and seconds > self.options.peer_budget_s:
                left_out.append(f"{system.name} was left out: it would take {seconds:.0f} s")
            elif not burst and not closed and streams > 1 and demand is not None and demand > HOPELESS:
                left_out.append(
                    f"{system.name} was not run at {streams} streams: alone it takes {system.service_s:.2f} s for "
                    f"{system.playing_s:.1f} s of audio, so its {self.threads} threads would need {demand:.1f} times "
                    "the time there is"
                )
            else:
                able.append(system)
        return able, left_out

    def _system(self, target: Target, places: int | None = None) -> System:
        self.progress(f"{target.name}: trying out")
        texts = [next(self.texts) for _ in range(TRY_OUT_TEXTS if places is None or target.name == "hibari" else 2)]
        return try_out(self.player, target, texts, places)

    def _peer(self, name: str) -> Target:
        return peer(name, self.threads, self.options.kokoro_files)

    def _add(self, table: Table, loads: Sequence[tables.Loaded]) -> None:
        self.tables.append(table)
        self.groups += [score.group(load) for load, scores, _ in loads for score in scores]
