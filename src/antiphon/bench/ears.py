"""``antiphon bench ears``: several ears on the same recordings in one run, whatever their wires: time from the true end
of speech to the final, and word error rate. Blocks of clips in turning order."""

from collections.abc import Callable, Sequence
from typing import Any

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.clip import Clip, clips_hash
from antiphon.bench.conditions import conditions
from antiphon.bench.hearing import hearing_of
from antiphon.bench.measure import distribution
from antiphon.bench.measure_stt import Heard, measure_final
from antiphon.bench.player import Player
from antiphon.bench.report import Cell, Report, Table, milliseconds
from antiphon.bench.target.contract import Endpoint

BLOCK = 5


def compare_ears(
    ears: Sequence[Endpoint[Any]],
    clips: Sequence[Clip],
    *,
    callers: int = 1,
    timeout_s: float = 120.0,
    notes: tuple[str, ...] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Every ear hears every clip. Clips without a reference count for times only. Needs the extra ``bench``."""
    at = conditions(workloads={"clips": clips_hash(clips)}, notes=notes, settings={"callers": callers})
    heard: dict[str, list[Heard]] = {ear.name: [] for ear in ears}
    with Player(timeout_s=timeout_s) as player:
        for block, begin in enumerate(range(0, len(clips), BLOCK)):
            part = clips[begin : begin + BLOCK]
            for ear in ears if block % 2 == 0 else reversed(ears):
                progress(f"{ear.name}: clips {begin + 1} to {begin + len(part)} of {len(clips)}")
                recordings, _ = player.record(ear, part, ClosedLoop(callers, 0, len(part)))
                heard[ear.name] += [
                    measure_final(hearing_of(clip, recording, turns=False))
                    for clip, recording in zip(part, recordings, strict=True)
                ]
    rows = [_row(ear.name, heard[ear.name], clips) for ear in ears]
    table = Table(
        "Ears side by side",
        (
            "ear", "clips", "failed", "final p50 ms", "p90", "p95", "p99", "max", "p95 CI",
            "WER %", "upper 95 %", "words",
        ),
        tuple(rows),
        (
            "Final: true end of speech -> the final text is there. An ear that takes whole files is sent the file at "
            "that moment; one in this process is called then, without a wire, which favours it.",
        ),
    )
    return Report("antiphon bench ears", at, (table,), (), {"heard": heard})


def _row(name: str, heard: Sequence[Heard], clips: Sequence[Clip]) -> tuple[Cell, ...]:
    from antiphon.bench.wer import error_rate, word_errors

    spread = distribution([each.final_s for each in heard if each.final_s is not None and not each.error])
    errors = [
        word_errors(clip.reference, each.text)
        for clip, each in zip(clips, heard, strict=True)
        if clip.reference
    ]
    rate = error_rate(errors) if errors else None
    quantiles = [None] * 5 if spread is None else [
        milliseconds(value) for value in (spread.p50, spread.p90, spread.p95, spread.p99, spread.max)
    ]  # fmt: skip
    interval = "" if spread is None else f"{1e3 * spread.p95_ci.low:.0f}-{1e3 * spread.p95_ci.high:.0f}"
    return (
        name, len(heard), sum(1 for each in heard if each.error), *quantiles, interval,
        None if rate is None else 100 * rate.rate, None if rate is None else 100 * rate.upper,
        None if rate is None else rate.words,
    )  # fmt: skip
