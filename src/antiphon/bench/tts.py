"""``antiphon bench tts``: what is measured in which order. A thin command calls :func:`run` and shows the report."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from antiphon.bench import tts_tables as tables
from antiphon.bench.arrivals import MEASURED_STARTS, Schedule, bursts, one_at_a_time, steady
from antiphon.bench.capacity import Limits, Verdict, judge, search
from antiphon.bench.conditions import conditions
from antiphon.bench.duel import Plan, Score, describe, interleave
from antiphon.bench.measure import PRE_ROLL_S
from antiphon.bench.message_cost import compare
from antiphon.bench.player import Player
from antiphon.bench.process import listening_pid
from antiphon.bench.report import Group, Report, Table, write
from antiphon.bench.systems import PEERS, Progress, Server, System, peer, silent, try_out
from antiphon.bench.target.contract import Target
from antiphon.bench.workload import TextKind, distinct, generate, wer_list_hash, wer_sentences
from antiphon.core.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from antiphon.bench.wer import Recognise

TRY_OUT_TEXTS = 8
HOPELESS = 1.0
"""A peer whose places an open-loop load would keep busier than this is not run under it: its queue has no end."""


@dataclass(frozen=True, slots=True)
class TtsOptions:
    """What to measure. Nothing but ``streams`` is on by default.

    ``streams``: loads; 1 is one caller after the other on an idle server, N > 1 a steady state of N. ``starts``
    measured per load and system, in ``blocks`` interleaved blocks. ``burst``: also all N of each load at once,
    ``burst_times`` times. ``peers``: of ``hibari``, ``kokoro``; run beside the server under each load that they can
    carry, for at most ``peer_budget_s`` per load. ``capacity``: search the largest load within ``limits``.
    ``overload``: a steady load that is meant to be too high (0: none). ``echo``: cost per message against a bare echo,
    on ``echo_streams`` callers; ``echo_model``: another model id for it (a scripted engine, if the server has one);
    ``server_pid``: 0 looks up who listens on the URL's port. ``wer``: read the committed sentences back, needs a
    recogniser. ``token_gap_s``: feed text token by token under all loads (None: whole).
    ``models``: files whose hashes belong into the report. ``out``: where the report goes (JSON, and Markdown beside).
    """

    server: Server
    streams: tuple[int, ...] = (1, 16)
    text: TextKind = "words25"
    seed: int = 1
    starts: int = MEASURED_STARTS
    blocks: int = 4
    burst: bool = False
    burst_times: int = 5
    peers: tuple[str, ...] = ()
    peer_threads: int = 0
    peer_budget_s: float = 240.0
    kokoro_files: tuple[Path, Path] | None = None
    capacity: bool = False
    capacity_start: int = 16
    capacity_highest: int = 512
    limits: Limits = field(default_factory=Limits)
    overload: int = 0
    echo: bool = False
    echo_streams: int = 4
    echo_model: str = ""
    server_pid: int = 0
    wer: bool = False
    wer_token_gap_s: float = 0.02
    token_gap_s: float | None = None
    pre_roll_s: float = PRE_ROLL_S
    timeout_s: float = 60.0
    models: tuple[tuple[str, Path], ...] = ()
    notes: tuple[str, ...] = ()
    out: Path | None = None


def run(options: TtsOptions, *, recognise: "Recognise | None" = None, progress: Progress = silent) -> Report:
    """Measure and report. ``recognise``: 16 kHz audio -> text, for ``wer``.

    Raises ``InvalidInput`` for options that do not go together, ``ModelUnavailable`` when the server or a peer that was
    asked for does not speak; both before any long work.
    """
    _check(options, recognise)
    workloads = {f"{options.text}, seed {options.seed}": generate(options.text, options.starts, options.seed).sha256}
    if options.wer:
        workloads["wer300"] = wer_list_hash()
    at = conditions(dict(options.models), workloads, options.notes)
    with Player(timeout_s=options.timeout_s) as player:
        bench = _Bench(options, player, progress)
        if options.streams:
            bench.speed()
        if options.burst:
            bench.bursts()
        if options.capacity:
            bench.capacity()
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


def _check(options: TtsOptions, recognise: "Recognise | None") -> None:
    if options.wer and recognise is None:
        raise InvalidInput("error rates need a recogniser", "wer")
    if any(streams < 1 for streams in options.streams):
        raise InvalidInput("streams must be positive", "streams")
    if options.blocks < 1 or options.starts < options.blocks:
        raise InvalidInput("there must be at least one start per block", "starts")
    for name in options.peers:
        if name not in PEERS:
            raise InvalidInput(f"unknown peer {name!r}; known: {', '.join(PEERS)}", "peers")


class _Bench:
    """One run: systems that have been tried out, one source of texts for all of it, and what has come of it so far."""

    def __init__(self, options: TtsOptions, player: Player, progress: Progress) -> None:
        self.options = options
        self.player = player
        self.progress = progress
        self.texts: Iterator[str] = distinct(options.text, options.seed)
        self.tables: list[Table] = []
        self.groups: list[Group] = []
        self.details: dict[str, object] = {}
        self.threads = options.peer_threads or os.cpu_count() or 1
        self.server = self._system(options.server.target())
        self.peers = [self._system(self._peer(name), self.threads) for name in options.peers]

    def speed(self) -> None:
        loads: list[tables.Loaded] = []
        for streams in self.options.streams:
            systems, left_out = self._able(streams)
            plan = self._idle if streams == 1 else self._steady(streams)
            scores = self._interleave(systems, plan, self.options.blocks)
            loads.append((describe(plan(self.server, 0)), scores, left_out))
        self._add(tables.speed("First audio", loads, self.options.pre_roll_s, self.options.token_gap_s), loads)

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
        count = 0

        def probe(streams: int) -> Verdict:
            nonlocal count
            count += 1
            score = self._interleave([self.server], self._steady(streams, 1, salt=1000 + count), 1)[0]
            verdict = judge(streams, score.figures, self.options.limits)
            self.progress(f"capacity: {streams} streams {'hold' if verdict.holds else 'fail: ' + verdict.reasons[0]}")
            return verdict

        found = search(probe, start=self.options.capacity_start, highest=self.options.capacity_highest)
        self.tables.append(tables.capacity(found, self.options.limits, self.options.pre_roll_s, self.server.playing_s))
        self.details["capacity"] = found

    def overload(self) -> None:
        score = self._interleave([self.server], self._steady(self.options.overload, 1, salt=2000), 1)[0]
        self.tables.append(tables.overload(self.options.overload, score))
        self.groups.append(score.group(f"{self.options.overload} streams, overload"))

    def message_cost(self) -> None:
        pid = self.options.server_pid or listening_pid(port_of(self.options.server.url))
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
        self.tables.append(tables.message_cost(costs, self.options.echo_streams, self.options.echo_model))
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

    def _interleave(self, systems: Sequence[System], plan: Plan, blocks: int) -> list[Score]:
        return interleave(
            self.player,
            systems,
            plan,
            self.texts,
            blocks=blocks,
            pre_roll_s=self.options.pre_roll_s,
            token_gap_s=self.options.token_gap_s,
            progress=self.progress,
        )

    def _idle(self, system: System, block: int) -> Schedule:
        """One caller; a slow peer gets as many starts as its budget of time allows."""
        starts = self.options.starts
        if system is not self.server:
            starts = min(starts, max(20, int(self.options.peer_budget_s / system.service_s)))
        return one_at_a_time(-(-starts // self.options.blocks), first=1)

    def _steady(self, streams: int, blocks: int = 0, salt: int = 0) -> Plan:
        measured = -(-self.options.starts // (blocks or self.options.blocks))

        def plan(system: System, block: int) -> Schedule:
            return steady(streams, system.playing_s, self.options.seed + salt + block, measured=measured)

        return plan

    def _able(self, streams: int, *, burst: bool = False) -> tuple[list[System], list[str]]:
        """The systems to run under a load, and why others are left out."""
        able, left_out = [self.server], []
        for system in self.peers:
            demand = system.demand(streams)
            seconds = streams * system.service_s * self.options.burst_times / self.threads
            if burst and seconds > self.options.peer_budget_s:
                left_out.append(f"{system.name} was left out: it would take {seconds:.0f} s")
            elif not burst and streams > 1 and demand is not None and demand > HOPELESS:
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


def port_of(url: str) -> int:
    """The TCP port of a server's address. Raises ``ModelUnavailable`` where that is none."""
    parts = urlsplit(url)
    if parts.port:
        return parts.port
    if parts.scheme in ("https", "wss"):
        return 443
    if parts.scheme in ("http", "ws"):
        return 80
    raise ModelUnavailable(f"{url} is no address of a server")
