import numpy as np
import pytest

from antiphon.bench.planted import voice
from antiphon.bench.sound import listen

RATE_HZ = 24_000


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def test_silence_in_front_behind_and_inside_is_told_apart() -> None:
    sound = listen(np.concatenate((silence(0.3), voice(), silence(0.4), voice(), silence(0.2))), RATE_HZ)
    assert sound.leading_s == pytest.approx(0.3, abs=0.011)
    assert sound.trailing_s == pytest.approx(0.25, abs=0.011), "the voice ends with 50 ms of its own"
    assert sound.longest_pause_s == pytest.approx(0.45, abs=0.021)
    assert sound.speech_s == pytest.approx(0.3 + 4.4 + 0.2 - 0.3 - 0.25, abs=0.03)


@pytest.mark.parametrize("shift", [0.75, 1.0, 1.5, 2.0])
def test_pitch_follows_the_voice(shift: float) -> None:
    assert listen(voice(round(RATE_HZ / shift)), RATE_HZ).pitch_hz == pytest.approx(120 * shift, rel=0.01)


def test_noise_has_no_pitch() -> None:
    noise = (0.1 * np.random.default_rng(1).standard_normal(RATE_HZ)).astype(np.float32)
    assert listen(noise, RATE_HZ).pitch_hz is None


def test_drift_of_loudness_and_pitch_over_a_long_piece() -> None:
    seconds = 30
    time_s = np.arange(seconds * RATE_HZ) / RATE_HZ
    fading = voice(speech_s=seconds) * 10 ** (-6 * time_s / 60 / 20)
    assert listen(fading.astype(np.float32), RATE_HZ).loudness_drift == pytest.approx(-6.0, abs=0.3)
    # two semitones a minute upwards
    hz = 120 * 2 ** (2 * time_s / 60 / 12)
    phase = 2 * np.pi * np.cumsum(hz) / RATE_HZ
    rising = 0.2 * (np.sin(phase) + 0.5 * np.sin(2 * phase))
    assert listen(rising.astype(np.float32), RATE_HZ).pitch_drift == pytest.approx(2.0, abs=0.1)
    assert listen(voice(), RATE_HZ).pitch_drift is None, "two seconds say nothing about drift"


def test_a_cut_end_clicks_and_clipping() -> None:
    whole = voice()
    assert not listen(whole, RATE_HZ).cut_off
    assert listen(whole[: round(1.73 * RATE_HZ)], RATE_HZ).cut_off
    assert listen(np.clip(20 * whole, -1, 1), RATE_HZ).clipped_samples > 100
    jump = whole.copy()
    jump[30_000:] *= -1
    assert listen(jump, RATE_HZ).clicks >= 1
    assert listen(whole, RATE_HZ).clicks == 0


def test_silence_alone() -> None:
    sound = listen(silence(1.0), RATE_HZ)
    assert (sound.level_dbfs, sound.pitch_hz, sound.speech_s) == (None, None, 0.0)
    assert listen(np.zeros(0, np.float32), RATE_HZ).audio_s == 0.0
