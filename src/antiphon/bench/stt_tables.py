"""The tables of ``bench stt``: from figures to rows. Pure; times are in milliseconds where no unit is named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from antiphon.bench.flatness import Flatness
from antiphon.bench.measure import Distribution, distribution
from antiphon.bench.measure_stt import LATE_END_S, Heard, TurnHeard
from antiphon.bench.meter import Metered
from antiphon.bench.player import PlayerLoad
from antiphon.bench.report import Cell, Table, milliseconds, ms_at

if TYPE_CHECKING:
    from antiphon.bench.wer import ErrorRate, RateDifference

BEHIND_WARNING_S = 0.02
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Load:
    """One run of clips: what was played how, and what it did to the server and the player."""

    name: str
    streams: int
    audio_s: float
    server: Metered
    player: PlayerLoad


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Error rates of one group under one load. ``offline``: the same weights on the whole recording; ``loss``: what
    streaming adds to it; ``apart``: streamed text against the offline text. None: cannot be known."""

    group: str
    streams: int
    clips: int
    failed: int
    rate: "ErrorRate | None"
    offline: "ErrorRate | None"
    loss: "RateDifference | None"
    apart: "ErrorRate | None"


def accuracy(rows: Sequence[Accuracy], notes: Sequence[str] = ()) -> Table:
    def percent(value: float | None) -> float | None:
        return None if value is None else round(100 * value, 2)

    return Table(
        "Words",
        (
            "clips of", "streams", "clips", "failed", "words", "WER %", "upper 95 %", "offline WER %",
            "streaming loss, points", "upper 95 %", "to offline text %",
        ),
        tuple(
            (
                row.group, row.streams, row.clips, row.failed,
                row.rate.words if row.rate else None,
                percent(row.rate.rate if row.rate else None), percent(row.rate.upper if row.rate else None),
                percent(row.offline.rate if row.offline else None),
                percent(row.loss.difference if row.loss else None), percent(row.loss.upper if row.loss else None),
                percent(row.apart.rate if row.apart else None),
            )
            for row in rows
        ),
        ("Bounds are one-sided, from a bootstrap over clips; differences are paired. Offline: the same weights, given "
         "the whole recording at once.", *notes),
    )  # fmt: skip


def finals(groups: Mapping[tuple[str, int], Sequence[Heard]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (group, streams), takes in groups.items():
        good = [take for take in takes if not take.error]
        final, flushed = _of([take.final_s for take in good]), _of([take.flush_done_s for take in good])
        first = _of([take.first_interim_s for take in good])
        words = sum(take.words for take in good)
        rows.append(
            (
                group, streams, len(takes), len(takes) - len(good), ms_at(final, "p50"), _interval(final),
                ms_at(final, "p90"), ms_at(final, "p95"), ms_at(final, "max"), ms_at(flushed, "p50"),
                ms_at(flushed, "p95"), ms_at(first, "p50"), ms_at(first, "p95"),
                sum(take.interims for take in good) / sum(take.audio_s for take in good) if good else None,
                100 * sum(take.revised for take in good) / words if words else None,
            )
        )  # fmt: skip
    notes = [
        "Final: `finalize` sent at the true end of speech -> the last words are there as finals. First words: speech "
        "begins -> the first words are shown. Revised: words shown that later changed, capitals and marks aside.",
        *_behind([take.behind_s for takes in groups.values() for take in takes]),
    ]
    return Table(
        "Finalize",
        (
            "clips of", "streams", "clips", "failed", "final p50", "p50 CI", "p90", "p95", "max", "flush_done p50",
            "p95", "first words p50", "p95", "interims per s", "revised per 100 words",
        ),
        tuple(rows),
        tuple(notes),
    )  # fmt: skip


def turns(groups: Mapping[tuple[str, int], Sequence[TurnHeard]], notes: Sequence[str] = ()) -> Table:
    rows: list[tuple[Cell, ...]] = []
    once = {id(take): take for takes in groups.values() for take in takes}  # each is in its set, its kind, and in all
    for (group, streams), takes in groups.items():
        good = [take for take in takes if not take.error]
        judged = [take for take in good if take.ends_turn]
        pauses = sum(take.pauses for take in good)
        cut = sum(take.pauses_cut for take in good)
        end = _of([take.end_s for take in judged])
        eager = _of([take.eager_s for take in judged])
        words = _of([take.words_s for take in judged])
        rows.append(
            (
                group, streams, len(takes), len(takes) - len(good), pauses,
                _percent(cut, pauses), _percent(sum(take.pauses_ended for take in good), pauses),
                _percent(sum(take.pauses_eager for take in good), pauses),
                sum(take.cut_offs for take in good) - cut, len(judged),
                _percent(sum(take.missing for take in judged), len(judged)),
                ms_at(end, "p50"), _interval(end), ms_at(end, "p90"), ms_at(end, "p95"),
                ms_at(eager, "p50"), ms_at(eager, "p90"), ms_at(_of([take.eager_lead_s for take in judged]), "p50"),
                ms_at(words, "p50"), ms_at(words, "p90"),
                sum(take.resumes for take in good), sum(take.extra_turns for take in judged),
                sum(take.shrunk for take in good),
            )
        )  # fmt: skip
    return Table(
        "Turns",
        (
            "set", "streams", "clips", "failed", "pauses", "cut off %", "in the pause %", "eager in pause %",
            "cut off elsewhere", "ends", f"missing or > {LATE_END_S:g} s %", "end p50", "p50 CI", "p90", "p95",
            "eager p50", "p90", "eager earlier by p50", "words p50", "p90", "resumes", "extra turns", "shrunk",
        ),
        tuple(rows),
        (
            "Times are from the true end of speech. Cut off: `turn.end` within a pause inside the turn, or before the "
            "speech after it has ended; in the pause: before that speech could be noticed; elsewhere: before the first "
            "such pause. Words: last change of the turn's words.",
            *_behind([take.behind_s for take in once.values()]),
            *notes,
        ),
    )  # fmt: skip


def nothing(takes: Sequence[tuple[Heard, TurnHeard | None]]) -> Table:
    return Table(
        "Nothing said",
        ("stream", "seconds", "words heard", "words shown", "turns", "text"),
        tuple(
            (
                heard.clip, round(heard.audio_s), heard.words, heard.revised + heard.words,
                None if turn is None else turn.turns, heard.error or heard.text[:80],
            )
            for heard, turn in takes
        ),
        ("Every word is an error. Shown: also those that were taken back. Turns: that began (with turn detection).",),
    )  # fmt: skip


def word_times(groups: Mapping[tuple[str, int], Sequence[tuple[float, float]]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (group, streams), errors in groups.items():
        starts, ends = ([error[at] for error in errors] for at in (0, 1))
        rows.append(
            (
                group, streams, len(errors),
                *(ms_at(distribution(list(map(abs, starts))), at) for at in ("p50", "p95")),
                *(ms_at(distribution(list(map(abs, ends))), at) for at in ("p50", "p95")),
                ms_at(distribution(starts), "mean"), ms_at(distribution(ends), "mean"),
            )
        )  # fmt: skip
    return Table(
        "Word times",
        (
            "clips of", "streams", "words", "start off by p50", "p95", "end off by p50", "p95", "start late by, mean",
            "end late by",
        ),
        tuple(rows),
        ("Of words that were heard right, against the times that the voice gave when it spoke them.",),
    )  # fmt: skip


def loads(rows: Sequence[Load]) -> Table:
    def mib(size: float | None) -> float | None:
        return None if size is None else round(size / MIB, 1)

    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        idle, busy, server = row.server.idle_bytes, row.server.busy_bytes, row.server
        more = None if idle is None or busy is None else (busy - idle) / row.streams
        cells.append(
            (
                row.name, row.streams, round(row.audio_s), None if server.cpu_s is None else server.cpu_s / row.audio_s,
                mib(idle), mib(busy), mib(server.peak_bytes), mib(more), round(100 * row.player.cpu_share),
                milliseconds(row.player.lag_max_s),
            )
        )  # fmt: skip
    return Table(
        "Cost",
        (
            "clips of", "streams", "audio s", "CPU s per s of audio", "idle MiB", "busy MiB", "peak MiB",
            "MiB per stream", "player % of a core", "player's loop late at worst",
        ),
        tuple(cells),
        (
            "CPU time of all threads of the server's process. Memory per stream: resident memory under load minus "
            "that just before, by streams; what a first load warms up counts as its own.",
        ),
    )  # fmt: skip


def flat(found: Flatness, how: str) -> Table:
    def slope(value: float | None, unit: str, per: float) -> str:
        return "not known" if value is None else f"{value / per:+.3g} {unit} a minute"

    return Table(
        "Half an hour" if len(found.minutes) == 30 else f"{len(found.minutes)} minutes",
        ("minute", "wall s", "CPU s per minute", "memory MiB", "words", "error"),
        tuple(
            (
                number, round(minute.wall_s, 2), minute.cpu_s,
                None if minute.rss_bytes is None else round(minute.rss_bytes / MIB, 2), minute.words, minute.error,
            )
            for number, minute in enumerate(found.minutes, 1)
        ),
        (
            f"One stream, {how}; each minute is finalized. Slopes over the last half: memory "
            f"{slope(found.rss_slope_bytes, 'kB', 1000)}, CPU {slope(found.cpu_slope_s, 's', 1)}.",
        ),
    )  # fmt: skip


def _of(values: Sequence[float | None]) -> Distribution | None:
    return distribution([value for value in values if value is not None])


def _interval(spread: Distribution | None) -> str | None:
    return None if spread is None else f"{1e3 * spread.p50_ci.low:.0f}-{1e3 * spread.p50_ci.high:.0f}"


def _percent(count: int, of: int) -> float | None:
    return round(100 * count / of, 1) if of else None


def _behind(values: Sequence[float]) -> list[str]:
    worst = max(values, default=0.0)
    late = sum(value > BEHIND_WARNING_S for value in values)
    if not late:
        return [f"Audio was sent at most {1e3 * worst:.1f} ms late."]
    return [
        f"The player sent audio up to {1e3 * worst:.0f} ms late, more than {1e3 * BEHIND_WARNING_S:.0f} ms in {late} "
        f"of {len(values)} clips: these figures include its own trouble."
    ]
