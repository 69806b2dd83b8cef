import numpy as np
import pytest

from train.voice import features


def sine(hz: float, seconds: float = 0.5, level: float = 1.0) -> features.Real:
    count = round(seconds * 24_000) // 300 * 300
    return (level * np.sin(2 * np.pi * hz * np.arange(count) / 24_000)).astype(np.float32)


def test_a_full_scale_sine_is_about_one_in_its_band_and_nothing_far_away() -> None:
    mel = features.log_mel(sine(1000))
    middle = mel[len(mel) // 2]
    band = int(middle.argmax())
    assert features.mel_weights()[50, band] > 0.3  # bin 50 is 1000 Hz
    assert 0 <= middle[band] < 0.7
    assert middle[(band + 8) :].max() < np.log(1e-3)


def test_silence_is_the_floor() -> None:
    assert features.log_mel(np.zeros(3000, np.float32)) == pytest.approx(np.log(features.FLOOR))


def test_a_frame_looks_at_its_own_middle() -> None:
    samples = np.zeros(40 * 300, np.float32)
    samples[20 * 300 + 150] = 1.0
    energy = features.log_mel(samples).mean(axis=1)
    assert int(energy.argmax()) == 20
    assert energy[19] == pytest.approx(energy[21], abs=1e-3)


def test_every_band_sees_something() -> None:
    assert features.mel_weights().shape == (601, 80)
    assert (features.mel_weights().sum(axis=0) > 0.5).all()


def test_level_and_semitones() -> None:
    assert features.level_db(sine(500, level=0.1)) == pytest.approx(-23.01, abs=0.2)
    assert features.level_db(np.zeros(300, np.float32)) == pytest.approx(-120)
    assert features.semitones(np.array([100, 200], np.float32)) == pytest.approx([0, 12])
