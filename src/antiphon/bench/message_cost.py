"""What the server spends per message, beside a bare echo on the same stack that sends messages of the same sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.player import Played, Player
from antiphon.bench.process import cpu_s
from antiphon.bench.recording import Take
from antiphon.bench.systems import Progress, System, silent
from antiphon.bench.target.contract import Line, Target
from antiphon.bench.target.echo import Echo, EchoServer, sizes_line

REQUESTS_PER_BLOCK = 100


@dataclass(slots=True)
class Cost:
    """CPU seconds of a server process over a number of audio messages. ``stated_s``: synthesis, by its own statement
    (``step_time``), which is not a cost of the wire."""

    name: str
    messages: int = 0
    wire_bytes: int = 0
    cpu_s: float = 0.0
    stated_s: float = 0.0
    round_trips_s: list[float] = field(default_factory=list)
    """Request sent -> first message there, per request."""

    @property
    def per_message_s(self) -> float | None:
        return self.cpu_s / self.messages if self.messages else None

    @property
    def wire_per_message_s(self) -> float | None:
        """Without what the server says that synthesis took. An estimate: stated times are wall time of its workers."""
        return (self.cpu_s - self.stated_s) / self.messages if self.messages else None

    def add(self, takes: Sequence[Take], cpu_s: float) -> None:
        good = [take for take in takes if not take.error]
        self.messages += sum(len(take.chunks) for take in good)
        self.wire_bytes += sum(take.wire_bytes for take in good)
        self.cpu_s += cpu_s
        self.stated_s += sum(take.compute_s or 0.0 for take in good)
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
    progress: Progress = silent,
) -> tuple[Cost, Cost]:
    """(server, echo): blocks of ``requests`` in a closed loop of ``streams``, server first, then the echo with the
    message sizes that the server has just sent. Raises ``ProcessLookupError`` if the server's CPU time cannot be read.
    """
    ours, bare = Cost(system.name), Cost("echo")
    echo_server = EchoServer()
    echo = Echo(echo_server.url)
    try:
        schedule = ClosedLoop(streams, 0, requests)
        for block in range(blocks):
            progress(f"message cost: block {block + 1} of {blocks}")
            lines = [Line(text) for text in islice(texts, requests)]
            played, used_s = _billed(player, system.target, lines, schedule, server_pid)
            ours.add(played.takes, used_s)
            sizes = [sizes_line(_sizes(take)) for take in played.takes if not take.error and take.chunks]
            if not sizes:
                continue
            played, used_s = _billed(player, echo, sizes, ClosedLoop(streams, 0, len(sizes)), echo_server.pid)
            bare.add(played.takes, used_s)
    finally:
        player.part(echo)
        echo_server.close()
    return ours, bare


def _billed(
    player: Player, target: Target, lines: Sequence[Line], schedule: ClosedLoop, pid: int
) -> tuple[Played, float]:
    player.prepare(target, schedule.streams)
    before_s = cpu_s(pid)
    played = player.play(target, lines, schedule)
    after_s = cpu_s(pid)
    if before_s is None or after_s is None:
        raise ProcessLookupError(f"no CPU time of process {pid} can be read")
    return played, after_s - before_s


def _sizes(take: Take) -> list[int]:
    """Message sizes of a take, spread evenly: sizes of a stream's messages are near enough to equal."""
    count = len(take.chunks)
    return [take.wire_bytes // count + (1 if at < take.wire_bytes % count else 0) for at in range(count)]
