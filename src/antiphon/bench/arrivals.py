"""When requests start: schedules made before the run, from a seed. Pure.

*N streams* means a steady state: starts are Poisson with rate N / (mean playing time), so that N listeners are hearing
speech at any moment on average. Starts of the filling-up phase and of the tail (which only keeps the load up until the
last measured stream has ended) are played but not measured.
"""

import math
import random
from dataclasses import dataclass
from typing import TypeAlias

MEASURED_STARTS = 200


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """Starts at fixed times, whatever the server does.

    ``starts_s``: seconds from the start of the run, rising. Measured are ``starts_s[first:first + measured]``.
    ``streams``: the load that the schedule stands for.
    """

    kind: str
    streams: int
    starts_s: tuple[float, ...]
    first: int
    measured: int

    @property
    def requests(self) -> int:
        return len(self.starts_s)


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """``streams`` callers, each starting its next request ``gap_s`` after the last one's bytes were all there.

    With ``streams=1`` there is never more than one request in flight: the idle-server figure. ``first`` requests warm
    up and are not measured.
    """

    streams: int
    first: int
    measured: int
    gap_s: float = 0.0
    kind: str = "closed"

    @property
    def requests(self) -> int:
        return self.first + self.measured


Schedule: TypeAlias = OpenLoop | ClosedLoop


def steady(
    streams: int,
    mean_playing_s: float,
    seed: int,
    *,
    measured: int = MEASURED_STARTS,
    warm_up_s: float | None = None,
    tail_s: float | None = None,
) -> OpenLoop:
    """Poisson starts for ``streams`` concurrent streams that each play for ``mean_playing_s`` on average.

    ``warm_up_s`` (default twice the mean playing time) fills the system; ``tail_s`` (default once) keeps it full.
    """
    if streams < 1 or mean_playing_s <= 0 or measured < 1:
        raise ValueError("streams, mean playing time and measured starts must be positive")
    rng = random.Random(f"antiphon-bench:steady:{streams}:{seed}")
    warm_s = 2 * mean_playing_s if warm_up_s is None else warm_up_s
    end_s = mean_playing_s if tail_s is None else tail_s
    starts, first = _poisson(rng, streams / mean_playing_s, measured, warm_s, end_s)
    return OpenLoop("steady", streams, starts, first, measured)


def at_rate(
    rate_hz: float, mean_playing_s: float, seed: int, *, measured: int = MEASURED_STARTS
) -> OpenLoop:
    """Poisson starts, ``rate_hz`` a second on average, whatever the server does. Warm-up and tail as in :func:`steady`.

    ``streams`` of the schedule is how many listeners that makes at any moment, rounded up.
    """
    if rate_hz <= 0 or mean_playing_s <= 0 or measured < 1:
        raise ValueError("rate, mean playing time and measured starts must be positive")
    rng = random.Random(f"antiphon-bench:rate:{rate_hz:g}:{seed}")
    starts, first = _poisson(rng, rate_hz, measured, 2 * mean_playing_s, mean_playing_s)
    streams = max(1, math.ceil(rate_hz * mean_playing_s))
    return OpenLoop(f"{rate_hz:g} starts a second", streams, starts, first, measured)


def _poisson(
    rng: random.Random, rate_hz: float, measured: int, warm_s: float, end_s: float
) -> tuple[tuple[float, ...], int]:
    """(starts, the first measured one)."""
    starts: list[float] = []
    first = -1
    last_measured_s = float("inf")
    now_s = rng.expovariate(rate_hz)
    while now_s <= last_measured_s + end_s:
        if first < 0 and now_s >= warm_s:
            first = len(starts)
        starts.append(now_s)
        if first >= 0 and len(starts) == first + measured:
            last_measured_s = now_s
        now_s += rng.expovariate(rate_hz)
    return tuple(starts), first


def burst(streams: int, *, at_s: float = 0.0) -> OpenLoop:
    """All at the same moment: the worst case, reported beside the steady state."""
    if streams < 1:
        raise ValueError("a burst needs at least one stream")
    return OpenLoop("burst", streams, (at_s,) * streams, 0, streams)


def bursts(streams: int, times: int, every_s: float) -> OpenLoop:
    """``times`` bursts, far enough apart (``every_s``) that one does not meet the next."""
    if streams < 1 or times < 1 or every_s <= 0:
        raise ValueError("streams, times and the distance of bursts must be positive")
    starts = tuple(index * every_s for index in range(times) for _ in range(streams))
    return OpenLoop("burst", streams, starts, 0, len(starts))


def one_at_a_time(measured: int = MEASURED_STARTS, *, first: int = 5, gap_s: float = 0.0) -> ClosedLoop:
    """A single caller on an idle server."""
    return ClosedLoop(1, first, measured, gap_s)


def share(schedule: OpenLoop, players: int, player: int) -> tuple[int, ...]:
    """Indices of the starts that ``player`` (0-based) of ``players`` processes issues: every ``players``-th one."""
    return tuple(range(player, len(schedule.starts_s), players))
