"""Where speech is in a piece of audio, and what is wrong with it. Pure measuring, for the bench and for tests.

A window is 10 ms. The *speech level* is the mean power of the windows that are within 30 dB of the loudest one: pauses
do not lower it. *Audible* is a window within 25 dB of the speech level, so that breath and noise do not count.
"""

import numpy as np
from numpy.typing import NDArray

from antiphon.core.frame import Samples

WINDOW_S = 0.01
ACTIVE_DB = 30.0
AUDIBLE_DB = 25.0
CLICK_RATIO = 4.0
SILENCE_DBFS = -90.0
"""A file whose loudest window is below this (about the last bit of 16-bit PCM) holds no speech at all."""


def speech_level_dbfs(samples: Samples, rate_hz: int) -> float:
    """Active speech level in dB relative to full scale (a square wave of 1.0 is 0 dB); ``-inf`` for silence."""
    power = window_power(samples, rate_hz)
    if not len(power) or _db(float(power.max())) < SILENCE_DBFS:
        return float("-inf")
    active = power >= power.max() * 10 ** (-ACTIVE_DB / 10)
    return _db(float(power[active].mean()))


def first_audible_sample(samples: Samples, rate_hz: int, level_dbfs: float | None = None) -> int | None:
    """Start of the first audible 10 ms window; None if nothing is audible.

    ``level_dbfs``: the utterance's speech level, where ``samples`` are only its beginning.
    """
    audible = _audible_windows(samples, rate_hz, level_dbfs)
    return int(audible[0]) * _window_samples(rate_hz) if len(audible) else None


def last_audible_sample(samples: Samples, rate_hz: int, level_dbfs: float | None = None) -> int | None:
    """Last sample of the last audible 10 ms window; None if nothing is audible."""
    audible = _audible_windows(samples, rate_hz, level_dbfs)
    return min((int(audible[-1]) + 1) * _window_samples(rate_hz), len(samples)) - 1 if len(audible) else None


def window_power(samples: Samples, rate_hz: int) -> NDArray[np.float64]:
    """Mean square of each 10 ms window ``[windows]``; the last may be shorter."""
    size = _window_samples(rate_hz)
    if not len(samples):
        return np.zeros(0)
    squares = np.square(np.asarray(samples, dtype=np.float64))
    starts = np.arange(0, len(squares), size)
    counts = np.minimum(len(squares) - starts, size)
    power: NDArray[np.float64] = np.add.reduceat(squares, starts) / counts
    return power


def clipped(samples: Samples, at: float = 0.999) -> int:
    """Number of samples that lie in runs of at least two at the same sign beyond ``at``: tops that were cut off."""
    samples = np.asarray(samples)
    high, low = samples >= at, samples <= -at
    count = 0
    for beyond in (high, low):
        padded = np.concatenate(([False], beyond, [False]))
        count += int(np.count_nonzero(beyond & (padded[:-2] | padded[2:])))
    return count


def clicks(samples: Samples, rate_hz: int, least_step: float = 0.01) -> list[int]:
    """Samples at which the wave jumps: bad joints, lost or repeated samples, a start or an end that is not silent.

    A jump is white, speech is not: in the fifth difference a jump stands alone, while fricatives and plosives are as
    strong within 1 ms before or after. Reported is the first sample after a jump that exceeds the neighbourhood
    :data:`CLICK_RATIO` times (more below 16 kHz, where speech itself is whiter) and a step of ``least_step``. Silence
    is assumed around the piece. Natural renderings stay below a ratio of 3.1; of random joints inside voiced speech
    more than half are found, of jumps from or to silence all. Linear PCM only: companding adds jumps of its own.
    """
    order, near, far = 5, 3, 24
    padded = np.pad(np.asarray(samples, dtype=np.float64), far + order)
    bend = np.abs(np.diff(padded, n=order))
    # the largest value in the `far - near` places that end `near` before, and that start `near` after each place
    runs = np.lib.stride_tricks.sliding_window_view(bend, far - near).max(axis=1)
    at = np.arange(far, len(bend) - far)
    around = np.maximum(runs[at - far], runs[at + near + 1])
    here = bend[at]
    # the fifth difference of a step of 1 peaks at 6
    ratio = CLICK_RATIO if rate_hz >= 16_000 else CLICK_RATIO * 1.5
    found = np.flatnonzero((here > ratio * around) & (here > 6 * least_step))
    # one jump rings in several places: report the strongest of each group
    groups = np.split(found, np.flatnonzero(np.diff(found) > 2 * order) + 1)
    strongest = [int(group[np.argmax(here[group])]) for group in groups if len(group)]
    return [min(max(place - order // 2, 0), len(samples) - 1) for place in strongest]


def _audible_windows(samples: Samples, rate_hz: int, level_dbfs: float | None) -> NDArray[np.intp]:
    level = speech_level_dbfs(samples, rate_hz) if level_dbfs is None else level_dbfs
    if not np.isfinite(level):
        return np.zeros(0, np.intp)
    return np.flatnonzero(window_power(samples, rate_hz) >= 10 ** ((level - AUDIBLE_DB) / 10))


def _window_samples(rate_hz: int) -> int:
    return max(1, round(rate_hz * WINDOW_S))


def _db(power: float) -> float:
    return 10 * float(np.log10(power)) if power > 0 else float("-inf")
