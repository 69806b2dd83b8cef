"""What the server spends per message, beside echoes on the same stack that send messages of the same sizes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeAlias

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.player import Played, Player
from antiphon.bench.process import CpuTime, cpu_time
from antiphon.bench.recording import Take
from antiphon.bench.systems import Progress, System, silent
from antiphon.bench.target.contract import Line, Target
from antiphon.bench.target.echo import Echo, EchoServer, echo_app, order_line, sizes_line
from antiphon.bench.target.echo_native import NativeEcho, native_echo_app, native_line
from antiphon.bench.target.echo_returning import ReturningEcho, returning_app

REQUESTS_PER_BLOCK = 100

EchoKind: TypeAlias = Literal["echo", "fair echo", "native fair echo", "returning echo"]
"""``returning``: each message comes and goes back. All others answer one request with all its messages, at once."""


@dataclass(slots=True)
class Cost:
    """CPU seconds of a server process over a number of audio messages: of all its threads, and of its main thread. The
    event loop lives there, models on other threads: the main thread's time is what the wire costs."""

    name: str
    messages: int = 0
    wire_bytes: int = 0
    all_s: float = 0.0
    main_s: float = 0.0
    round_trips_s: list[float] = field(default_factory=list)
    """Request sent -> first message there, per request."""

    @property
    def all_per_message_s(self) -> float | None:
        return self.all_s / self.messages if self.messages else None

    @property
    def wire_per_message_s(self) -> float | None:
        return self.main_s / self.messages if self.messages else None

    def add(self, takes: Sequence[Take], used: CpuTime) -> None:
        good = [take for take in takes if not take.error]
        self.messages += sum(len(take.chunks) for take in good)
        self.wire_bytes += sum(take.wire_bytes for take in good)
        self.all_s += used.all_s
        self.main_s += used.main_s
        self.round_trips_s += [
            take.stamps_s[0] - take.started_s for take in good if take.stamps_s and take.started_s is not None
        ]


def compare(
    player: Player,
    system: System,
    server_pid: int,
    texts: Iterator[str],
    *,
    streams: int,
    blocks: int,
    requests: int = REQUESTS_PER_BLOCK,
    kinds: Sequence[EchoKind] = ("echo",),
    progress: Progress = silent,
) -> tuple[Cost, ...]:
    """(server, an echo of each of ``kinds``): blocks of ``requests`` in a closed loop of ``streams``, server first,
    then the echoes with the message sizes that the server has just sent. A fair echo does what the wire itself asks
    for, see :mod:`~antiphon.bench.target.echo`. Raises ``ProcessLookupError`` if the server's CPU time cannot be read.
    """
    ours = Cost(system.name)
    with ExitStack() as stack:
        echoes = [stack.enter_context(_Beside.started(kind, player)) for kind in kinds]
        schedule = ClosedLoop(streams, 0, requests)
        for block in range(blocks):
            progress(f"message cost: block {block + 1} of {blocks}")
            lines = [Line(text) for text in islice(texts, requests)]
            played, used = _billed(player, system.target, lines, schedule, server_pid)
            ours.add(played.takes, used)
            good = [(line.text, _sizes(take)) for line, take in zip(lines, played.takes, strict=True)
                    if not take.error and take.chunks]  # fmt: skip
            if not good:
                continue
            for echo in echoes:
                asked = [echo.ask(text, sizes) for text, sizes in good]
                played, used = _billed(player, echo.target, asked, ClosedLoop(streams, 0, len(asked)), echo.server.pid)
                echo.cost.add(played.takes, used)
        return (ours, *(echo.cost for echo in echoes))


@dataclass(slots=True)
class _Beside:
    """An echo that runs, what asks it for messages of these sizes, and what it has cost."""

    server: EchoServer
    target: Echo
    ask: Callable[[str, Sequence[int]], Line]
    cost: Cost

    @classmethod
    @contextmanager
    def started(cls, kind: EchoKind, player: Player) -> "Iterator[_Beside]":
        application, target, ask = _KINDS[kind]
        server = EchoServer(*application)
        try:
            echo = cls(server, target(server.url, name=kind), ask, Cost(kind))
            try:
                yield echo
            finally:
                player.part(echo.target)
        finally:
            server.close()


def _ask_for_sizes(_: str, sizes: Sequence[int]) -> Line:
    return sizes_line(sizes)


_Making: TypeAlias = tuple[tuple[Any, ...], Callable[..., Echo], Callable[[str, Sequence[int]], Line]]
_KINDS: dict[EchoKind, _Making] = {
    "echo": ((echo_app,), Echo, _ask_for_sizes),
    "fair echo": ((echo_app, True), partial(Echo, fair=True), order_line),
    "native fair echo": ((native_echo_app,), NativeEcho, native_line),
    "returning echo": ((returning_app,), ReturningEcho, _ask_for_sizes),
}
"""The application and its arguments, what plays to it, and what asks for messages of these sizes."""


def _billed(
    player: Player, target: Target, lines: Sequence[Line], schedule: ClosedLoop, pid: int
) -> tuple[Played, CpuTime]:
    player.prepare(target, schedule.streams)
    before = cpu_time(pid)
    played = player.play(target, lines, schedule)
    after = cpu_time(pid)
    if before is None or after is None:
        raise ProcessLookupError(f"no CPU time of process {pid} can be read")
    return played, after.since(before)


def _sizes(take: Take) -> list[int]:
    """Message sizes of a take, spread evenly: sizes of a stream's messages are near enough to equal."""
    count = len(take.chunks)
    return [take.wire_bytes // count + (1 if at < take.wire_bytes % count else 0) for at in range(count)]
