"""What the house itself costs: a message beside an echo, memory of an idle session, and whether either grows.

The server is one with a scripted voice, so that no model's work is in the figures. Linux, on the server's machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.conditions import conditions
from antiphon.bench.floor_memory import AT_ONCE, ROUNDS, WARM, Idle, measure_idle, require_files
from antiphon.bench.message_cost import Cost, EchoKind, compare
from antiphon.bench.player import Player
from antiphon.bench.process import cpu_time
from antiphon.bench.report import Cell, Report, Table
from antiphon.bench.systems import Progress, Server, Wire, silent, try_out
from antiphon.bench.target.contract import Line, Target
from antiphon.bench.workload import distinct
from antiphon.core.errors import ModelUnavailable

STREAMS = (1, 32, 100)
WIRES: tuple[Wire, ...] = ("cartesia-ws", "native-speech")
_MADE = {"cartesia-ws": ", encoded as base64 in JSON", "native-speech": ", binary"}
ALLOWED_RATIO = 1.5
ALLOWED_SESSION_BYTES = 200_000
IDLE_SESSIONS = 200
AGE, BLOCK, BLOCKS = 100, 20, 5
"""Requests by which a session ages before it is measured, requests of a block, and blocks."""


@dataclass(frozen=True, slots=True)
class Length:
    """CPU of the event loop per message, in sessions of ``block`` requests and in one that is ``requests`` old at last:
    medians of blocks that took turns."""

    requests: int
    block: int
    fresh_s: float
    old_s: float


@dataclass(frozen=True, slots=True)
class Floor:
    wire: Wire
    costs: tuple[tuple[int, Cost, Cost, Cost], ...]
    """Callers; the house, the fair echo and the returning one."""
    idle: Idle
    length: Length


def measure_floor(
    url: str, pid: int, *, wire: Wire = "cartesia-ws", blocks: int = 6, requests: int = 200,
    sessions: int = IDLE_SESSIONS, seed: int = 1, progress: Progress = silent,
) -> Floor:  # fmt: skip
    """``pid``: the server's process, which has served nobody yet; ``wire``: of :data:`WIRES`; ``sessions``: idle ones
    of each round.

    Raises ``ModelUnavailable`` if it does not speak or cannot be read, ``InvalidInput`` for more sessions than it may
    have open.
    """
    require_files(pid, sessions)
    texts = distinct("words25", seed)
    server = Server(url, wire)
    fair: EchoKind = "native fair echo" if wire == "native-speech" else "fair echo"
    with Player() as player:
        system = try_out(player, server.target(), [next(texts) for _ in range(8)])
        if cpu_time(pid) is None:
            raise ModelUnavailable("the server's CPU time cannot be read: it must run here, on Linux")
        progress(f"floor: {ROUNDS} times {sessions} idle sessions")
        idle = measure_idle(player, server.target, distinct("words5", seed), pid, sessions)
        costs = []
        for streams in STREAMS:
            progress(f"floor: {streams} streams")
            ours, echo, returning = compare(player, system, pid, texts, streams=streams, blocks=blocks,
                                            requests=max(requests, 2 * streams),
                                            kinds=(fair, "returning echo"))  # fmt: skip
            costs.append((streams, ours, echo, returning))
        progress("floor: a session that grows old")
        length = _length(player, server, pid, texts)
        return Floor(wire, tuple(costs), idle, length)


def floor_report(found: Floor, notes: tuple[str, ...] = ()) -> Report:
    rows: list[tuple[Cell, ...]] = []
    for streams, ours, echo, returning in found.costs:
        mine, bare, woken = ours.wire_per_message_s, echo.wire_per_message_s, returning.wire_per_message_s
        rows.append((streams, ours.messages, ours.wire_bytes // max(1, ours.messages), _us(mine), _us(bare),
                     _ratio(mine, bare), _us(woken), _ratio(mine, woken), _us(ours.all_per_message_s),
                     _us(echo.all_per_message_s)))  # fmt: skip
    cost = Table(
        "The house's cost of a message",
        (
            "streams",
            "messages",
            "bytes each",
            "CPU us, event loop",
            "fair echo",
            "ratio",
            "returning echo",
            "ratio to it",
            "CPU us, all threads",
            "fair echo, all threads",
        ),
        tuple(rows),
        (
            f"Scripted voice, {found.wire}, closed loop. The fair echo, on the same stack, reads the same request, "
            f"sends as much audio in the same messages{_MADE[found.wire]}, all at once, and does nothing else. "
            f"Wanted: at most {ALLOWED_RATIO} times.",
            "The returning echo gets each message of that size and sends it back: a server that is woken for every "
            "message. The house is woken whenever a worker has made audio, a few times a request.",
            "CPU of reading the requests, opening streams and all else is in the figures, over audio messages; all "
            "threads: with the workers, which read text, make the scripted audio and encode it.",
            f"One caller: {_us(found.length.fresh_s)} us a message in sessions of {found.length.block} requests, "
            f"{_us(found.length.old_s)} in one that has come to {found.length.requests}; medians of blocks in turns.",
        ),
    )
    idle = found.idle
    memory = Table(
        "Memory of an idle session",
        ("sessions", "kB each", "two standard errors", "lowest round", "highest round", "wanted, at most"),
        (
            (
                idle.sessions,
                _kb(idle.per_session_bytes),
                _kb(idle.error_bytes),
                _kb(min(idle.rounds_bytes)),
                _kb(max(idle.rounds_bytes)),
                ALLOWED_SESSION_BYTES // 1000,
            ),
        ),
        (
            f"Growth of the server's anonymous memory over {found.wire} sockets that have spoken once and stay open: "
            f"slopes by least squares over {len(idle.rounds_bytes)} rounds, on top of {WARM} sockets that are not "
            f"counted; at most {AT_ONCE} spoke at a time.",
        ),
    )
    return Report("antiphon bench floor", conditions(notes=notes, network="loopback"), (cost, memory), (),
                  {"floor": found})  # fmt: skip


def _length(player: Player, server: Server, pid: int, texts: Iterator[str]) -> Length:
    """A session grows old; then it and fresh ones speak, in turns."""

    def speak(target: Target, count: int) -> float:
        player.prepare(target, 1)
        lines = [Line(next(texts)) for _ in range(count)]
        before = cpu_time(pid)
        played = player.play(target, lines, ClosedLoop(1, 0, count))
        after = cpu_time(pid)
        messages = sum(len(take.chunks) for take in played.takes) or 1
        return after.since(before).main_s / messages if before and after else 0.0

    old = server.target()
    speak(old, AGE)
    of_fresh, of_old = [], []
    for _ in range(BLOCKS):
        fresh = server.target()
        of_fresh.append(speak(fresh, BLOCK))
        of_old.append(speak(old, BLOCK))
        player.part(fresh)  # its end costs neither
    player.part(old)
    return Length(AGE + BLOCKS * BLOCK, BLOCK, median(of_fresh), median(of_old))


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return round(ours / theirs, 2) if ours and theirs else None


def _kb(size: float) -> float:
    return round(size / 1000, 1)


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else round(1e6 * seconds, 1)
