"""The loads of ``antiphon bench tts``: what is played under each, by the options or by a frozen scenario. Pure."""

from antiphon.bench.arrivals import ClosedLoop, Schedule, at_rate, one_at_a_time, steady
from antiphon.bench.duel import Plan
from antiphon.bench.systems import System
from antiphon.bench.tts_options import TtsOptions

LEAST_IDLE_STARTS = 20
"""So many starts a slow peer gets on an idle server, whatever its budget."""


class Loads:
    """``server``: the system whose playing time says what a number of streams is."""

    def __init__(self, options: TtsOptions, server: System) -> None:
        self._options = options
        self._server = server
        scenario = options.scenario
        self.blocks = min(options.blocks, scenario.load.starts) if scenario else options.blocks

    def all(self) -> list[tuple[float, Plan]]:
        """(streams, what to play), the idle server first."""
        options, playing_s = self._options, self._server.playing_s
        if options.scenario is not None:
            load = options.scenario.load
            return [
                *((callers, self.closed(callers, load.starts, load.warm_up)) for callers in load.closed),
                *((streams, self.steady(streams, starts=load.starts)) for streams in load.open),
                *((rate * playing_s, self.rate(rate, load.starts)) for rate in load.rates_hz),
            ]
        return [
            *((streams, self.idle if streams == 1 else self.steady(streams)) for streams in options.streams),
            *((callers, self.closed(callers, options.starts, callers)) for callers in options.closed),
            *((rate * playing_s, self.rate(rate, options.starts)) for rate in options.rates_hz),
        ]

    def idle(self, system: System, block: int) -> Schedule:
        """One caller; a slow peer gets as many starts as its budget of time allows."""
        starts = self._options.starts
        if system is not self._server:
            starts = min(starts, max(LEAST_IDLE_STARTS, int(self._options.peer_budget_s / system.service_s)))
        return one_at_a_time(-(-starts // self.blocks), first=1)

    def steady(self, streams: int, blocks: int = 0, salt: int = 0, starts: int = 0) -> Plan:
        measured = -(-(starts or self._options.starts) // (blocks or self.blocks))
        seed = self._options.seed + salt
        return lambda system, block: steady(streams, system.playing_s, seed + block, measured=measured)

    def closed(self, callers: int, starts: int, warm_up: int) -> Plan:
        measured = -(-starts // self.blocks)
        return lambda system, block: ClosedLoop(callers, warm_up, measured)

    def rate(self, rate_hz: float, starts: int) -> Plan:
        measured = -(-starts // self.blocks)
        return lambda system, block: at_rate(rate_hz, system.playing_s, self._options.seed + block, measured=measured)
