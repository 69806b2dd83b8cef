"""Beeps are pure tones, voices are not."""

import numpy as np
import soxr
from hibari import Hibari

from antiphon.models.tone import is_tone

FRAME = 512


def test_beeps_are_tones() -> None:
    t = np.arange(FRAME) / 16_000
    for heights in ((440.0,), (770.0, 1_336.0)):
        beep = sum(0.2 * np.sin(2 * np.pi * hz * t) for hz in heights)
        assert is_tone(np.asarray(beep, np.float32))


def test_silence_noise_and_voices_are_none() -> None:
    assert not is_tone(np.zeros(FRAME, np.float32))
    assert not is_tone(np.random.default_rng(0).standard_normal(FRAME).astype(np.float32))
    voice = soxr.resample(Hibari(threads=1)("Could you book a table for two, please?", seed=0), 24_000, 16_000)
    frames = voice[: len(voice) // FRAME * FRAME].reshape(-1, FRAME)
    assert np.mean([is_tone(frame) for frame in frames]) < 0.1
