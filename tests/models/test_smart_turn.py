"""The end-of-turn classifier: its features against golden values of the original, and its window."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.smart_turn import SAMPLE_RATE_HZ, WINDOW_SAMPLES, SmartTurn, last_window, log_mel
from antiphon.settings import load
from antiphon.store.store import ModelStore

GOLDEN = Path(__file__).parent / "data" / "smart_turn_golden.npz"
"""Every 8th band of every 40th frame and the mean, once computed by the feature extractor that the model was published
with (pipecat-ai 1.14.0, BSD-2) from the signals of :func:`signal`."""

LENGTHS = {"short": 20_000, "long": 150_000}


def signal(name: str) -> Samples:
    samples = LENGTHS[name]
    rng = np.random.default_rng(len(name))
    t = np.arange(samples) / SAMPLE_RATE_HZ
    tones = ((0.3, 140), (0.2, 420), (0.1, 2300))
    warble = 1 + 0.02 * np.sin(2 * np.pi * 2 * t)
    mixed = sum(level * np.sin(2 * np.pi * hz * t * warble) for level, hz in tones)
    return (mixed * (np.sin(2 * np.pi * 3 * t) > 0) + rng.normal(0, 0.005, samples)).astype(np.float32)


@pytest.fixture(scope="module")
def golden() -> dict[str, NDArray[np.float32]]:
    with np.load(GOLDEN) as values:
        return dict(values)


@pytest.fixture(scope="module")
def smart_turn() -> SmartTurn:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    try:
        store.pull(["smart-turn-v3.2"])  # nothing to do where `make setup` has run
    except ModelUnavailable as error:
        pytest.fail(f"the embedded models are part of the tests: run `make setup` ({error})")
    return SmartTurn(store.path("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx"))


@pytest.mark.parametrize("name", LENGTHS)
def test_features_equal_those_the_model_was_trained_with(name: str, golden: dict[str, NDArray[np.float32]]) -> None:
    features = log_mel(last_window(signal(name)))
    assert features.shape == (80, 800)
    assert features.dtype == np.float32
    np.testing.assert_allclose(features[::8, ::40], golden[f"{name}_rows"], atol=1e-4)
    assert features.mean() == pytest.approx(float(golden[f"{name}_mean"]), abs=1e-5)


@pytest.mark.parametrize("name", LENGTHS)
def test_the_probability_is_that_of_the_original(name: str, smart_turn: SmartTurn) -> None:
    """The original runs beside ours, on the same CPU: int8 sums differ between them (0.93 with VNNI, 0.98 without)."""
    original = LocalSmartTurnAnalyzerV3()._predict_endpoint(signal(name))
    assert smart_turn.complete(signal(name)) == pytest.approx(original["probability"], abs=0.01)


def test_only_the_last_eight_seconds_count(smart_turn: SmartTurn) -> None:
    audio = signal("long")
    other_beginning = audio.copy()
    other_beginning[: len(audio) - WINDOW_SAMPLES] = 0.5
    assert smart_turn.complete(audio) == smart_turn.complete(other_beginning)


def test_short_audio_is_padded_in_front() -> None:
    window = last_window(np.ones(10, np.float32))
    assert window.shape == (WINDOW_SAMPLES,)
    assert window[-10:].min() == 1
    assert window[:-10].max() == 0


def test_silence_is_no_division_by_zero(smart_turn: SmartTurn) -> None:
    assert 0.0 <= smart_turn.complete(np.zeros(SAMPLE_RATE_HZ, np.float32)) <= 1.0


def test_what_is_no_audio_is_refused(smart_turn: SmartTurn) -> None:
    with pytest.raises(InvalidInput, match="shape"):
        smart_turn.complete(np.zeros((2, 16_000), np.float32))
    with pytest.raises(InvalidInput, match="finite"):
        smart_turn.complete(np.full(16_000, np.nan, np.float32))


def test_a_missing_graph_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"none\.onnx"):
        SmartTurn(tmp_path / "none.onnx")
