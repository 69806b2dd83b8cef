import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.bench.clip import EAR_RATE_HZ
from antiphon.bench.turn_set import DICTATIONS, REAL, TAIL_S, Part, Recipe, make_turns, read_recipes, room_tone
from antiphon.core.errors import InvalidInput


def tone(seconds: float) -> np.ndarray:
    return (0.3 * np.sin(2 * np.pi * 300 * np.arange(round(seconds * EAR_RATE_HZ)) / EAR_RATE_HZ)).astype(np.float32)


def quiet(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * EAR_RATE_HZ), np.float32)


def say(text: str, seed: int, speed: float) -> np.ndarray:
    """A tenth of a second for each word, with air around it that must be trimmed."""
    return np.concatenate((quiet(0.2), tone(0.1 * len(text.split())), quiet(0.2)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """0.2 s quiet, 1 s speech, 0.2 s quiet (cut at its middle, sample 20800), 1 s speech, 0.2 s quiet."""
    sound = np.concatenate((quiet(0.2), tone(1.0), quiet(0.2), tone(1.0), quiet(0.2)))
    soundfile.write(tmp_path / "a.wav", sound, EAR_RATE_HZ, subtype="FLOAT")
    return tmp_path


def test_a_pause_is_spliced_in_and_its_place_is_known(folder: Path) -> None:
    parts = (Part(file="a.wav", end=20_800), Part(pause_ms=700, seed=1), Part(file="a.wav", start=20_800))
    (clip,) = make_turns([Recipe("one", REAL, ends_turn=False, parts=parts)], [folder], say).clips
    # 0.3 s of lead; the quiet of the recording on both sides is part of the pause
    assert clip.pauses == ((24_000, 24_000 + 11_200 + 3_200),)
    assert clip.true_start_s == pytest.approx(0.5)
    assert clip.true_end_s == pytest.approx(0.3 + 2.4 + 0.7)
    assert not clip.ends_turn


def test_a_finished_turn_is_followed_by_three_seconds(folder: Path) -> None:
    parts = (Part(file="a.wav", end=19_200),)
    (clip,) = make_turns([Recipe("one", REAL, parts=parts)], [folder], say).clips
    assert clip.true_end_s == pytest.approx(1.5)
    assert clip.audio_s == pytest.approx(1.5 + TAIL_S)


def test_dictations_are_spoken_piece_by_piece() -> None:
    parts = (Part(say="one two three", seed=1), Part(pause_ms=600, seed=2), Part(say="four", seed=1))
    (clip,) = make_turns([Recipe("d", DICTATIONS, text="one two three four", parts=parts)], [], say).clips
    # pieces are trimmed to 10 ms of air
    begin = 0.3 + 0.01 + 0.3
    assert clip.pauses[0][0] / EAR_RATE_HZ == pytest.approx(begin)
    assert clip.pauses[0][1] / EAR_RATE_HZ == pytest.approx(begin + 0.62)
    assert clip.true_end_s == pytest.approx(begin + 0.62 + 0.1)
    assert clip.reference == "one two three four"


def test_a_whole_recording_with_its_places_is_taken_as_it_is(folder: Path) -> None:
    recipe = Recipe("w", REAL, wav="a.wav", true_end_sample=38_400, pauses=((19_200, 22_400),))
    (clip,) = make_turns([recipe], [folder], say).clips
    assert (clip.speech, clip.pauses) == ((3_200, 38_400), ((19_200, 22_400),))
    assert clip.audio_s == pytest.approx(2.4 + TAIL_S)


def test_only_one_half_is_made_unless_asked() -> None:
    recipes = [Recipe(split, DICTATIONS, split=split, parts=(Part(say="yes"),)) for split in ("tune", "report")]
    assert [clip.name for clip in make_turns(recipes, [], say).clips] == ["report"]
    assert len(make_turns(recipes, [], say, "all").clips) == 2


def test_what_cannot_be_made_is_left_out_with_the_reason(folder: Path) -> None:
    recipes = [
        Recipe("gone", REAL, parts=(Part(file="prompts/gone.wav"),)),
        Recipe("silent", REAL, parts=(Part(file="a.wav", end=1_600),)),
        Recipe("empty", REAL, parts=(Part(pause_ms=500),)),
        Recipe("good", DICTATIONS, parts=(Part(say="yes"),)),
    ]
    made = make_turns(recipes, [folder], say)
    assert [clip.name for clip in made.clips] == ["good"]
    assert sum(made.left_out.values()) == 3
    assert any("prompts" in reason for reason in made.left_out)


def test_a_list_of_pauses_becomes_turns(tmp_path: Path) -> None:
    entries = [
        {"source": "read", "split": "report", "file": "a.wav", "kind": "mid", "cut_sample": 20_800},
        {"source": "read", "split": "report", "file": "a.wav", "kind": "end", "cut_sample": 40_000},
        *(
            {"source": "synthesised", "split": "tune", "category": "phone", "voice_seed": 5,
             "pieces": ["my number is", "five", "six."][: count + 1], "kind": "end" if count == 2 else "mid"}
            for count in range(3)
        ),
    ]  # fmt: skip
    for number, entry in enumerate(entries):
        entry |= {"pause_ms": 500 + number, "tone_seed": number}
    path = tmp_path / "pauses.json"
    path.write_text(json.dumps(entries))
    middle, end, dictation = read_recipes(path)
    assert [part.pause_ms for part in middle.parts] == [0, 500, 0]
    assert (middle.ends_turn, end.ends_turn, middle.set) == (False, True, REAL)
    assert end.parts == (Part(file="a.wav", end=40_000),)
    assert [part.say or part.pause_ms for part in dictation.parts] == ["my number is", 502, "five", 503, "six."]
    assert (dictation.set, dictation.kind, dictation.split) == (DICTATIONS, "phone", "tune")
    assert 0.85 <= dictation.parts[0].speed <= 1.15


def test_a_neutral_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "turns.json"
    path.write_text('[{"name": "a", "set": "real voices", "parts": [{"file": "a.wav", "end": 5}, {"pause_ms": 9}]}]')
    assert read_recipes(path) == [Recipe("a", REAL, parts=(Part(file="a.wav", end=5), Part(pause_ms=9)))]
    path.write_text('[{"name": "a", "set": "x", "partz": []}]')
    with pytest.raises(InvalidInput, match="partz"):
        read_recipes(path)


def test_room_tone_is_like_the_quietest_place_and_repeats_nothing_audible() -> None:
    rng = np.random.default_rng(0)
    recording = np.concatenate((tone(0.5), rng.normal(0, 0.001, 8_000), tone(0.5))).astype(np.float32)
    made = room_tone(recording, 32_000, 1)
    assert len(made) == 32_000
    assert np.sqrt(np.square(made).mean()) == pytest.approx(0.001, rel=0.25)
    assert np.array_equal(made, room_tone(recording, 32_000, 1))
