from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from train.voice.data_teacher import SILENCE_DB, Prosody, Take, Teacher, Unspeakable, boundaries
from train.voice.features import level_db

from train.voice import data

COMMA, PAD = 3, 0


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher(Path(str(files("hibari") / "assets" / "hibari.onnx")))


def level_of(take: Take) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return level_db(take.wav.astype(np.float32) / 32767)


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "See you soon",
        "Well, I think so; don't you?",
        "It works. It always did! Shall we go on?",
        "Six sharp sounds.",
    ],
)
def test_times_are_exact_even_and_edged_with_silence(teacher: Teacher, text: str) -> None:
    take = teacher.say(text, Prosody(), 1)
    assert len(take.ids) == len(take.durations)
    assert take.durations.sum() == len(take.f0) == len(take.mel) == len(take.wav) / 300
    assert take.durations.min() >= 2
    assert not np.any(take.durations % 2)
    assert take.ids[0] == take.ids[-1] == PAD
    assert take.durations[0] == data.LEAD_FRAMES
    level = level_of(take)
    assert (level[: data.LEAD_FRAMES] <= SILENCE_DB).all()
    assert (level[-data.TRAIL_FRAMES :] <= SILENCE_DB).all()
    assert level[data.LEAD_FRAMES : data.LEAD_FRAMES + 2].max() > SILENCE_DB


def test_a_pause_belongs_to_its_comma(teacher: Teacher) -> None:
    take = teacher.say("If it rains tomorrow, we will stay at home.", Prosody(), 1)
    (comma,) = np.flatnonzero(take.ids == COMMA)
    starts = np.concatenate(([0], np.cumsum(take.durations)))
    assert take.durations[comma] >= 8
    assert level_of(take)[starts[comma] : starts[comma + 1]].max() <= SILENCE_DB


def test_the_same_asked_twice_is_the_same(teacher: Teacher) -> None:
    first, second = (teacher.say("Nobody knows.", Prosody(speed=0.9, pitch=1), 7) for _ in range(2))
    assert np.array_equal(first.wav, second.wav)
    assert np.array_equal(first.durations, second.durations)


def test_speed_changes_time_and_not_pitch(teacher: Teacher) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    slow, plain, fast = (teacher.say(text, Prosody(speed=speed), 1) for speed in (0.8, 1.0, 1.25))
    assert len(slow.f0) > 1.1 * len(plain.f0)
    assert len(fast.f0) < 0.87 * len(plain.f0)
    assert fast.durations.min() >= 1
    assert len(fast.f0) % 2 == 0
    assert fast.stats[0] == pytest.approx(plain.stats[0], abs=0.5)


def test_pitch_range_and_energy_do_what_they_say(teacher: Teacher) -> None:
    text = "Would you really like to know what happened?"
    plain = teacher.say(text, Prosody(), 1)
    high = teacher.say(text, Prosody(pitch=2), 1)
    flat = teacher.say(text, Prosody(f0_range=0.5), 1)
    loud = teacher.say(text, Prosody(energy=0.2), 1)
    assert high.stats[0] - plain.stats[0] == pytest.approx(2, abs=0.15)
    assert flat.stats[1] == pytest.approx(plain.stats[1] / 2, rel=0.1)
    assert 2 < loud.stats[2] - plain.stats[2] < 5
    assert abs(len(plain.f0) - len(high.f0)) <= 4


def test_what_cannot_be_said_is_refused(teacher: Teacher) -> None:
    with pytest.raises(Unspeakable):
        teacher.say("word " * 200, Prosody(), 1)


def test_bounds_follow_the_sound() -> None:
    level = np.full(60, -90, np.float32)
    level[20:30] = level[40:46] = -25
    # pad 20, "a" 12 (its silence included), "," 4, space 4, "b" 8, "." 10, pad 2; the teacher's times run late by 4
    durations = np.array([24, 12, 4, 4, 8, 6, 2], np.int64)
    bounds = boundaries("a, b.", durations, level, 2)
    assert bounds.tolist() == [16, 20, 30, 38, 40, 46, 52, 54]


def test_no_sound_at_all_is_refused() -> None:
    with pytest.raises(Unspeakable):
        boundaries("a", np.array([8, 8, 8], np.int64), np.full(24, -100, np.float32), 2)
