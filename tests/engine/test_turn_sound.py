"""Where the pitch ends, how the level falls, and when the sound is really over."""

import numpy as np
import pytest

from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.engine.turn_sound import EARLIER_S, LATER_S, UNKNOWN, ending, later_s


def voice(hz: list[float], each_s: float = 0.4, level: float = 0.2) -> Samples:
    """A buzz that goes through the given pitches."""
    pitch = np.repeat(hz, round(each_s * EAR_RATE_HZ))
    phase = np.cumsum(pitch) / EAR_RATE_HZ
    return (level * (2 * (phase % 1.0) - 1)).astype(np.float32)


def tone(seconds: float, level: float = 1e-4, seed: int = 0) -> Samples:
    return np.random.default_rng(seed).normal(0, level, round(seconds * EAR_RATE_HZ)).astype(np.float32)


def test_a_pitch_that_ends_low_is_told_from_one_that_stays_up() -> None:
    low = ending(voice([150, 160, 150, 150, 110]))
    high = ending(voice([150, 160, 150, 150, 180]))
    assert low.pitch == pytest.approx(12 * np.log2(110 / 150), abs=0.5)
    assert high.pitch == pytest.approx(12 * np.log2(180 / 150), abs=0.5)


def test_a_level_that_fades_falls_faster_than_one_that_is_cut() -> None:
    cut = voice([150] * 4)
    faded = cut.copy()
    faded[-4_800:] *= np.geomspace(1.0, 0.04, 4_800, dtype=np.float32)
    assert ending(faded).fall < ending(cut).fall - 20


def test_what_is_too_short_or_has_no_voice_is_unknown() -> None:
    assert ending(np.zeros(100, np.float32)) == UNKNOWN
    assert ending(tone(1.0, 0.1)).pitch == UNKNOWN.pitch
    assert ending(np.zeros(EAR_RATE_HZ, np.float32)).pitch == UNKNOWN.pitch


@pytest.mark.parametrize("off_s", [0.3, 0.1, 0.0, -0.06])
def test_the_level_tells_when_the_sound_ended_whatever_the_detector_says(off_s: float) -> None:
    speech, silence_s = voice([150] * 5), 0.6
    audio = np.concatenate([tone(0.3), speech, tone(silence_s, seed=1)])
    said_s = silence_s + off_s  # the detector heard the end that much too early
    assert later_s(audio, said_s) == pytest.approx(off_s, abs=0.02)


def test_the_correction_is_bounded_and_left_out_in_noise() -> None:
    speech = voice([150] * 5)
    music = np.concatenate([tone(1.0), speech, speech])
    assert later_s(music, 1.5) == LATER_S
    assert later_s(music, 0.2) == pytest.approx(0.2)
    noisy = np.concatenate([tone(0.5), speech, tone(1.0)]) + tone(0.5 + 2.0 + 1.0, 0.08, seed=2)
    assert later_s(noisy, 0.6) == pytest.approx(-0.06)  # what is usual
    assert later_s(np.zeros(10, np.float32), 0.3) == 0.0
    assert later_s(np.concatenate([speech, tone(1.0)]), 0.7) >= -EARLIER_S


@pytest.mark.parametrize("silence_s", [0.3, 0.45, 0.6])
def test_noise_that_goes_up_and_down_is_no_sound_that_goes_on(silence_s: float) -> None:
    said = np.concatenate([tone(1.0), voice([150] * 5)])
    count = len(said) + round(silence_s * EAR_RATE_HZ)
    swells = 0.55 + 0.45 * np.sin(2 * np.pi * 5 * np.arange(count) / EAR_RATE_HZ)
    noise = tone(count / EAR_RATE_HZ, 0.02, seed=3)[:count] * swells.astype(np.float32)
    audio = np.concatenate([said, tone(1.0)])[:count] + noise
    assert later_s(audio, silence_s) == pytest.approx(0.0, abs=0.07)
