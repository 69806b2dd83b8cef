"""The proof of the measuring: faults that were planted are measured, and named, in virtual time and on this machine.

What is expected is worked out by hand from each plan (see the comments), not by the code under proof.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.conditions import conditions
from antiphon.bench.diagnosis import Fault, faults, ms
from antiphon.bench.duel import Score
from antiphon.bench.measure import Measured, measure
from antiphon.bench.planted import PLANS, Plan
from antiphon.bench.player import Player
from antiphon.bench.report import Cell, Report, Table
from antiphon.bench.sound import Sound
from antiphon.bench.systems import Progress, silent
from antiphon.bench.target.cartesia_ws import CartesiaWs
from antiphon.bench.target.contract import Line, Target, links_of
from antiphon.bench.target.faulty import FaultyServer
from antiphon.bench.target.planted import Planted
from antiphon.bench.target.virtual import virtual
from antiphon.core.clock import ManualClock

TAKES = 5
EXACT_S = 1e-6

EXPECTED: Mapping[str, Mapping[str, float]] = {
    "healthy": {"ttfb_s": 0.02, "ttfa_s": 0.02, "heard_s": 0.02, "gap_s": 0.0},
    "slow connection": {"connect_s": 0.4, "ttfb_s": 0.02},
    "delay": {"ttfb_s": 0.65, "ttfa_s": 0.65},
    # 0.33 s of silence: the first sound is in the fourth chunk of 0.1 s, sent 3 * 25 ms after the first
    "silence padding": {"leading_silence_s": 0.33, "ttfb_s": 0.02, "ttfa_s": 0.095, "heard_s": 0.35},
    # 80 ms late, which moves all that follows; then 120 ms late, of which 80 ms are paid for
    "underruns": {"underruns": 2, "gap_s": 0.12, "needed_pre_roll_s": 0.12},
    # 6 of 20 chunks are 45 ms late: 12 of 19 distances are off by as much
    "jitter": {"jitter_s": 12 * 0.045 / 19, "gap_s": 0.0},
    # 0.8 s of audio came in 0.175 s; the ninth chunk is there 2.1 s after the first, the player dry since 0.8 s
    "stall": {"stall_s": 1.925, "gap_s": 1.3, "underruns": 1},
    # the lead of 0.325 s outlasts it; three chunks later it is there again
    "stall, hidden by the lead": {"stall_s": 0.275, "recovered_s": 0.075, "gap_s": 0.0},
    # speech ends at 1.73 s instead of 1.95 s: the last 50 ms were silence
    "truncated tail": {"speech_s": 1.73},
    # 1.95 s and 120 Hz, played one and a half times as fast
    "wrong sample rate": {"speech_s": 1.3, "pitch_hz": 180.0},
    "refusal": {"refused_s": 0.02},
}
NAMES: Mapping[str, frozenset[str]] = {
    "healthy": frozenset(),
    "slow connection": frozenset({"slow connection"}),
    "delay": frozenset({"delay"}),
    "silence padding": frozenset({"silence padding"}),
    "underruns": frozenset({"underruns"}),
    "jitter": frozenset({"jitter"}),
    "stall": frozenset({"stall", "underruns"}),
    "stall, hidden by the lead": frozenset({"stall"}),
    "truncated tail": frozenset({"truncated tail"}),
    "wrong sample rate": frozenset({"wrong sample rate"}),
    "refusal": frozenset({"refusal"}),
}
"""The faults that a report must name, and no others."""

_EXACT_SOUND = {"speech_s": 0.011, "pitch_hz": 1.0}
"""Sound is told in windows of 10 ms, pitch by a fit: as exact as that, whatever the clock."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One plan: what was planted and measured, and the faults that were named. ``missed``/``invented``: names that are
    wanting, or too many."""

    plan: Plan
    planted: Mapping[str, float]
    measured: Mapping[str, float | None]
    faults: tuple[Fault, ...]
    figures: tuple[Measured, ...]

    @property
    def missed(self) -> frozenset[str]:
        return NAMES[self.plan.name] - {fault.kind for fault in self.faults}

    @property
    def invented(self) -> frozenset[str]:
        return frozenset(fault.kind for fault in self.faults) - NAMES[self.plan.name]

    def off(self, name: str) -> float | None:
        value = self.measured[name]
        return None if value is None else abs(value - self.planted[name])

    @property
    def exact(self) -> bool:
        """Whether every figure is what was planted, as far as its definition is exact."""
        return all(
            (off := self.off(name)) is not None and off <= _EXACT_SOUND.get(name, EXACT_S) for name in self.planted
        )


def in_virtual_time() -> list[Proof]:
    """Every plan, through the real player, on a clock that only waiting moves. Takes no time."""
    proofs: list[Proof] = []
    for plan in PLANS:
        clock = ManualClock(1_000.0)
        with Player(clock=clock, loop=virtual(clock)) as player:
            proofs.append(_prove(player, Planted(plan, clock), plan, proofs[0] if proofs else None))
    return proofs


def on_this_machine(progress: Progress = silent) -> list[Proof]:
    """Every plan, by a server in a process of its own, over a socket, by the real clock. About half a minute."""
    server = FaultyServer()
    proofs: list[Proof] = []
    try:
        with Player() as player:
            _prove(player, CartesiaWs(f"{server.url}/0", name="warm-up"), PLANS[0], None)
            for number, plan in enumerate(PLANS):
                progress(f"selftest: {plan.name}")
                target = CartesiaWs(f"{server.url}/{number}", name=plan.name)
                proofs.append(_prove(player, target, plan, proofs[0] if proofs else None))
    finally:
        server.close()
    return proofs


def report(live: bool = True, progress: Progress = silent) -> tuple[Report, bool]:
    """(the report, whether the measuring can be trusted): exact in virtual time, and every planted fault named."""
    at = conditions(settings={"takes of each plan": TAKES})
    proofs = in_virtual_time()
    tables = [_table("In virtual time", proofs)]
    trusted = all(proof.exact and not proof.missed and not proof.invented for proof in proofs)
    if live:
        proofs = on_this_machine(progress)
        tables.append(_table("By a faulty server on this machine", proofs))
        trusted = trusted and not any(proof.missed for proof in proofs)
    groups = tuple(replace(_score(proof).group("planted"), faults=proof.faults) for proof in proofs)
    return Report("antiphon bench selftest", at, tuple(tables), groups), trusted


def _prove(player: Player, target: Target, plan: Plan, healthy: Proof | None) -> Proof:
    lines = [Line(f"{plan.name} {number}") for number in range(TAKES)]
    played = player.play(target, lines, ClosedLoop(1, 0, TAKES))
    figures = tuple(measure(take) for take in played.takes)
    links = links_of(target)
    reference = healthy.figures[0].sound if healthy else None
    found = faults(figures, connects_s=links.connects_s, reference=reference)
    planted = EXPECTED[plan.name]
    measured = {name: _median(figures, links.connects_s, name) for name in planted}
    return Proof(plan, planted, measured, found, figures)


def _median(figures: tuple[Measured, ...], connects_s: list[float], name: str) -> float | None:
    values = [value for figure in figures if (value := _value(figure, name)) is not None]
    if name == "connect_s":
        values = list(connects_s)
    return sorted(values)[len(values) // 2] if values else None


def _value(figure: Measured, name: str) -> float | None:
    if name in ("speech_s", "pitch_hz"):
        sound: Sound | None = figure.sound
        return None if sound is None else getattr(sound, name)
    return getattr(figure, name, None)


def _score(proof: Proof) -> Score:
    score = Score(proof.plan.name)
    score.figures += proof.figures
    return score


def _table(title: str, proofs: list[Proof]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for proof in proofs:
        for place, name in enumerate(proof.planted):
            rows.append(
                (
                    proof.plan.name if place == 0 else "",
                    name,
                    _shown(name, proof.planted[name]),
                    _shown(name, proof.measured[name]),
                    _shown(name, proof.off(name)),
                    ", ".join(fault.kind for fault in proof.faults) or "none" if place == 0 else "",
                )
            )
    said = [f"{proof.plan.name}: {fault.component}: {fault.text}" for proof in proofs for fault in proof.faults]
    wrong = [
        f"**{proof.plan.name}: not named: {', '.join(proof.missed) or '-'}; named without cause: "
        f"{', '.join(proof.invented) or '-'}**"
        for proof in proofs
        if proof.missed or proof.invented
    ]
    note = f"Measured: median of {TAKES} takes. Named: the faults that the report finds, by itself."
    return Table(title, ("planted fault", "figure", "planted", "measured", "off by", "named"), tuple(rows),
                 (note, *said, *wrong))  # fmt: skip


def _shown(name: str, value: float | None) -> Cell:
    if value is None:
        return "none"
    return ms(value) if name.endswith("_s") else f"{value:g}"
