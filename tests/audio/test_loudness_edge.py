import numpy as np
import pytest

from antiphon.audio.loudness_edge import LoudnessEdge
from antiphon.core.frame import Samples

RATE_HZ = 16_000


def tone(seconds: float, gain: float = 0.3) -> Samples:
    time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    out: Samples = (gain * np.sin(2 * np.pi * 220 * time)).astype(np.float32)
    return out


def edge(*parts: Samples, piece: int = 320) -> LoudnessEdge:
    found = LoudnessEdge(RATE_HZ)
    samples = np.concatenate(parts)
    for start in range(0, len(samples), piece):
        found.push(samples[start : start + piece])
    return found


SILENCE = np.zeros(RATE_HZ, np.float32)


@pytest.mark.parametrize("piece", [37, 320, 100_000])
def test_the_last_sound_is_found_to_the_window(piece: int) -> None:
    assert edge(SILENCE, tone(1.0), SILENCE, piece=piece).last_loud(RATE_HZ, 3 * RATE_HZ) == 2 * RATE_HZ


def test_a_quiet_end_within_40_db_counts_and_below_it_does_not() -> None:
    assert edge(SILENCE, tone(1.0), tone(0.2, 0.3 * 10 ** (-30 / 20)), SILENCE).last_loud(0, 48_000) == 2.2 * RATE_HZ
    assert edge(SILENCE, tone(1.0), tone(0.2, 0.3 * 10 ** (-50 / 20)), SILENCE).last_loud(0, 48_000) == 2 * RATE_HZ


def test_noise_is_no_sound() -> None:
    noise = np.random.default_rng(1).normal(0, 0.01, 4 * RATE_HZ).astype(np.float32)
    speech = np.concatenate((SILENCE, tone(1.0), SILENCE, SILENCE))
    assert edge(noise + speech).last_loud(RATE_HZ, 3 * RATE_HZ) == 2 * RATE_HZ


def test_only_what_was_asked_for_is_looked_at() -> None:
    found = edge(tone(1.0), SILENCE, tone(0.5), SILENCE)
    assert found.last_loud(0, 2 * RATE_HZ) == RATE_HZ
    assert found.last_loud(RATE_HZ, 2 * RATE_HZ) is None
    assert found.last_loud(10 * RATE_HZ, 12 * RATE_HZ) is None


def test_a_long_call_is_remembered_for_a_minute_only() -> None:
    found = LoudnessEdge(RATE_HZ)
    for _ in range(90):
        found.push(tone(1.0))
    assert len(found._powers) == 6_000
    assert found.last_loud(0, RATE_HZ) is None
    assert found.last_loud(85 * RATE_HZ, 90 * RATE_HZ) == 90 * RATE_HZ
