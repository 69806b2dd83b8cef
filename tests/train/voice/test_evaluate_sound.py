import numpy as np
import pytest
from numpy.typing import NDArray

from train.voice import evaluate_sound as sound


def voice(semitones: NDArray[np.float64], seconds: float = 1.0) -> sound.Real:
    """A buzz whose F0 follows these semitones above 100 Hz."""
    count = round(seconds * 24_000)
    pitch = np.interp(np.arange(count), np.linspace(0, count, len(semitones)), semitones)
    phase = np.cumsum(100 * 2 ** (pitch / 12)) / 24_000
    buzz = sum(np.cos(2 * np.pi * harmonic * phase) / harmonic for harmonic in range(1, 20))
    edges = np.minimum(1, np.minimum(np.arange(count), np.arange(count)[::-1]) / 480)
    return np.asarray(0.08 * buzz * edges, np.float32)


def test_a_steady_pitch_is_found() -> None:
    f0 = sound.track_f0(voice(np.full(9, 12.0)))
    assert len(f0) == 80
    assert np.median(f0) == pytest.approx(200, rel=0.02)
    assert np.mean(f0 > 0) > 0.9


def test_silence_and_noise_have_no_pitch() -> None:
    noise = np.random.default_rng(1).normal(0, 0.05, 24_000).astype(np.float32)
    assert not sound.track_f0(np.zeros(24_000, np.float32)).any()
    assert np.mean(sound.track_f0(noise) > 0) < 0.05
    assert sound.f0_spread_st(noise) is None


def test_the_spread_is_that_of_the_pitch() -> None:
    swing = 3 * np.sin(np.linspace(0, 4 * np.pi, 200)) + 12
    wide, narrow = sound.f0_spread_st(voice(swing, 2.0)), sound.f0_spread_st(voice(12 + (swing - 12) / 2, 2.0))
    assert wide == pytest.approx(np.std(swing), rel=0.1)
    assert narrow == pytest.approx(np.std(swing) / 2, rel=0.15)
    assert sound.f0_mean_st(voice(swing, 2.0)) == pytest.approx(12, abs=0.7)


def test_a_cut_in_a_wave_is_a_click_and_a_voice_is_none() -> None:
    clean = 0.2 * np.sin(2 * np.pi * 220 * np.arange(24_000) / 24_000).astype(np.float32)
    broken = np.concatenate((clean[:11_980], clean[12_030:]))
    assert sound.clicks(clean)[0] == 0
    assert sound.clicks(broken)[0] == 1
    assert sound.clicks(voice(np.full(9, 12.0)))[0] == 0


def test_level_of_speech_leaves_out_the_pauses() -> None:
    tone = 0.1 * np.sin(2 * np.pi * 440 * np.arange(24_000) / 24_000).astype(np.float32)
    assert sound.speech_db(np.concatenate((tone, np.zeros(24_000, np.float32)))) == pytest.approx(-23.0, abs=0.1)
