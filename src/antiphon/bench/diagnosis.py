"""Which component made the caller wait, and what is wrong with a delivery, in words. Pure.

A take's wait is cut into stages that add up: nothing is guessed, each stage lies between two events of the client's
clock. Which component a stage belongs to is said beside it. Quantiles do not add up, so a waterfall at p95 is the mean
of the takes whose wait is near the p95.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from antiphon.bench.measure import Measured
from antiphon.bench.sound import Sound

COMPONENTS = ("client", "network", "server", "voice", "delivery")
AUDIBLE_GAP_S = 0.001
"""Silence below this in the middle of a take is an underrun in the tables, but no fault: nobody hears it."""

NEAR = 0.05
"""A waterfall at a quantile is the mean of this share of the takes on either side of it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """``component``: one of :data:`COMPONENTS`."""

    name: str
    component: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Stages of the wait until speech is heard, and the silence in its middle, of the takes near a quantile."""

    quantile: float
    takes: int
    stages: tuple[Stage, ...]

    @property
    def total_s(self) -> float:
        return sum(stage.seconds for stage in self.stages)

    @property
    def components(self) -> dict[str, float]:
        """Component -> seconds that it made the caller wait."""
        sums: dict[str, float] = {}
        for stage in self.stages:
            sums[stage.component] = sums.get(stage.component, 0.0) + stage.seconds
        return sums

    @property
    def culprit(self) -> Stage | None:
        """The longest stage of the component that made the caller wait longest; None where nobody waited."""
        sums = self.components
        component = max(sums, key=lambda name: sums[name], default="")
        if not component or sums[component] <= 0:
            return None
        return max((stage for stage in self.stages if stage.component == component), key=lambda stage: stage.seconds)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What is not a fault, in seconds unless said otherwise. ``ratio``: of lengths and pitches to a reference."""

    late_p99_s: float = 0.005
    connect_p50_s: float = 0.15
    first_byte_p95_s: float = 0.2
    queue_p95_s: float = 0.1
    leading_p50_s: float = 0.1
    jitter_p50_s: float = 0.02
    stall_s: float = 0.25
    missing_s: float = 0.05
    ratio: float = 0.08


@dataclass(frozen=True, slots=True)
class Fault:
    """``kind`` is a fixed name, ``component`` as in :class:`Stage`, ``takes`` how many have it, ``text`` says it to a
    reader, with figures."""

    kind: str
    component: str
    takes: int
    text: str


def stages(take: Measured, rtt_s: float = 0.0, idle_first_byte_s: float | None = None) -> tuple[Stage, ...]:
    """The wait of one take that was heard. ``rtt_s``: round trip of the network, part of the first byte's time.

    ``idle_first_byte_s``: what the first byte takes the same server without load: what is more is its queue.
    Empty for a take in which nothing was heard.
    """
    if take.ttfb_s is None or take.ttfa_s is None or take.heard_s is None:
        return ()
    network_s = min(rtt_s, take.ttfb_s)
    server_s = take.ttfb_s - network_s
    queue_s = 0.0 if idle_first_byte_s is None else max(0.0, server_s - max(0.0, idle_first_byte_s - rtt_s))
    return (
        Stage("client was late", "client", take.late_s),
        Stage("round trip", "network", network_s),
        Stage("time to the first byte", "server", server_s - queue_s),
        Stage("queue under load", "server", queue_s),
        Stage("silence sent before sound", "voice", take.ttfa_s - take.ttfb_s),
        Stage("silence played before speech", "voice", take.heard_s - take.ttfa_s),
        Stage("gaps while playing", "delivery", take.gap_s),
    )


def waterfall(
    takes: Sequence[Measured], quantile: float, rtt_s: float = 0.0, idle_first_byte_s: float | None = None
) -> Waterfall:
    """Of the takes near ``quantile`` of the whole wait."""
    all_stages = [found for take in takes if (found := stages(take, rtt_s, idle_first_byte_s))]
    all_stages.sort(key=lambda found: sum(stage.seconds for stage in found))
    if not all_stages:
        return Waterfall(quantile, 0, ())
    at = quantile * (len(all_stages) - 1)
    reach = NEAR * len(all_stages)
    near = [found for place, found in enumerate(all_stages) if abs(place - at) <= max(reach, 0.5)]
    mean = tuple(
        Stage(first.name, first.component, sum(found[place].seconds for found in near) / len(near))
        for place, first in enumerate(near[0])
    )
    return Waterfall(quantile, len(near), mean)


def faults(
    takes: Sequence[Measured],
    *,
    connects_s: Sequence[float] = (),
    rtt_s: float = 0.0,
    idle_first_byte_s: float | None = None,
    reference: Sound | None = None,
) -> tuple[Fault, ...]:
    """All that is wrong with ``takes`` of one system under one load; nothing for a good one.

    ``reference``: the same text by the same voice as it should be. Without one, a missing tail is told by the sound at
    the end, and a wrong sample rate cannot be told at all: raw PCM does not say its rate.
    """
    bound = Tolerances()
    good = [take for take in takes if not take.error]
    heard = [take for take in good if take.sound is not None and take.sound.level_dbfs is not None]
    found: list[Fault | None] = [
        _failed(takes),
        _mute(good),
        _over("late client", "client", takes, "late_s", 0.99, bound.late_p99_s, "the bench itself was late by"),
        _connection(connects_s, bound),
        _first_byte(good, rtt_s, idle_first_byte_s, bound),
        _over("silence padding", "voice", heard, "leading_silence_s", 0.5, bound.leading_p50_s,
              "speech is preceded by silence of"),
        _underruns(good),
        _stall(good, bound),
        _jitter(good, bound),
        *_against(heard, reference, bound),
        _counted("clipping", "voice", heard, lambda sound: sound.clipped_samples, "clipped samples"),
    ]  # fmt: skip
    return tuple(fault for fault in found if fault is not None)


def _failed(takes: Sequence[Measured]) -> Fault | None:
    failed = [take for take in takes if take.error]
    if not failed:
        return None
    words = max({take.error for take in failed}, key=lambda text: sum(take.error == text for take in failed))
    return Fault("refusal", "server", len(failed), f"{len(failed)} of {len(takes)} requests failed: {words}")


def _mute(good: Sequence[Measured]) -> Fault | None:
    mute = [take for take in good if take.ttfa_s is None]
    text = f"{len(mute)} of {len(good)} answers hold nothing audible"
    return Fault("nothing audible", "voice", len(mute), text) if mute else None


def _over(
    kind: str, component: str, takes: Sequence[Measured], name: str, at: float, bound_s: float, words: str
) -> Fault | None:
    values = [value for take in takes if (value := getattr(take, name)) is not None]
    if not values or quantile(values, at) <= bound_s:
        return None
    over = sum(value > bound_s for value in values)
    text = f"{words} {ms(quantile(values, at))} (p{100 * at:.0f}), more than {ms(bound_s)}"
    return Fault(kind, component, over, text)


def _connection(connects_s: Sequence[float], bound: Tolerances) -> Fault | None:
    if not connects_s or median(connects_s) <= bound.connect_p50_s:
        return None
    over = sum(value > bound.connect_p50_s for value in connects_s)
    text = f"a connection takes {ms(median(connects_s))} (p50) until the handshake is over"
    return Fault("slow connection", "network", over, text)


def _first_byte(
    good: Sequence[Measured], rtt_s: float, idle_s: float | None, bound: Tolerances
) -> Fault | None:
    values = [take.ttfb_s for take in good if take.ttfb_s is not None]
    if not values:
        return None
    p95 = quantile(values, 0.95)
    if idle_s is not None and p95 - idle_s > bound.queue_p95_s:
        text = f"under load the first byte comes {ms(p95 - idle_s)} (p95) later than from the idle server: a queue"
        return Fault("queue", "server", sum(value - idle_s > bound.queue_p95_s for value in values), text)
    if p95 <= bound.first_byte_p95_s:
        return None
    component = "network" if rtt_s > p95 / 2 else "server"
    text = f"the first byte takes {ms(p95)} (p95), {ms(min(rtt_s, p95))} of it the network's round trip"
    return Fault("delay", component, sum(value > bound.first_byte_p95_s for value in values), text)


def _underruns(good: Sequence[Measured]) -> Fault | None:
    dry = [take for take in good if take.gap_s >= AUDIBLE_GAP_S]
    if not dry:
        return None
    count, gap_s = sum(take.underruns for take in dry), sum(take.gap_s for take in dry)
    pre_roll_s = max(take.needed_pre_roll_s or 0.0 for take in dry)
    text = (
        f"the player ran dry {count} times in {len(dry)} of {len(good)} takes, {ms(gap_s)} of silence in all; "
        f"a pre-roll of {ms(pre_roll_s)} would have hidden it"
    )
    return Fault("underruns", "delivery", len(dry), text)


def _stall(good: Sequence[Measured], bound: Tolerances) -> Fault | None:
    stalled = [take for take in good if take.stall is not None and take.stall.length_s > bound.stall_s]
    if not stalled:
        return None
    worst = max((take.stall for take in stalled if take.stall), key=lambda stall: stall.length_s)
    after = "never made up" if worst.recovered_s is None else f"made up {ms(worst.recovered_s)} later"
    text = f"nothing came for {ms(worst.length_s)}, {ms(worst.begin_s)} after the first byte; {after}"
    return Fault("stall", "delivery", len(stalled), text)


def _jitter(good: Sequence[Measured], bound: Tolerances) -> Fault | None:
    """Of takes without stalls and underruns: those have their own names."""
    calm = [take for take in good if take.stall is None and not take.underruns]
    return _over("jitter", "delivery", calm, "jitter_s", 0.5, bound.jitter_p50_s, "chunks come off their pace by")


def _against(
    heard: Sequence[Measured], reference: Sound | None, bound: Tolerances
) -> tuple[Fault | None, Fault | None]:
    """(truncated tail, wrong sample rate)."""
    sounds = [take.sound for take in heard if take.sound is not None]
    if not sounds:
        return None, None
    cut = sum(sound.cut_off for sound in sounds)
    ends = Fault("truncated tail", "voice", cut, f"{cut} of {len(sounds)} takes end in the middle of a sound")
    if reference is None:
        return ends if cut else None, None
    length = median(sound.speech_s for sound in sounds)
    if reference.pitch_hz and reference.speech_s:
        faster = reference.speech_s / length if length else 0.0
        higher = median([sound.pitch_hz for sound in sounds if sound.pitch_hz] or [0.0]) / reference.pitch_hz
        if abs(higher - 1) > bound.ratio and abs(faster / higher - 1) < bound.ratio:
            text = (
                f"speech is {higher:.2f} times as high and {faster:.2f} times as fast as it should be: it was made for "
                f"a sample rate {1 / higher:.2f} times the stated one"
            )
            return None, Fault("wrong sample rate", "voice", len(sounds), text)
    missing_s = reference.speech_s - length
    if not cut or missing_s <= bound.missing_s:
        return ends if cut else None, None
    return Fault("truncated tail", "voice", cut, f"{ends.text}; {ms(missing_s)} of speech are missing"), None


def _counted(
    kind: str, component: str, heard: Sequence[Measured], count: Callable[[Sound], int], words: str
) -> Fault | None:
    sounds = [take.sound for take in heard if take.sound is not None]
    total = sum(count(sound) for sound in sounds)
    having = sum(1 for sound in sounds if count(sound))
    return Fault(kind, component, having, f"{total} {words} in {having} of {len(sounds)} takes") if total else None


def quantile(values: Sequence[float], at: float) -> float:
    """By linear interpolation, as everywhere in the bench."""
    return float(np.quantile(values, at))


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms"
