import numpy as np
import pytest

from antiphon.audio import activity
from antiphon.audio.shape import KNEE, GainRamp, Limiter
from antiphon.core.frame import Samples

from .conftest import cuts, snr_db


def loud_sine(peak: float, hz: float = 200, rate_hz: int = 24_000) -> Samples:
    return (peak * np.sin(2 * np.pi * hz * np.arange(rate_hz) / rate_hz)).astype(np.float32)


def limit(samples: Samples) -> Samples:
    return Limiter(24_000).push(samples)


def test_limiter_is_transparent_below_the_knee(speech_24k: Samples) -> None:
    quiet = speech_24k / np.abs(speech_24k).max() * np.float32(KNEE)
    assert np.array_equal(limit(quiet), quiet)


def test_limiter_chunked_equals_whole_bit_for_bit(speech_24k: Samples) -> None:
    loud = speech_24k / np.abs(speech_24k).max() * np.float32(2.0)
    limiter = Limiter(24_000)
    parts = [limiter.push(loud[piece]) for piece in cuts(len(loud), seed=2)]
    assert np.array_equal(np.concatenate(parts), limit(loud))


def test_volume_2_is_not_clipped(speech_24k: Samples) -> None:
    loud = speech_24k / np.abs(speech_24k).max() * np.float32(2.0)
    limited = limit(loud)
    assert activity.clipped(np.clip(loud, -1, 1)) > 100, "the fault is there without the limiter"
    assert activity.clipped(limited) == 0
    assert np.abs(limited).max() < 1
    # louder than before, and still the same wave but for its level
    assert activity.speech_level_dbfs(limited, 24_000) > activity.speech_level_dbfs(loud / 2, 24_000) + 1.5


def test_limiter_keeps_a_steady_sine_a_sine() -> None:
    limited = limit(loud_sine(1.8))[12_000:]
    wave = loud_sine(1.8)[12_000:]
    scale = np.dot(limited, wave) / np.dot(wave, wave)
    assert snr_db(limited, (scale * wave).astype(np.float32)) > 35
    assert snr_db(wave, np.clip(wave, -1, 1)) < 12, "what hard clipping does"


def test_limiter_lets_go_after_a_peak() -> None:
    limiter = Limiter(24_000)
    limiter.push(np.full(10, 2.0, np.float32))
    after = limiter.push(np.full(24_000, 0.5, np.float32))
    assert after[0] < 0.3
    assert after[-1] == 0.5
    assert np.all(np.diff(after) >= 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_limiter_forgets_a_damaged_sample(bad: float) -> None:
    limiter = Limiter(24_000)
    assert np.isfinite(limiter.push(np.array([0.5, bad, 0.5], np.float32))).all()
    assert limiter.push(np.full(24_000, 0.5, np.float32))[-1] == 0.5


@pytest.mark.parametrize("peak", [1e3, 3e38])
def test_limiter_never_exceeds_full_scale(peak: float) -> None:
    assert np.abs(limit(loud_sine(peak))).max() <= 1


def test_gain_changes_without_a_click_and_chunked_equals_whole(speech_24k: Samples) -> None:
    def run(slices: list[slice]) -> Samples:
        gain = GainRamp(24_000, 1.0)
        first = [gain.push(speech_24k[:12_000][piece]) for piece in slices]
        gain.set(2.0)
        middle = [gain.push(speech_24k[12_000:12_100])]
        gain.set(0.0)  # again, while it still glides
        return np.concatenate([*first, *middle, *(gain.push(speech_24k[12_100:][piece]) for piece in slices)])

    one = run([slice(0, 50_000)])
    assert np.array_equal(run([slice(at, at + 77) for at in range(0, 50_000, 77)]), one)
    assert np.array_equal(one[:12_000], speech_24k[:12_000])
    assert not one[12_400:].any()
    assert activity.clicks(one, 24_000) == []


def test_gain_reaches_its_value_in_ramp_ms() -> None:
    gain = GainRamp(24_000, 0.5, ramp_ms=10)
    gain.set(1.5)
    got = gain.push(np.ones(480, np.float32))
    assert got[0] == 0.5
    assert got[239] < 1.5
    assert np.all(got[240:] == 1.5)
    assert np.abs(np.diff(got)).max() < 0.005
