"""The reference sound: sources, filters, overlap-add."""

import numpy as np
import pytest

from train.voice import dsp


def run(frames: int, seed: int = 3, at_sample: int = 0, pulses: float = -4.0, f0: float = 180.0) -> np.ndarray:
    state = dsp.start(f0)
    cepstra = np.full(sum(dsp.CEPSTRA), 0.0, np.float32)
    cepstra[[0, 128, 176]] = pulses, -4.0, -4.0
    made = [dsp.frame(state, cepstra, f0, dsp.noise(seed, at_sample + k * dsp.HOP)) for k in range(frames)]
    return np.concatenate(made)


def test_noise_is_a_function_of_seed_and_absolute_sample() -> None:
    assert np.array_equal(dsp.noise(5, 1200), dsp.noise(5, 1200))
    assert not np.array_equal(dsp.noise(5, 1200), dsp.noise(6, 1200))
    assert not np.array_equal(dsp.noise(5, 1200), dsp.noise(5, 1500))
    many = np.concatenate([dsp.noise(1, k * dsp.HOP) for k in range(-50, 400)])
    assert abs(float(many.std()) - 1) < 0.02
    assert abs(float(many.mean())) < 0.02


def test_pulses_are_periodic_and_have_unit_power() -> None:
    state = dsp.start(200.0)
    pulses = np.concatenate([dsp.excite(state, 200.0, np.zeros(dsp.HOP, np.float32))[0] for _ in range(40)])
    assert np.sqrt(np.mean(pulses**2)) == np.float32(1) or abs(np.sqrt(np.mean(pulses**2)) - 1) < 0.02
    period = dsp.SAMPLE_RATE_HZ // 200
    assert np.allclose(pulses[:-period], pulses[period:], atol=2e-3)


def test_response_is_the_minimum_phase_sum_of_the_cepstrum() -> None:
    cepstrum = np.random.default_rng(0).normal(0, 0.3, 48).astype(np.float32)
    k = np.arange(48)
    for bin_ in (0, 7, 200, 512):
        wanted = np.exp(np.sum(cepstrum * np.exp(-2j * np.pi * bin_ * k / dsp.N_FFT)))
        assert np.isclose(dsp.response(cepstrum)[bin_], wanted, rtol=1e-5)


def test_no_filter_is_louder_than_its_limit() -> None:
    assert np.abs(dsp.response(np.array([50.0], np.float32))).max() <= np.exp(dsp.LOUDEST) * 1.001


def test_a_flat_filter_gives_back_its_sources() -> None:
    """exp(-4) on the noises, the pulses as good as off: after the first frame overlapping windows sum to one."""
    made = run(20, pulses=-60.0)
    state = dsp.start(180.0)
    sources = [dsp.excite(state, 180.0, dsp.noise(3, k * dsp.HOP))[1:].sum(axis=0) for k in range(20)]
    wanted = np.exp(-4.0) * np.concatenate(sources)
    assert np.allclose(made[dsp.HOP * 2 :], wanted[dsp.HOP : -dsp.HOP], atol=1e-5)


def test_the_same_place_in_a_stream_sounds_the_same() -> None:
    assert np.array_equal(run(5, at_sample=90_000), run(5, at_sample=90_000))
    assert not np.array_equal(run(5, at_sample=90_000), run(5, at_sample=90_300))


def test_no_pulse_is_a_click_and_none_loses_power() -> None:
    assert np.allclose(np.abs(dsp.LATE), 1)
    spread = np.fft.irfft(dsp.LATE, dsp.N_FFT)
    assert np.abs(spread).max() < 0.35
    assert np.sum(spread**2) == pytest.approx(1.0)
