"""Pure tones: what a voice detector may take for a voice. Pure."""

from functools import cache

import numpy as np

from antiphon.core.frame import Samples

BINS = 2
SHARE = 0.99
"""Of the power, within so many bins of the two loudest ones: a Hann window spreads a tone over two to each side."""


def is_tone(samples: Samples) -> bool:
    """Whether a piece (some ten milliseconds) is one or two steady pure tones, as beeps and instruments are.

    Now and then a piece of a voice is one too (one in thirty), but hardly a whole word.
    """
    power = np.square(np.abs(np.fft.rfft(samples * _window(len(samples)))))
    total = float(power.sum())
    kept = 0.0
    for _ in range(2):
        peak = int(power.argmax())
        around = slice(max(0, peak - BINS), peak + BINS + 1)
        kept += float(power[around].sum())
        power[around] = 0.0
    return total > 0 and kept > SHARE * total


@cache
def _window(size: int) -> Samples:
    return np.hanning(size).astype(np.float32)
