"""What ``antiphon bench tts`` is to measure, and whether that can be done."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.bench.arrivals import MEASURED_STARTS
from antiphon.bench.capacity import Limits
from antiphon.bench.measure import PRE_ROLL_S
from antiphon.bench.systems import PEERS, Server
from antiphon.bench.tts_scenario import TtsScenario
from antiphon.bench.workload import TextKind
from antiphon.core.errors import InvalidInput

if TYPE_CHECKING:
    from antiphon.bench.wer import Recognise


@dataclass(frozen=True, slots=True)
class TtsOptions:
    """What to measure. Nothing but ``streams`` is on by default.

    ``streams``: loads; 1 is one caller after the other on an idle server, N > 1 a steady state of N. ``starts``
    measured per load and system, in ``blocks`` interleaved blocks. ``burst``: also all N of each load at once,
    ``burst_times`` times. ``peers``: of ``hibari``, ``kokoro``; run beside the server under each load that they can
    carry, for at most ``peer_budget_s`` per load. ``capacity``: search the largest load within ``limits``;
    ``capacity_bursts``: also the largest number of requests at the same moment.
    ``overload``: a steady load that is meant to be too high (0: none). ``echo``: cost per message against a bare echo,
    on ``echo_streams`` callers; ``echo_model``: another model id for it (a scripted engine, if the server has one);
    ``server_pid``: 0 looks up who serves the URL. ``wer``: read the committed sentences back, needs a
    recogniser. ``token_gap_s``: feed text token by token under all loads (None: whole).
    ``scenario``: its texts and loads instead of ``text`` and ``streams``. ``closed``: loads of callers, each one
    request after the other; ``rates_hz``: Poisson starts a second. ``quality``: of up to ``quality_takes`` takes per
    system and load, beside their speed. ``containers``: the same texts over every wire of the server.
    ``models``: files whose hashes belong into the report. ``out``: where the report goes (JSON, and Markdown beside).
    """

    server: Server
    streams: tuple[int, ...] = (1, 16)
    text: TextKind = "words25"
    seed: int = 1
    starts: int = MEASURED_STARTS
    blocks: int = 4
    burst: bool = False
    burst_times: int = 5
    peers: tuple[str, ...] = ()
    peer_threads: int = 0
    peer_budget_s: float = 240.0
    kokoro_files: tuple[Path, Path] | None = None
    capacity: bool = False
    capacity_bursts: bool = False
    capacity_start: int = 16
    capacity_highest: int = 512
    limits: Limits = field(default_factory=Limits)
    overload: int = 0
    echo: bool = False
    echo_streams: int = 4
    echo_model: str = ""
    server_pid: int = 0
    wer: bool = False
    wer_token_gap_s: float = 0.02
    token_gap_s: float | None = None
    pre_roll_s: float = PRE_ROLL_S
    timeout_s: float = 60.0
    scenario: TtsScenario | None = None
    closed: tuple[int, ...] = ()
    rates_hz: tuple[float, ...] = ()
    quality: bool = False
    quality_takes: int = 24
    containers: bool = False
    region: str = ""
    models: tuple[tuple[str, Path], ...] = ()
    notes: tuple[str, ...] = ()
    out: Path | None = None


def check(options: TtsOptions, recognise: "Recognise | None") -> None:
    if options.wer and recognise is None:
        raise InvalidInput("error rates need a recogniser", "wer")
    if any(streams < 1 for streams in (*options.streams, *options.closed)):
        raise InvalidInput("streams must be positive", "streams")
    if any(rate <= 0 for rate in options.rates_hz):
        raise InvalidInput("rates must be positive", "rates")
    if options.blocks < 1 or options.starts < options.blocks:
        raise InvalidInput("there must be at least one start per block", "starts")
    for name in options.peers:
        if name not in PEERS:
            raise InvalidInput(f"unknown peer {name!r}; known: {', '.join(PEERS)}", "peers")
