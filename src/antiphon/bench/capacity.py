"""The largest load that holds: a search over an injected probe. Pure (the probe does the work)."""

from collections.abc import Callable
from dataclasses import dataclass

from antiphon.bench.measure import Measured


@dataclass(frozen=True, slots=True)
class Limits:
    """What a load must keep to count as carried: the objective of the service.

    At most ``failed_share`` of the requests failed, at most ``underrun_share`` of the takes ran dry (0: none), first
    audible audio within ``ttfa_p95_s`` (None: any). ``late_p99_s`` guards the measurement itself: a client that cannot
    keep its schedule has not shown anything.
    """

    ttfa_p95_s: float | None = None
    late_p99_s: float = 0.05
    underrun_share: float = 0.0
    failed_share: float = 0.0

    @property
    def text(self) -> str:
        """In words."""
        parts = ["no underrun", "no failed request"]
        if self.underrun_share:
            parts[0] = f"underruns in at most {self.underrun_share:.1%} of the takes"
        if self.failed_share:
            parts[1] = f"at most {self.failed_share:.1%} of the requests failed"
        if self.ttfa_p95_s is not None:
            parts.append(f"first audible p95 at most {1e3 * self.ttfa_p95_s:.0f} ms")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of one probe: ``holds``, or why not."""

    streams: int
    holds: bool
    reasons: tuple[str, ...] = ()
    ttfa_p95_s: float | None = None
    underruns: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Capacity:
    """``streams``: the largest load that held (0: none). ``fails_at``: the smallest that did not (None: not met)."""

    streams: int
    fails_at: int | None
    probes: tuple[Verdict, ...]


def judge(streams: int, figures: list[Measured], limits: Limits) -> Verdict:
    """Hold ``figures`` of the measured takes of one probe against ``limits``."""
    failed = sum(1 for figure in figures if figure.error)
    silent = sum(1 for figure in figures if not figure.error and figure.ttfa_s is None)
    underruns = sum(figure.underruns for figure in figures)
    ttfa = _quantile([figure.ttfa_s for figure in figures if figure.ttfa_s is not None], 0.95)
    late = _quantile([figure.late_s for figure in figures], 0.99)
    reasons = []
    if not figures:
        reasons.append("nothing was measured")
    dry = sum(1 for figure in figures if figure.underruns)
    if failed > limits.failed_share * len(figures):
        first = next(figure.error for figure in figures if figure.error)
        reasons.append(f"{failed} of {len(figures)} requests failed ({first})")
    if silent:
        reasons.append(f"{silent} of {len(figures)} takes had no audible audio")
    if dry > limits.underrun_share * len(figures):
        reasons.append(f"{underruns} underruns in {dry} takes")
    if limits.ttfa_p95_s is not None and ttfa is not None and ttfa > limits.ttfa_p95_s:
        reasons.append(f"first audible p95 {1e3 * ttfa:.0f} ms is over {1e3 * limits.ttfa_p95_s:.0f} ms")
    if late is not None and late > limits.late_p99_s:
        reasons.append(f"the player itself was late (p99 {1e3 * late:.0f} ms): use more player processes")
    return Verdict(streams, not reasons, tuple(reasons), ttfa, underruns, failed)


def search(
    probe: Callable[[int], Verdict], *, start: int = 16, highest: int = 1024, resolution: int = 4, confirm: int = 1
) -> Capacity:
    """Double from ``start`` until a load fails, then halve the bracket down to ``resolution`` streams.

    A load is carried only if it holds ``1 + confirm`` times in all; one that fails its confirmation counts as failed
    and the search goes on below it. ``highest`` ends the doubling.
    """
    if start < 1 or highest < start or resolution < 1 or confirm < 0:
        raise ValueError("need 1 <= start <= highest, resolution >= 1, confirm >= 0")
    probes: list[Verdict] = []

    def holds(streams: int) -> bool:
        verdict = probe(streams)
        probes.append(verdict)
        return verdict.holds

    low, high = 0, None
    trial = start
    while high is None and low < highest:
        if holds(trial):
            low, trial = trial, min(2 * trial, highest)
        else:
            high = trial
    while True:
        while high is not None and high - low > resolution:
            trial = (low + high) // 2
            if holds(trial):
                low = trial
            else:
                high = trial
        if low == 0 or all(holds(low) for _ in range(confirm)):
            return Capacity(low, high, tuple(probes))
        high, low = low, _largest_below(low, probes)


def _largest_below(streams: int, probes: list[Verdict]) -> int:
    failed = {verdict.streams for verdict in probes if not verdict.holds}
    held = [verdict.streams for verdict in probes if verdict.holds and verdict.streams < streams]
    return max((load for load in held if load not in failed), default=0)


def _quantile(values: list[float], at: float) -> float | None:
    """Nearest-rank quantile: a value that was really seen."""
    if not values:
        return None
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(at * len(ranked)))]
