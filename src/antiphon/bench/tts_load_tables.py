"""The tables of ``bench tts`` about load: how much is borne, what is refused, what a message costs. Pure."""

from antiphon.bench.capacity import Capacity, Limits
from antiphon.bench.duel import Score, distributions
from antiphon.bench.measure import distribution
from antiphon.bench.message_cost import Cost
from antiphon.bench.report import Cell, Table, milliseconds, ms_at


def capacity(found: Capacity, limits: Limits, pre_roll_s: float, playing_s: float, title: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            verdict.streams,
            "holds" if verdict.holds else "fails",
            milliseconds(verdict.ttfa_p95_s),
            verdict.underruns,
            verdict.failed,
            "; ".join(verdict.reasons),
        )
        for verdict in found.probes
    ]
    fails = "no load that was tried failed" if found.fails_at is None else f"{found.fails_at} failed"
    return Table(
        title,
        ("streams", "verdict", "first audible p95", "underruns", "failed", "why"),
        tuple(rows),
        (
            f"Largest load with {limits.text}: **{found.streams}** ({fails}).",
            f"Streams play {playing_s:.1f} s on average; player with {1e3 * pre_roll_s:.0f} ms pre-roll.",
        ),
    )


def overload(streams: int, score: Score) -> Table:
    refused = [figure for figure in score.figures if figure.error]
    taken = [figure for figure in score.figures if not figure.error]
    refusal = distribution([figure.refused_s for figure in refused if figure.refused_s is not None])
    ttfa = distributions(taken).get("ttfa_s")
    texts = sorted({figure.error for figure in refused})
    return Table(
        "Overload",
        (
            "streams", "starts", "accepted", "refused", "refusal p50", "p95", "max",
            "accepted: first audible p95", "underruns",
        ),
        (
            (
                streams,
                len(score.figures),
                len(taken),
                len(refused),
                ms_at(refusal, "p50"),
                ms_at(refusal, "p95"),
                ms_at(refusal, "max"),
                ms_at(ttfa, "p95"),
                sum(figure.underruns for figure in taken),
            ),
        ),
        tuple(f"refused with: {text}" for text in texts[:3]),
    )


def message_cost(costs: tuple[Cost, ...], streams: int, model: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for cost in costs:
        trips = distribution(cost.round_trips_s)
        rows.append(
            (
                cost.name,
                cost.messages,
                cost.wire_bytes // cost.messages if cost.messages else None,
                _microseconds(cost.wire_per_message_s),
                _microseconds(cost.all_per_message_s),
                ms_at(trips, "p50"),
                ms_at(trips, "p95"),
            )
        )
    server, echo = (cost.wire_per_message_s for cost in costs)
    ratio = f"{server / echo:.2f}" if server is not None and echo else "not known"
    return Table(
        "Cost per message",
        ("system", "messages", "bytes each", "CPU us, event loop", "CPU us, all threads", "first message p50", "p95"),
        tuple(rows),
        (
            f"CPU time of the server's process per audio message, {streams} callers in a closed loop. The event loop "
            "is the process's main thread; models run on others.",
            f"Event loop of the server / of the bare echo: {ratio}.",
            f"Model of this section: {model or 'the same as above'}.",
        ),
    )


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(1e6 * seconds, 1)
