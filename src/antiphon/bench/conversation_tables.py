"""Tables of the conversation bench. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from antiphon.bench.conversation_clips import Label, Verdict, counts
from antiphon.bench.conversation_measure import GOOD_BARGE_IN_S, STAGE_TOLERANCE_S, Outcome, Turn
from antiphon.bench.conversation_stages import STAGES
from antiphon.bench.measure import Distribution, distribution
from antiphon.bench.report import Cell, Table, milliseconds

Load = tuple[str, int]
"""(scenario or "all", conversations at once)."""
LABELS: tuple[Label, ...] = ("interruption", "backchannel", "noise")


def groups_of(by_load: Mapping[int, Sequence[Outcome]]) -> dict[Load, list[Outcome]]:
    """All of a load, then each of its scenarios."""
    groups: dict[Load, list[Outcome]] = {}
    for at_once, outcomes in by_load.items():
        groups[("all", at_once)] = list(outcomes)
        for outcome in outcomes:
            groups.setdefault((outcome.scenario, at_once), []).append(outcome)
    return groups


def waits(groups: Mapping[Load, Sequence[Outcome]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, at_once), outcomes in groups.items():
        turns = [turn for outcome in outcomes for turn in outcome.turns if turn.kind != "backchannel"]
        asked = [turn for turn in turns if turn.said == "said"]
        v2v = _of(asked, lambda turn: turn.v2v_s)
        cut = sum(turn.cut_off for turn in asked)
        silent = sum(turn.v2v_s is None and not turn.cut_off for turn in asked)
        dry = sum(outcome.underruns for outcome in outcomes)
        rows.append((name, at_once, len(asked), *_quantiles(v2v), _interval(v2v), cut, silent, dry))
    return Table(
        "Voice to voice, ms",
        (
            "scenario", "at once", "turns", "p50", "p90", "p95", "p99", "max", "p50 CI", "cut off", "no answer",
            "underruns",
        ),
        tuple(rows),
        (
            "From the caller's last audible sample to the agent's first one, both in the two-channel recording. "
            "Cut off: the agent spoke, or wrote, before the caller had ended; such turns, and those without an answer, "
            "have no time.",
            f"The caller's microphone was at worst {_worst_behind(groups):.0f} ms late.",
        ),
    )  # fmt: skip


def tasks(groups: Mapping[Load, Sequence[Outcome]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, at_once), outcomes in groups.items():
        corrected = [outcome for outcome in outcomes if outcome.corrected is not None]
        expected = [turn for outcome in outcomes for turn in outcome.turns if turn.met is not None]
        rows.append(
            (
                name, at_once, len(outcomes), sum(outcome.success for outcome in outcomes),
                sum(bool(turn.met) for turn in expected), len(expected),
                sum(outcome.wrong_actions for outcome in outcomes),
                sum(outcome.missing_actions for outcome in outcomes),
                sum(bool(outcome.corrected) for outcome in corrected) if corrected else None,
                len(corrected) if corrected else None,
                sum(outcome.repeated for outcome in outcomes), sum(bool(outcome.error) for outcome in outcomes),
            )
        )  # fmt: skip
    return Table(
        "Tasks",
        (
            "scenario", "at once", "calls", "succeeded", "answers right", "of", "wrong actions", "missing actions",
            "corrections honoured", "of", "sentences twice", "broken off",
        ),
        tuple(rows),
        ("A call succeeds if every line was said and answered as expected, with exactly the writes it asked for.",),
    )  # fmt: skip


def interruptions(groups: Mapping[Load, Sequence[Outcome]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, at_once), outcomes in groups.items():
        turns = [turn for outcome in outcomes for turn in outcome.turns if turn.said == "said"]
        over = [turn for turn in turns if turn.kind == "interruption"]
        listening = [turn for turn in turns if turn.kind == "backchannel"]
        if not over and not listening:
            continue
        times = _of(over, lambda turn: turn.barge_in_s)
        holes = _of(listening, lambda turn: turn.hole_s)
        rows.append(
            (
                name, at_once, len(over), sum(bool(turn.stopped) for turn in over), *_quantiles(times),
                len(listening), sum(turn.stopped is False for turn in listening),
                milliseconds(holes.p50) if holes else None, milliseconds(holes.max) if holes else None,
            )
        )  # fmt: skip
    return Table(
        "Who has the floor (times in ms)",
        (
            "scenario", "at once", "interruptions", "stopped it", "silence p50", "p90", "p95", "p99", "max",
            "backchannels", "went on", "hole p50", "hole max",
        ),
        tuple(rows),
        (
            f"Silence: the caller's first audible sample -> the agent's last one (target {1e3 * GOOD_BARGE_IN_S:.0f}). "
            "Went on: the reply was not given up. Hole: its longest silence around a backchannel, pauses of its own "
            "included.",
        ),
    )  # fmt: skip


def stages(by_load: Mapping[int, Sequence[Outcome]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    errors: list[float] = []
    for at_once, outcomes in by_load.items():
        turns = [turn for outcome in outcomes for turn in outcome.turns if turn.stages is not None]
        errors += [abs(turn.stage_error_s) for turn in turns if turn.stage_error_s is not None]
        for name in STAGES:
            spent = [turn.stages.seconds[name] for turn in turns if turn.stages and name in turn.stages.seconds]
            found = distribution(spent)
            if found is not None:
                rows.append(
                    (
                        name, at_once, found.count, milliseconds(found.mean), milliseconds(found.p50),
                        milliseconds(found.p90), milliseconds(found.p95), milliseconds(found.max),
                    )
                )  # fmt: skip
    worst = max(errors, default=0.0)
    beyond = sum(error > STAGE_TOLERANCE_S for error in errors)
    return Table(
        "Where the silence went, ms",
        ("stage", "at once", "turns", "mean", "p50", "p90", "p95", "max"),
        tuple(rows),
        (
            "Each stage ends at its moment, or where the one before it ended, if that was later: what was prepared on "
            "a guess costs nothing. By the client's stamps; the model's are its own log's.",
            f"Their sum differs from the recorded silence by at most {1e3 * worst:.1f} ms; {beyond} of {len(errors)} "
            f"turns beyond {1e3 * STAGE_TOLERANCE_S:.0f} ms.",
        ),
    )


def causes(by_load: Mapping[int, Sequence[Outcome]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for at_once, outcomes in by_load.items():
        turns = [turn for outcome in outcomes for turn in outcome.turns if turn.said == "said"]
        bad = [turn for turn in turns if turn.cause is not None]
        for cause, count in Counter(turn.cause for turn in bad).most_common():
            example = next(turn for turn in bad if turn.cause == cause)
            rows.append((str(cause), at_once, count, f"{example.scenario} {example.step}: {example.why}"))
        rows.append(("none", at_once, len(turns) - len(bad), ""))
    return Table(
        "Causes of bad turns",
        ("cause", "at once", "turns", "for example"),
        tuple(rows),
        ("One cause a turn. Bad: slower than 1 s, cut off, unanswered, answered wrongly, or stopped too late.",),
    )


def selectivity(verdicts: Sequence[Verdict], at_once: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label in LABELS:
        judged, stopped = counts(verdicts, label)
        own = [one for one in verdicts if one.label == label and not one.error]
        holes = distribution([one.hole_s for one in own if one.hole_s is not None and one.stopped is False])
        times = distribution([one.silent_after_s for one in own if one.silent_after_s is not None])
        clean = sum(one.stopped is False and (one.hole_s or 0.0) < 0.5 for one in own)
        rows.append(
            (
                label, judged, stopped, judged - stopped, clean if label != "interruption" else None,
                milliseconds(holes.p50) if holes else None, milliseconds(holes.p95) if holes else None,
                milliseconds(times.p50) if times else None, milliseconds(times.p95) if times else None,
            )
        )  # fmt: skip
    judged_in, stopped_in = counts(verdicts, "interruption")
    others = [counts(verdicts, label) for label in ("backchannel", "noise")]
    judged, stopped = sum(one[0] for one in others), sum(one[1] for one in others)
    failed = sum(bool(one.error) for one in verdicts)
    share = f"{(judged - stopped) / judged:.2f}" if judged else "-"
    yes = f"{stopped_in / judged_in:.2f}" if judged_in else "-"
    return Table(
        f"Selectivity, {at_once} at once",
        (
            "class", "clips", "stopped it", "went on", "went on without a hole of 0.5 s", "hole p50 ms", "p95",
            "silence p50 ms", "p95",
        ),
        tuple(rows),
        (
            f"Selectivity {share} (target 0.8: backchannels and noises after which the reply went on to its end); "
            f"interruptions that stopped it {yes} (target 0.95).",
            "Voices are synthetic. Silence: the clip's first audible sample -> the agent's last one; of noises, from "
            "their beginning.",
            *((f"{failed} clips could not be judged.",) if failed else ()),
        ),
    )  # fmt: skip


def worst_turns(by_load: Mapping[int, Sequence[Outcome]], most: int = 10) -> Table:
    """The turns that a reader wants to look at."""
    rows: list[tuple[Cell, ...]] = []
    for at_once, outcomes in by_load.items():
        turns = [turn for outcome in outcomes for turn in outcome.turns if turn.cause is not None]
        turns.sort(key=lambda turn: -(turn.v2v_s if turn.v2v_s is not None else 99.0))
        rows += [
            (turn.scenario, turn.step, at_once, milliseconds(turn.v2v_s), str(turn.cause), turn.why, turn.transcript)
            for turn in turns[:most]
        ]
    return Table(
        "Worst turns", ("scenario", "step", "at once", "v2v ms", "cause", "why", "understood"), tuple(rows)
    )


def _of(turns: Sequence[Turn], figure: Callable[[Turn], float | None]) -> Distribution | None:
    return distribution([value for turn in turns if (value := figure(turn)) is not None])


def _quantiles(found: Distribution | None) -> tuple[Cell, ...]:
    if found is None:
        return (None,) * 5
    return tuple(milliseconds(value) for value in (found.p50, found.p90, found.p95, found.p99, found.max))


def _interval(found: Distribution | None) -> str:
    return "-" if found is None else f"{1e3 * found.p50_ci.low:.0f} to {1e3 * found.p50_ci.high:.0f}"


def _worst_behind(groups: Mapping[Load, Sequence[Outcome]]) -> float:
    return 1e3 * max((outcome.behind_s for outcomes in groups.values() for outcome in outcomes), default=0.0)
