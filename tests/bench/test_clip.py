import numpy as np
import pytest

from antiphon.bench.clip import Clip, clips_hash, speech_span

RATE_HZ = 16_000


def tone(seconds: float, level: float = 0.3) -> np.ndarray:
    return (level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * RATE_HZ)) / RATE_HZ)).astype(np.float32)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def test_speech_ends_with_its_last_window_above_minus_40_db() -> None:
    samples = np.concatenate((silence(0.5), tone(1.0), silence(0.5)))
    assert speech_span(samples, RATE_HZ) == (8_000, 24_000)


@pytest.mark.parametrize(("below_db", "end"), [(38, 27_200), (42, 24_000)])
def test_a_quiet_ending_is_speech_down_to_40_db_below_the_speech_level(below_db: float, end: int) -> None:
    ending = tone(0.2, 0.3 * 10 ** (-below_db / 20))
    samples = np.concatenate((silence(0.5), tone(1.0), ending, silence(0.5)))
    assert speech_span(samples, RATE_HZ) == (8_000, end)


def test_a_loud_room_is_not_speech() -> None:
    noise = np.random.default_rng(0).normal(0, 0.3 * 10 ** (-36 / 20), 2 * RATE_HZ).astype(np.float32)
    samples = noise + np.concatenate((silence(0.5), tone(1.0), silence(0.5)))
    assert speech_span(samples, RATE_HZ) == (8_000, 24_000)


def test_a_recording_without_any_quiet_is_speech_from_end_to_end() -> None:
    assert speech_span(tone(1.0), RATE_HZ) == (0, 16_000)


def test_nothing_is_said_in_silence() -> None:
    assert speech_span(silence(1.0), RATE_HZ) is None
    assert speech_span(silence(0.0), RATE_HZ) is None


def test_a_part_is_judged_by_the_level_of_its_whole() -> None:
    part = np.concatenate((tone(0.3, 0.001), silence(0.2)))
    whole = np.concatenate((tone(1.0), part))
    assert speech_span(part, RATE_HZ) == (0, 4_800)
    assert speech_span(part, RATE_HZ, whole) is None


def test_finalize_comes_right_after_the_last_word() -> None:
    clip = Clip("a", np.concatenate((tone(1.0), silence(1.0))), speech=(0, 16_000))
    assert clip.until_true_end().audio_s == pytest.approx(1.0)
    assert Clip("b", silence(1.0)).until_true_end().audio_s == pytest.approx(1.0)


def test_another_rate_moves_all_places_along() -> None:
    clip = Clip("a", tone(2.0), speech=(4_000, 24_000), pauses=((8_000, 12_000),)).at_rate(8_000)
    assert (len(clip.samples), clip.speech, clip.pauses) == (16_000, (2_000, 12_000), ((4_000, 6_000),))
    assert clip.true_end_s == pytest.approx(1.5)


def test_the_same_speech_must_keep_its_length() -> None:
    with pytest.raises(ValueError, match="has 16000 samples"):
        Clip("a", tone(1.0)).with_samples(tone(0.5), "short")


def test_a_workload_is_known_by_its_sound() -> None:
    clips = [Clip("a", tone(0.1), reference="one")]
    assert clips_hash(clips) == clips_hash([Clip("a", tone(0.1), reference="one")])
    assert clips_hash(clips) != clips_hash([Clip("a", tone(0.1, 0.29), reference="one")])
    assert clips_hash(clips) != clips_hash([Clip("a", tone(0.1), reference="two")])
