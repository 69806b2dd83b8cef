"""What an idle session keeps: how the server's memory grows with sockets that have spoken once and stay open.

A process keeps what it once needed, and gives it to whoever asks next. Hence the sockets come a few at a time, so that
no more than :data:`AT_ONCE` speak at any moment; the first ones are not counted; none is closed before the end; and
nothing heavier may have run on the server before. The figure is a slope, not a difference: memory comes in pieces of up
to a megabyte.
"""

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.player import Player
from antiphon.bench.process import anonymous_bytes, open_files_limit
from antiphon.bench.target.contract import Line, Target
from antiphon.core.errors import InvalidInput, ModelUnavailable

AT_ONCE = 10
ROUNDS = 4
WARM = 100
"""Sockets that are opened first, and not counted."""
_OTHER_FILES = 64


@dataclass(frozen=True, slots=True)
class Idle:
    """``sessions``: that were counted. ``rounds_bytes``: the slope over each of the rounds, which stand on top of each
    other (bytes a session); ``per_session_bytes`` their mean, ``error_bytes`` two standard errors of it."""

    sessions: int
    rounds_bytes: tuple[float, ...]
    per_session_bytes: float
    error_bytes: float


def require_files(pid: int, sessions: int) -> None:
    """Raises ``InvalidInput`` where the server or this process may not have as many sockets open."""
    needed = WARM + ROUNDS * sessions + _OTHER_FILES
    for process, whose in ((pid, "the server's"), (os.getpid(), "this process's")):
        limit = open_files_limit(process)
        if limit is not None and limit < needed:
            raise InvalidInput(
                f"{ROUNDS} times {sessions} idle sessions need {needed} open files, {whose} limit is {limit}: raise it "
                "(ulimit -n), or ask for fewer (--sessions)",
                "sessions",
            )


def measure_idle(
    player: Player,
    make_target: Callable[[], Target],
    texts: Iterator[str],
    pid: int,
    sessions: int,
    read_bytes: Callable[[int], int | None] = anonymous_bytes,
) -> Idle:
    """``sessions``: of each of :data:`ROUNDS` rounds. Raises ``ModelUnavailable`` where the memory of ``pid`` cannot be
    read, or a session does not speak."""
    opened: list[Target] = []

    def open_some(count: int) -> None:
        target = make_target()
        opened.append(target)
        played = player.play(target, [Line(next(texts)) for _ in range(count)], ClosedLoop(count, 0, count))
        if fault := next((take.error for take in played.takes if take.error), ""):
            raise ModelUnavailable(f"a session that was to be idle did not speak: {fault}")

    def kept() -> int:
        if (found := read_bytes(pid)) is None:
            raise ModelUnavailable(f"the memory of process {pid} cannot be read")
        return found

    try:
        for count in _parts(WARM):
            open_some(count)
        rounds = []
        for _ in range(ROUNDS):
            points = [(0, kept())]
            for count in _parts(sessions):
                open_some(count)
                points.append((points[-1][0] + count, kept()))
            rounds.append(slope(points))
    finally:
        for target in opened:
            player.part(target)
    error = 2 * statistics.stdev(rounds) / len(rounds) ** 0.5
    return Idle(ROUNDS * sessions, tuple(rounds), statistics.fmean(rounds), error)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the line through ``points`` (x, y) by least squares; at least two different x."""
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope


def _parts(count: int) -> Iterator[int]:
    for done in range(0, count, AT_ONCE):
        yield min(AT_ONCE, count - done)
