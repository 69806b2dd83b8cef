"""Signals that the tests of the audio room share. All are made from fixed seeds."""

import numpy as np
import pytest

from antiphon.core.frame import Samples


@pytest.fixture(scope="session")
def speech_24k() -> Samples:
    """Two seconds that behave like speech: gliding harmonics in syllables, a hiss, a pause; silent at both ends."""
    rate = 24_000
    time_s = np.arange(2 * rate) / rate
    phase = 2 * np.pi * np.cumsum(140 + 30 * np.sin(2 * np.pi * 0.7 * time_s)) / rate
    voiced = sum(np.sin(k * phase + k) / (1 + (k - 4) ** 2 / 6) for k in range(1, 24))
    syllables = np.clip(np.sin(2 * np.pi * 3 * time_s), 0, None) ** 0.7
    hiss = np.random.default_rng(5).standard_normal(len(time_s)) * np.clip(
        np.sin(2 * np.pi * 1.5 * time_s - 2), 0, None
    )
    mixed = np.asarray(voiced) * syllables * 0.08 + hiss * 0.02
    mixed[int(0.9 * rate) : int(1.1 * rate)] = 0
    edge = np.minimum(1, np.minimum(np.arange(len(mixed)), np.arange(len(mixed))[::-1]) / 480)
    return (mixed * edge).astype(np.float32)


def cuts(total: int, seed: int, most: int = 2_000) -> list[slice]:
    """Slices that cover ``[0, total)`` in pieces of odd sizes, some of them empty."""
    random = np.random.default_rng(seed)
    slices, at = [], 0
    while at < total:
        size = int(random.integers(0, most))
        slices.append(slice(at, at + size))
        at += size
    return slices


def snr_db(wanted: Samples, got: Samples) -> float:
    wanted = np.asarray(wanted, np.float64)
    return float(10 * np.log10(np.sum(wanted**2) / max(1e-20, float(np.sum((wanted - got) ** 2)))))
