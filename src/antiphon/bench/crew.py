"""Several player processes for one schedule, where one process would be the bottleneck.

Each holds its own connections and issues every k-th start. All share the machine's monotonic clock, so that stamps of
different processes can be compared.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeAlias

from antiphon.bench.arrivals import OpenLoop, share
from antiphon.bench.player import TIMEOUT_S, Cue, Played, Player, PlayerLoad
from antiphon.bench.recording import Take
from antiphon.bench.target.contract import Line, Target
from antiphon.core.clock import MonotonicClock

READY_TIMEOUT_S = 60.0
LEAD_IN_S = 0.2

MakeTarget: TypeAlias = Callable[[], Target]
"""Makes the target in the player's process: must pickle (a class, a bound method of a frozen value, a ``partial``)."""


class Crew:
    """``players`` processes that play one open-loop schedule together. ``RuntimeError`` when one of them dies."""

    def __init__(self, make_target: MakeTarget, players: int, *, timeout_s: float = TIMEOUT_S) -> None:
        if players < 1:
            raise ValueError("a crew needs at least one player")
        context = multiprocessing.get_context("spawn")
        self._timeout_s = timeout_s
        self._links: list[Connection] = []
        self._processes: list[BaseProcess] = []
        for _ in range(players):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, make_target, timeout_s), daemon=True)
            process.start()
            theirs.close()
            self._links.append(ours)
            self._processes.append(process)

    def play(self, lines: Sequence[Line], schedule: OpenLoop) -> Played:
        """Like :meth:`Player.play`; the load is the sum (CPU) and the worst (lag) of the players."""
        if len(lines) != schedule.requests:
            raise ValueError(f"the schedule has {schedule.requests} requests, but there are {len(lines)} lines")
        players = len(self._links)
        for player, link in enumerate(self._links):
            cues = [Cue(at, schedule.starts_s[at], lines[at]) for at in share(schedule, players, player)]
            link.send((cues, -(-schedule.streams // players)))
        for link in self._links:
            self._receive(link, READY_TIMEOUT_S)
        begin_s = MonotonicClock().now_s() + LEAD_IN_S
        for link in self._links:
            link.send(begin_s)
        longest_s = LEAD_IN_S + max(schedule.starts_s, default=0.0) + self._timeout_s + READY_TIMEOUT_S
        takes: list[Take] = []
        loads: list[PlayerLoad] = []
        for link in self._links:
            some, load = self._receive(link, longest_s)
            takes += some
            loads.append(load)
        takes.sort(key=lambda take: take.index)
        return Played(tuple(takes), schedule.first, schedule.measured, _together(loads))

    def close(self) -> None:
        for link in self._links:
            link.close()
        for process in self._processes:
            process.join(5.0)
            if process.is_alive():
                process.terminate()

    def _receive(self, link: Connection, timeout_s: float) -> "tuple[list[Take], PlayerLoad]":
        try:
            if not link.poll(timeout_s):
                raise RuntimeError(f"a player did not answer within {timeout_s:.0f} s")
            answer = link.recv()
        except EOFError:
            raise RuntimeError("a player process died") from None
        if isinstance(answer, str):
            raise RuntimeError(f"a player failed: {answer}")
        takes, load = answer
        return takes, load


def _together(loads: Sequence[PlayerLoad]) -> PlayerLoad:
    return PlayerLoad(
        wall_s=max(load.wall_s for load in loads),
        cpu_share=sum(load.cpu_share for load in loads),
        lag_p99_s=max(load.lag_p99_s for load in loads),
        lag_max_s=max(load.lag_max_s for load in loads),
        processes=len(loads),
    )


_IDLE = PlayerLoad(0.0, 0.0, 0.0, 0.0)


def _serve(link: Connection, make_target: MakeTarget, timeout_s: float) -> None:
    """A player process: orders come as (cues, streams), then the common beginning; takes and load go back."""
    with Player(timeout_s=timeout_s) as player:
        target = make_target()
        while True:
            try:
                cues, streams = link.recv()
                player.prepare(target, streams)
                link.send(([], _IDLE))
                recordings, load = player.perform(target, cues, link.recv())
                link.send(([target.take(recording) for recording in recordings], load))
            except EOFError:
                return
            except Exception as error:
                link.send(f"{type(error).__name__}: {error}")
                return
