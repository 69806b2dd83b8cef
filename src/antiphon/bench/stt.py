"""``antiphon bench stt``: what is measured in which order. A thin command calls :func:`run` and shows the report."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from antiphon.audio import pcm
from antiphon.audio.resample import resample
from antiphon.bench import stt_tables as tables
from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.clip import EAR_RATE_HZ, Clip, clips_hash
from antiphon.bench.conditions import conditions
from antiphon.bench.flatness import flatness
from antiphon.bench.hearing import Hearing, hearing_of
from antiphon.bench.measure_stt import Heard, TurnHeard, measure_final, measure_turn, word_time_errors
from antiphon.bench.meter import Meter
from antiphon.bench.player import Player
from antiphon.bench.process import serving_pid
from antiphon.bench.report import Report, Table, write
from antiphon.bench.spoil import noisy
from antiphon.bench.stt_options import SttOptions, spoiled
from antiphon.bench.systems import Progress, silent
from antiphon.bench.target.cartesia_stt_wire import Ear
from antiphon.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from antiphon.bench.wer import Recognise

GRACE_S = 60.0
"""Added to the longest clip: a clip that takes longer has failed."""


def run(options: SttOptions, *, offline: "Recognise | None" = None, progress: Progress = silent) -> Report:
    """Measure and report. ``offline``: 16 kHz audio -> text, the same weights without streaming.

    Raises ``InvalidInput`` for options that do not go together, ``ModelUnavailable`` when the server does not listen.
    """
    options.check()
    workloads = {
        name: clips_hash(clips)
        for name, clips in (("clips", options.clips), ("turns", options.turns), ("nothing said", options.unspoken))
        if clips
    }
    at = conditions(dict(options.models), workloads, options.notes)
    longest_s = max((clip.audio_s for clip in (*options.clips, *options.turns, *options.unspoken)), default=0.0)
    with Player(timeout_s=max(longest_s, 60.0 * bool(options.minutes)) + GRACE_S) as player:
        bench = _Bench(options, player, offline, progress)
        bench.try_out()
        if options.clips:
            bench.finals()
        if options.turns:
            bench.turns()
        if options.unspoken:
            bench.nothing()
        if bench.loads:
            bench.tables.append(tables.loads(bench.loads))
        if options.minutes:
            bench.minutes()
    report = Report("antiphon bench stt", at, tuple(bench.tables), (), bench.details)
    if options.out is not None:
        write(report, options.out)
    return report


class _Bench:
    """One run: the server's process, and what has come of it so far."""

    def __init__(self, options: SttOptions, player: Player, offline: "Recognise | None", progress: Progress) -> None:
        self.options = options
        self.player = player
        self.offline = offline
        self.progress = progress
        self.tables: list[Table] = []
        self.loads: list[tables.Load] = []
        self.details: dict[str, object] = {}
        self.pid = options.server_pid or serving_pid(options.server.url)
        self._offline_texts: dict[tuple[str, str], str] = {}

    def try_out(self) -> None:
        """One clip, uncounted: warms the server up and shows whether it listens at all."""
        clip = min((*self.options.clips, *self.options.turns, *self.options.unspoken), key=lambda clip: clip.audio_s)
        self.progress(f"{self.options.server.name}: trying out")
        ear = self.options.server.finalized() if self.options.clips else self.options.server.turns()
        heard, _ = self._hear(ear, [clip], 1)
        if heard[0].error:
            raise ModelUnavailable(f"{self.options.server.name} does not listen: {heard[0].error}")

    def finals(self) -> None:
        heard: dict[tuple[str, int], list[Hearing]] = {}
        clips = list(self.options.clips) * self.options.repeat
        for streams in self.options.streams:
            for hearing in self._load("clean", self.options.server.finalized(), clips, streams):
                heard.setdefault((hearing.clip.group, streams), []).append(hearing)
        streams = self.options.spoiled_streams
        worse = spoiled(self.options, self.options.clips)
        if worse:
            for hearing in self._load("spoiled", self.options.server.finalized(), worse, streams):
                heard.setdefault((hearing.clip.group, streams), []).append(hearing)
        if not heard:
            return
        figures = {key: [measure_final(hearing) for hearing in some] for key, some in heard.items()}
        self.tables.append(tables.finals(figures))
        self._accuracy(heard)
        times = {key: [error for one in some for error in word_time_errors(one)] for key, some in heard.items()}
        if any(times.values()):
            self.tables.append(tables.word_times({key: errors for key, errors in times.items() if errors}))
        self.details["finals"] = _flat(figures)

    def turns(self) -> None:
        found: dict[tuple[str, int], list[TurnHeard]] = {}
        heard: dict[tuple[str, int], list[Hearing]] = {}
        for streams in self.options.turn_streams:
            self._turns(self.options.turns, streams, "turns", found, heard)
        for snr_db in self.options.turn_snrs_db:
            clips = [
                noisy(clip, self.options.noises, snr_db, self.options.seed, f"{clip.group}, {snr_db:g} dB")
                for clip in self.options.turns
            ]
            self._turns(clips, self.options.turn_streams[0], f"turns, {snr_db:g} dB", found, heard)
        notes = [f"Left out: {count} turns ({reason})." for reason, count in self.options.turns_left_out.items()]
        self.tables.append(tables.turns(found, notes))
        self._accuracy({key: some for key, some in heard.items() if any(item.clip.reference for item in some)})
        self.details["turns"] = _flat(found)

    def nothing(self) -> None:
        clips = self.options.unspoken
        streams = min(len(clips), self.options.spoiled_streams)
        server = self.options.server
        finals = list(map(measure_final, self._load("nothing said", server.finalized(), clips, streams)))
        turns = list(map(measure_turn, self._load("nothing said, turns", server.turns(), clips, streams)))
        self.tables.append(tables.nothing(list(zip(finals, turns, strict=True))))
        self.details["nothing_said"] = {"finals": finals, "turns": turns}

    def minutes(self) -> None:
        clips = self.options.clips or self.options.turns
        faster = self.options.faster
        found = flatness(
            self.player,
            self.options.server.long(0.0 if faster else 1.0),
            clips,
            self.options.minutes,
            self.pid,
            seed=self.options.seed,
            progress=self.progress,
        )
        self.tables.append(tables.flat(found, "as fast as the server reads" if faster else "in real time"))
        self.details["minutes"] = found

    def _turns(
        self,
        clips: Sequence[Clip],
        streams: int,
        name: str,
        found: dict[tuple[str, int], list[TurnHeard]],
        heard: dict[tuple[str, int], list[Hearing]],
    ) -> None:
        """Adds the sets, then their kinds, then all of them together."""
        hearings = self._load(name, self.options.server.turns(), clips, streams)
        whole = "all" + name.removeprefix("turns")
        figures = [measure_turn(hearing) for hearing in hearings]
        for group in dict.fromkeys(figure.group for figure in figures):
            of_group = [figure for figure in figures if figure.group == group]
            found[group, streams] = of_group
            heard[group, streams] = [hearing for hearing in hearings if hearing.clip.group == group]
            kinds = dict.fromkeys(figure.kind for figure in of_group if figure.kind)
            for kind in kinds if len(kinds) > 1 else ():
                found[f"- {group}: {kind}", streams] = [figure for figure in of_group if figure.kind == kind]
        found[whole, streams] = figures

    def _load(self, name: str, ear: Ear, clips: Sequence[Clip], streams: int) -> list[Hearing]:
        self.progress(f"{name}: {len(clips)} clips, {sum(clip.audio_s for clip in clips):.0f} s, {streams} streams")
        hearings, load = self._hear(ear, clips, streams, name)
        if load is not None:
            self.loads.append(load)
        return hearings

    def _hear(
        self, ear: Ear, clips: Sequence[Clip], streams: int, name: str = ""
    ) -> tuple[list[Hearing], tables.Load | None]:
        meter = Meter(self.pid)
        meter.start()
        recordings, player = self.player.record(ear, list(clips), ClosedLoop(streams, 0, len(clips)))
        server = meter.stop()
        self.player.part(ear)
        hearings = [
            hearing_of(clip, recording, turns=ear.turns) for clip, recording in zip(clips, recordings, strict=True)
        ]
        audio_s = sum(_played_s(hearing, turns=ear.turns) for hearing in hearings)
        return hearings, tables.Load(name, streams, audio_s, server, player) if audio_s else None

    def _accuracy(self, heard: Mapping[tuple[str, int], Sequence[Hearing]]) -> None:
        try:
            from antiphon.bench.stt_words import accuracy
        except ImportError:
            self.tables.append(tables.accuracy([], ["Error rates need `pip install 'antiphon[bench]'`."]))
            return
        rows = [accuracy(group, streams, some, self._offline) for (group, streams), some in heard.items()]
        if rows:
            self.tables.append(tables.accuracy(rows))

    def _offline(self, clip: Clip) -> str | None:
        """What the same weights make of the whole recording; asked once for each clip, never during a load."""
        if self.offline is None:
            return None
        key = (clip.group, clip.name)
        if key not in self._offline_texts:
            sent = pcm.decode(clip.data, clip.encoding)
            self._offline_texts[key] = self.offline(resample(sent, clip.rate_hz, EAR_RATE_HZ))
        return self._offline_texts[key]


def _played_s(hearing: Hearing, *, turns: bool) -> float:
    """Seconds of audio that went out; a clip may have been broken off."""
    if hearing.begin_s is None:
        return 0.0
    if not turns:
        return hearing.clip.until_true_end().audio_s
    return min(hearing.clip.audio_s, max(0.0, (hearing.close_s or hearing.begin_s) - hearing.begin_s))


def _flat(groups: Mapping[tuple[str, int], Sequence[Heard | TurnHeard]]) -> list[dict[str, object]]:
    return [
        {"group": group, "streams": streams, "takes": list(takes)}
        for (group, streams), takes in groups.items()
        if not group.startswith(("- ", "all"))
    ]
