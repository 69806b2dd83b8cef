"""The voice activity detector as a step model: speech and noise, slots apart from each other, state as a value."""

import numpy as np
import pytest
import soxr
from hibari import Hibari

from antiphon.bench.clip import Clip
from antiphon.bench.spoil import telephone
from antiphon.core.errors import ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.silero import FRAME_SAMPLES, SileroVad
from antiphon.settings import load
from antiphon.store.store import ModelStore


@pytest.fixture(scope="module")
def vad() -> SileroVad:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    store.pull(["silero-vad"])  # nothing to do, and no network, where `make setup` has run
    return SileroVad(store.path("silero-vad", "silero_vad.onnx"))


@pytest.fixture(scope="module")
def frames() -> Samples:
    """Half a second of silence, then speech: [frames, 512]."""
    voice = soxr.resample(Hibari(threads=1)("Could you book a table for two, please?", seed=0), 24_000, 16_000)
    samples = np.concatenate([np.zeros(8_192, np.float32), voice.astype(np.float32)])
    return samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)


def run(vad: SileroVad, frames: Samples) -> Samples:
    state, out = vad.init_state(1), []
    for frame in frames:
        probability, state = vad.step(frame[np.newaxis], state, np.ones(1, np.bool_))
        out.append(float(probability[0]))
    return np.array(out, np.float32)


def test_speech_is_told_from_silence_and_noise(vad: SileroVad, frames: Samples) -> None:
    probabilities = run(vad, frames)
    assert probabilities[:14].max() < 0.1
    assert np.median(probabilities[24:60]) > 0.9
    noise = np.random.default_rng(0).standard_normal((60, FRAME_SAMPLES)).astype(np.float32) * np.float32(0.1)
    assert run(vad, noise).max() < 0.3


def test_a_voice_that_is_there_from_the_first_sample_on_is_noticed(vad: SileroVad) -> None:
    """A call by telephone that begins inside a word: from a state of zeros, no frame of this one is speech."""
    voice = Hibari(threads=1)("Who are you?", seed=0)[12_000:42_000]
    clip = Clip("call", soxr.resample(voice, 24_000, 16_000).astype(np.float32))
    heard = soxr.resample(telephone(clip).samples, 8_000, 16_000).astype(np.float32)
    count = len(heard) // FRAME_SAMPLES
    probabilities = run(vad, heard[: count * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES))
    assert (probabilities >= 0.5).sum() > 8


def test_slot_among_others_is_as_alone_and_masked_slots_stand_still(vad: SileroVad, frames: Samples) -> None:
    alone = run(vad, frames[:40])
    noise = np.random.default_rng(1).standard_normal((40, FRAME_SAMPLES)).astype(np.float32)
    state, out = vad.init_state(3), []
    for n in range(40):
        kept = state[2].copy()
        probabilities, state = vad.step(np.stack([noise[n], frames[n], noise[n]]), state, np.array([True, True, False]))
        out.append(float(probabilities[1]))
        assert np.array_equal(state[2], kept)
        assert probabilities[2] == 0.0
    assert np.allclose(out, alone, atol=1e-4)


def test_state_can_be_saved_and_loaded_into_another_slot(vad: SileroVad, frames: Samples) -> None:
    state, mask = vad.init_state(1), np.ones(1, np.bool_)
    for frame in frames[:30]:
        _, state = vad.step(frame[np.newaxis], state, mask)
    expected, _ = vad.step(frames[30][np.newaxis], state, mask)
    moved = vad.load(vad.init_state(2), 1, vad.save(state, 0))
    both, _ = vad.step(np.stack([frames[30]] * 2), moved, np.array([False, True]))
    assert both[1] == pytest.approx(float(expected[0]), abs=1e-5)


def test_a_file_that_is_no_model_is_refused(tmp_path: object) -> None:
    path = tmp_path / "silero_vad.onnx"  # type: ignore[operator]
    path.write_bytes(b"nothing")
    with pytest.raises(ModelUnavailable, match=r"silero_vad\.onnx"):
        SileroVad(path)
