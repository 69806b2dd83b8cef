"""The tables of ``bench tts``: from scores to rows. Pure; times are in milliseconds where no unit is named."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from antiphon.bench.diagnosis import COMPONENTS
from antiphon.bench.duel import Score, distributions
from antiphon.bench.measure import Distribution
from antiphon.bench.report import Cell, Group, Table, milliseconds, ms_at

if TYPE_CHECKING:
    from antiphon.bench.roundtrip import ReadBack

Loaded: TypeAlias = tuple[str, list[Score], list[str]]
"""(the load in words, the scores of the systems under it, who was left out and why)."""

LATE_WARNING_S = 0.005


def speed(title: str, loads: Sequence[Loaded], pre_roll_s: float, token_gap_s: float | None) -> Table:
    columns = (
        "load", "system", "takes", "failed", "first byte p50", "p95",
        "first audible p50", "p95", "p95 CI", "p99", "max", "heard p50", "p95",
        "last byte p50", "x real time p50", "underruns", "takes with gaps", "gaps s",
    )  # fmt: skip
    rows = [_speed_row(load, score) for load, scores, _ in loads for score in scores]
    notes = [
        "First audible: first text sent -> arrival of the chunk with the first audible sample. Heard: until a player "
        f"with {1e3 * pre_roll_s:.0f} ms pre-roll plays it.",
        _player_note(loads),
    ]
    if token_gap_s is not None:
        notes.append(f"Text came token by token, every {1e3 * token_gap_s:.0f} ms; the clock starts with the first.")
    notes += [reason for _, _, left_out in loads for reason in left_out]
    late = max((_late_p99_s(score) for _, scores, _ in loads for score in scores), default=0.0)
    if late > LATE_WARNING_S:
        notes.append(f"The player was up to {1e3 * late:.1f} ms late (p99): these figures include its own trouble.")
    return Table(title, columns, tuple(rows), tuple(notes))


BOUNDARIES = (
    ("connection", "connects"),
    ("round trip", "round_trips"),
    ("first byte", "ttfb_s"),
    ("first audible", "ttfa_s"),
    ("heard", "heard_s"),
    ("sustained playback", "sustained_s"),
    ("needed pre-roll", "needed_pre_roll_s"),
    ("longest stall", "stall_s"),
    ("stall to recovery", "recovered_s"),
    ("last byte", "last_byte_s"),
    ("refusal", "refused_s"),
)


def boundaries(groups: Sequence[Group]) -> Table:
    """Every boundary of every system under every load that has one, with all its quantiles."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for words, name in BOUNDARIES:
            spread = getattr(group, name) if name in ("connects", "round_trips") else group.distributions.get(name)
            if spread is not None:
                quantiles = [ms_at(spread, quantile) for quantile in ("p50", "p90", "p95", "p99", "max")]
                low, high = milliseconds(spread.p95_ci.low), milliseconds(spread.p95_ci.high)
                rows.append((group.load, group.system, words, spread.count, *quantiles, f"{low:g}-{high:g}"))
    return Table(
        "Boundaries, ms",
        ("load", "system", "boundary", "count", "p50", "p90", "p95", "p99", "max", "p95 CI"),
        tuple(rows),
        ("Each is defined in docs/bench.md. Connections stand before the clock of a request starts.",),
    )


def waits(groups: Sequence[Group]) -> Table:
    """Who made the caller wait: the stages of the takes near p50 and p95, and what is wrong, in words."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for fall in group.waterfalls:
            if fall.culprit is not None:
                parts = [milliseconds(fall.components.get(name, 0.0)) for name in COMPONENTS]
                longest = f"{fall.culprit.component}: {fall.culprit.name}"
                near = f"p{100 * fall.quantile:.0f}"
                rows.append((group.load, group.system, near, milliseconds(fall.total_s), *parts, longest))
    return Table(
        "Who made the caller wait, ms",
        ("load", "system", "near", "wait", *COMPONENTS, "longest"),
        tuple(rows),
        (
            "Until speech is heard, and the silence in its middle. Client: the bench was late. Server: until the first "
            "byte, less the round trip. Voice: silence before speech. Delivery: the player ran dry.",
            *(
                f"{group.load}, {group.system}: {fault.component}: {fault.text}"
                for group in groups
                for fault in group.faults
            ),
        ),
    )


def quality(groups: Sequence[Group]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        found = group.quality
        if found is None:
            continue
        rows.append(
            (
                group.load, group.system, found.takes,
                None if found.wer is None else 100 * found.wer,
                None if found.wer_upper is None else 100 * found.wer_upper,
                *(_rounded(spread, 2) for spread in (found.overall, found.speech, found.background)),
                round(found.clicks, 1), found.clipped_samples, found.cut_off,
                ms_at(found.leading_s, "p50"), ms_at(found.trailing_s, "p50"), ms_at(found.longest_pause_s, "max"),
                _rounded(found.pitch_hz, 0), _rounded(found.pitch_drift, 2), _rounded(found.loudness_drift, 2),
                None if found.overhead is None else round(found.overhead, 2),
            )
        )  # fmt: skip
    return Table(
        "Quality, of takes of this run",
        (
            "load", "system", "takes", "WER %", "upper 95 %", "DNSMOS p50", "speech", "background", "clicks a minute",
            "clipped", "cut off", "silence before, ms", "after", "longest pause", "pitch Hz", "semitones a minute",
            "dB a minute", "bytes per byte of PCM",
        ),
        tuple(rows),
        ("WER by the recogniser of the run; DNSMOS P.835, 1 to 5. Drifts: of takes of 10 s and more, p50.",),
    )  # fmt: skip


def containers(scores: Sequence[tuple[Score, float | None]], left_out: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for score, overhead in scores:
        spread = distributions(score.figures)
        chunks = [figure.chunks for figure in score.figures if not figure.error]
        rows.append(
            (
                score.system, len(score.figures), None if overhead is None else round(overhead, 3),
                round(sum(chunks) / len(chunks), 1) if chunks else None,
                *(ms_at(spread.get("ttfb_s"), at) for at in ("p50", "p95")), ms_at(spread.get("last_byte_s"), "p50"),
            )
        )  # fmt: skip
    return Table(
        "Containers",
        ("wire", "takes", "bytes per byte of PCM", "pieces a take", "first byte p50 ms", "p95", "last byte p50"),
        tuple(rows),
        ("Bytes of bodies and messages, without TCP's and HTTP's own heads.", *left_out),
    )


def _rounded(spread: Distribution | None, digits: int) -> float | None:
    return None if spread is None else round(spread.p50, digits)


def read_back(backs: Sequence["ReadBack"]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            back.name,
            back.rate.sentences,
            back.rate.words,
            back.rate.errors,
            100 * back.rate.rate,
            100 * back.rate.upper,
            None if back.difference is None else 100 * back.difference.difference,
            None if back.difference is None else 100 * back.difference.upper,
            100 * back.first_words,
            back.failed,
        )
        for back in backs
    ]
    return Table(
        "Read-back",
        (
            "system", "sentences", "words", "errors", "WER %", "upper 95 %", "to the first, points", "upper 95 %",
            "first word in 1 s, %", "failed",
        ),
        tuple(rows),
        ("Bounds are one-sided, from a bootstrap over sentences; differences are paired.",),
    )


def _speed_row(load: str, score: Score) -> tuple[Cell, ...]:
    spread = distributions(score.figures)
    good = [figure for figure in score.figures if not figure.error]
    ttfa = spread.get("ttfa_s")
    factor = spread.get("realtime_factor")
    return (
        load,
        score.system,
        len(score.figures),
        len(score.figures) - len(good),
        ms_at(spread.get("ttfb_s"), "p50"),
        ms_at(spread.get("ttfb_s"), "p95"),
        ms_at(ttfa, "p50"),
        ms_at(ttfa, "p95"),
        None if ttfa is None else f"{1e3 * ttfa.p95_ci.low:.0f}-{1e3 * ttfa.p95_ci.high:.0f}",
        ms_at(ttfa, "p99"),
        ms_at(ttfa, "max"),
        ms_at(spread.get("heard_s"), "p50"),
        ms_at(spread.get("heard_s"), "p95"),
        ms_at(spread.get("last_byte_s"), "p50"),
        None if factor is None else round(factor.p50, 1),
        sum(figure.underruns for figure in good),
        sum(1 for figure in good if figure.underruns),
        round(sum(figure.gap_s for figure in good), 3),
    )


def _player_note(loads: Sequence[Loaded]) -> str:
    scores = [score for _, scores, _ in loads for score in scores]
    share = max((score.cpu_share for score in scores), default=0.0)
    lag = max((score.lag_max_s for score in scores), default=0.0)
    return (
        f"The player used at most {100 * share:.0f} % of a core (in-process peers synthesise inside it); its event "
        f"loop was at most {1e3 * lag:.0f} ms late."
    )


def _late_p99_s(score: Score) -> float:
    late = distributions(score.figures).get("late_s")
    return late.p99 if late else 0.0
