"""Several systems under one load in one run, interleaved: block by block, in turning order (A B, B A, ...).

Whatever the machine does in between, a neighbour's job, heat, a slower clock, it does to all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from antiphon.bench.arrivals import ClosedLoop, OpenLoop, Schedule
from antiphon.bench.diagnosis import faults, waterfall
from antiphon.bench.measure import Distribution, Measured, distribution, measure
from antiphon.bench.player import Played, Player, PlayerLoad
from antiphon.bench.quality import Quality
from antiphon.bench.recording import Take
from antiphon.bench.report import Group
from antiphon.bench.systems import Progress, System, silent
from antiphon.bench.target.contract import Line
from antiphon.bench.workload import tokens

FIGURES = (
    "late_s",
    "ttfb_s",
    "ttfa_s",
    "heard_s",
    "leading_silence_s",
    "text_to_audio_s",
    "sustained_s",
    "needed_pre_roll_s",
    "jitter_s",
    "stall_s",
    "recovered_s",
    "last_byte_s",
    "realtime_factor",
    "rtf",
    "refused_s",
)
"""Names of the fields of :class:`Measured` that get a distribution."""

Plan = Callable[[System, int], Schedule]
"""(system, block) -> what to play in that block. A seed must depend on the block, or all blocks are alike."""


@dataclass(slots=True)
class Score:
    """What one system did over all blocks."""

    system: str
    figures: list[Measured] = field(default_factory=list)
    loads: list[PlayerLoad] = field(default_factory=list)
    kept: list[Take] = field(default_factory=list)
    """Some takes, whole, for what is judged later."""
    sent_bytes: int = 0
    pcm_bytes: int = 0

    def add(self, played: Played, pre_roll_s: float, keep: int = 0) -> None:
        """``keep``: of all blocks together, at most as many takes whole."""
        takes = played.measured_takes
        self.figures += [measure(take, pre_roll_s) for take in takes]
        self.loads.append(played.load)
        self.kept += [take for take in takes if not take.error][: max(0, keep - len(self.kept))]
        good = [take for take in takes if not take.error]
        self.sent_bytes += sum(take.wire_bytes for take in good)
        self.pcm_bytes += sum(len(chunk) for take in good for chunk in take.chunks)

    @property
    def overhead(self) -> float | None:
        """Bytes on the wire, as the client's library hands them over, per byte of PCM."""
        return self.sent_bytes / self.pcm_bytes if self.pcm_bytes else None

    @property
    def cpu_share(self) -> float:
        wall_s = sum(load.wall_s for load in self.loads)
        return sum(load.cpu_share * load.wall_s for load in self.loads) / wall_s if wall_s else 0.0

    @property
    def lag_max_s(self) -> float:
        return max((load.lag_max_s for load in self.loads), default=0.0)

    def group(
        self,
        load: str,
        *,
        streams: float = 0.0,
        connects_s: Sequence[float] = (),
        round_trips_s: Sequence[float] = (),
        idle_first_byte_s: float | None = None,
        quality: Quality | None = None,
    ) -> Group:
        """``idle_first_byte_s``: what the first byte takes the same system without load, if that was measured."""
        rtt_s = min(round_trips_s, default=0.0)
        found = faults(self.figures, connects_s=connects_s, rtt_s=rtt_s, idle_first_byte_s=idle_first_byte_s)
        return Group(
            self.system,
            load,
            tuple(self.figures),
            distributions(self.figures),
            found,
            tuple(waterfall(self.figures, at, rtt_s, idle_first_byte_s) for at in (0.5, 0.95)),
            distribution(connects_s),
            distribution(round_trips_s),
            streams,
            quality,
        )


def interleave(
    player: Player,
    systems: Sequence[System],
    plan: Plan,
    texts: Iterator[str] | Iterator[str | Line],
    *,
    blocks: int,
    pre_roll_s: float,
    token_gap_s: float | None = None,
    keep: int = 0,
    progress: Progress = silent,
) -> list[Score]:
    """Play ``blocks`` blocks per system; all systems get the same texts in a block, none gets a text twice.

    ``token_gap_s``: texts arrive token by token, one every so many seconds (None: whole). ``keep``: see
    :meth:`Score.add`.
    """
    scores = [Score(system.name) for system in systems]
    for block in range(blocks):
        schedules = [plan(system, block) for system in systems]
        longest = max(schedule.requests for schedule in schedules)
        lines = [line(text, token_gap_s) for text in islice(texts, longest)]
        order = range(len(systems)) if block % 2 == 0 else reversed(range(len(systems)))
        for at in order:
            system, schedule = systems[at], schedules[at]
            progress(f"{system.name}: {describe(schedule)}, block {block + 1} of {blocks}")
            scores[at].add(player.play(system.target, lines[: schedule.requests], schedule), pre_roll_s, keep)
    return scores


def line(text: str | Line, token_gap_s: float | None = None) -> Line:
    whole = text if isinstance(text, Line) else Line(text)
    return whole if token_gap_s is None else replace(whole, tokens=tokens(whole.text), token_gap_s=token_gap_s)


def describe(schedule: Schedule) -> str:
    """A load in words: "16 streams, steady"."""
    if isinstance(schedule, ClosedLoop):
        return "1 stream" if schedule.streams == 1 else f"{schedule.streams} callers, closed loop"
    assert isinstance(schedule, OpenLoop)
    return f"{schedule.streams} streams, {schedule.kind}"


def distributions(figures: Sequence[Measured]) -> dict[str, Distribution]:
    """Distribution of every figure that some take has. Failed takes count for ``late_s`` and ``refused_s`` only."""
    found = {}
    for name in FIGURES:
        counted = figures if name in ("late_s", "refused_s") else [figure for figure in figures if not figure.error]
        values = [value for figure in counted if (value := getattr(figure, name)) is not None]
        spread = distribution(values)
        if spread is not None:
            found[name] = spread
    return found
