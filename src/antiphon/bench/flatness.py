"""Half an hour in one stream: does an ear cost the same in the last minute as in the second?

Every minute is sent, then finalized; when its ``flush_done`` is there, all of it has been understood, and the server's
memory and CPU time are read.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.clip import EAR_RATE_HZ, Clip
from antiphon.bench.hearing import hearing_of
from antiphon.bench.measure_stt import plain_words, slope
from antiphon.bench.player import Player
from antiphon.bench.process import cpu_time, rss_bytes
from antiphon.bench.systems import Progress, silent
from antiphon.bench.target.cartesia_stt import LongStt
from antiphon.core.frame import Samples

MINUTE_S = 60.0
GAP_S = (0.3, 1.2)


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute of audio: seconds it took on the clock, CPU seconds of the server and its memory afterwards (None:
    not known), words heard."""

    wall_s: float
    cpu_s: float | None
    rss_bytes: int | None
    words: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Flatness:
    """Slopes are least squares over the last half: bytes, and CPU seconds, per minute of audio."""

    minutes: tuple[Minute, ...]
    rss_slope_bytes: float | None
    cpu_slope_s: float | None


def flatness(
    player: Player, ear: LongStt, clips: Sequence[Clip], minutes: int, pid: int | None, *, seed: int = 1,
    progress: Progress = silent,
) -> Flatness:  # fmt: skip
    """Play ``minutes`` minutes made of ``clips`` into one stream. Stops at the first failure."""
    done: list[Minute] = []
    for number, clip in enumerate(minutes_of(clips, minutes, seed)):
        before = cpu_time(pid) if pid else None
        (recording,), load = player.record(ear, [clip], ClosedLoop(1, 0, 1))
        after = cpu_time(pid) if pid else None
        used_s = after.since(before).all_s if before and after else None
        words = len(plain_words(hearing_of(clip, recording, turns=False).transcript))
        done.append(Minute(load.wall_s, used_s, rss_bytes(pid) if pid else None, words, recording.error))
        progress(f"minute {number + 1} of {minutes}: {load.wall_s:.1f} s")
        if recording.error:
            break
    player.part(ear)
    return judged(done)


def judged(minutes: Sequence[Minute]) -> Flatness:
    half = minutes[len(minutes) // 2 :]
    sizes = [minute.rss_bytes for minute in half if minute.rss_bytes is not None]
    costs = [minute.cpu_s for minute in half if minute.cpu_s is not None]
    return Flatness(
        tuple(minutes),
        slope(sizes) if len(sizes) == len(half) and half else None,
        slope(costs) if len(costs) == len(half) and half else None,
    )


def minutes_of(clips: Sequence[Clip], minutes: int, seed: int) -> list[Clip]:
    """Clips at 16 kHz, drawn in turning order, with pauses of 0.3-1.2 s between them, cut into whole minutes."""
    rng = random.Random(f"antiphon-bench:minutes:{seed}")
    size = round(MINUTE_S * EAR_RATE_HZ)
    made: list[Clip] = []
    rest: Samples = np.zeros(0, np.float32)
    order: list[Clip] = []
    while len(made) < minutes:
        pieces, count = [rest], len(rest)
        while count < size:
            if not order:
                order = rng.sample(list(clips), len(clips))
            samples = order.pop().samples
            gap = round(rng.uniform(*GAP_S) * EAR_RATE_HZ)
            quiet = np.asarray(1e-4 * np.random.default_rng(rng.randrange(2**31)).standard_normal(gap), np.float32)
            pieces += [samples, quiet]
            count += len(samples) + gap
        whole = np.concatenate(pieces)
        made.append(Clip(f"minute {len(made) + 1}", whole[:size], group="minutes"))
        rest = whole[size:]
    return made
