"""The weights that are shipped, through the reference stream: chunks, neighbours, knobs, states of fixed size."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from train.voice.stream import Knobs, Stream, Voice, speak

from train.voice import dsp

SENTENCE = "həlˈO, hˌW kæn ˌI hˈɛlp jˌu tədˈA?"


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice(Path(str(files("antiphon") / "assets" / "ssm")))


def streamed(voice: Voice, portions: list[int], steps: int, knobs: Knobs | None = None) -> tuple[np.ndarray, list[int]]:
    ids = voice.ids(SENTENCE)
    stream, made = Stream(voice, seed=4, knobs=knobs or Knobs(), steps_per_call=steps), []
    for portion in portions:
        stream.push(ids[:portion])
        ids = ids[portion:]
        made.append(stream.pull())
    stream.push(ids)
    stream.end()
    made.append(stream.pull())
    return np.concatenate(made), stream.durations


def test_any_portions_and_any_steps_give_the_same_sound(voice: Voice) -> None:
    whole, durations = streamed(voice, [], 64)
    assert len(whole) == sum(durations) * dsp.HOP
    for portions, steps in (([1] * 40, 1), ([3, 11, 2], 4), ([5] * 7, 7)):
        parts, lasts = streamed(voice, portions, steps)
        assert lasts == durations
        assert np.abs(parts - whole).max() < 1e-4


def test_it_is_speech_of_a_sensible_length_and_level(voice: Voice) -> None:
    samples, durations = streamed(voice, [], 4)
    seconds = len(samples) / dsp.SAMPLE_RATE_HZ
    assert 1.2 < seconds < 3.5
    assert min(durations) >= 1
    level = 20 * np.log10(np.sqrt(np.mean(samples[3000:-3000] ** 2)))
    assert -35 < level < -12
    assert np.abs(samples).max() < 1


def test_sound_comes_before_the_text_is_complete(voice: Voice) -> None:
    stream = Stream(voice)
    stream.push(voice.ids(SENTENCE)[:8])
    assert len(stream.pull()) > 0
    assert len(stream.durations) == 8 - voice.about["lookahead"]


def test_speed_and_pitch_are_knobs(voice: Voice) -> None:
    plain = len(speak(voice, SENTENCE))
    assert len(speak(voice, SENTENCE, Knobs(speed=1.25))) < 0.92 * plain
    assert len(speak(voice, SENTENCE, Knobs(speed=0.8))) > 1.08 * plain


def test_states_do_not_grow(voice: Voice) -> None:
    stream, sizes = Stream(voice), set()
    for _ in range(5):
        stream.push(voice.ids(SENTENCE))
        stream.end()
        stream.pull()
        sound = stream._sound
        sizes.add((stream._encoder_state.size, stream._state.size, sound.source.size, sound.rest.size))
        assert not stream._queue
    assert len(sizes) == 1


def test_a_damaged_graph_is_refused(tmp_path: Path) -> None:
    assets = Path(str(files("antiphon") / "assets" / "ssm"))
    for name in ("encoder.onnx", "decoder.onnx", "voice.json"):
        (tmp_path / name).write_bytes((assets / name).read_bytes())
    data = bytearray((tmp_path / "decoder.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "decoder.onnx").write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        Voice(tmp_path)
