"""The pause model: its network against the equations, written out step by step; what it hears, what it makes of it."""

import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.pause import (
    FEATURES,
    SAMPLE_RATE_HZ,
    STEP_SAMPLES,
    WINDOW_STEPS,
    PauseModel,
    all_features,
    features,
)

Real = NDArray[np.float32]
WIDTH, INNER, BLOCKS = 8, 12, 2


def some_weights(seed: int = 1) -> dict[str, Real]:
    rng = np.random.default_rng(seed)
    shapes = {"enter.weight": (WIDTH, FEATURES), "enter.bias": (WIDTH,), "norm.weight": (WIDTH,)}
    shapes |= {"leave.weight": (3, WIDTH), "leave.bias": (3,)}
    for number in range(BLOCKS):
        block = {
            "norm.weight": (WIDTH,), "enter.weight": (2 * WIDTH, WIDTH), "enter.bias": (2 * WIDTH,), "taps": (4, WIDTH),
            "gates.weight": (2 * WIDTH, WIDTH), "gates.bias": (2 * WIDTH,), "decay": (WIDTH,),
            "leave.weight": (WIDTH, WIDTH), "norm_inner.weight": (WIDTH,), "widen.weight": (2 * INNER, WIDTH),
            "widen.bias": (2 * INNER,), "narrow.weight": (WIDTH, INNER),
        }  # fmt: skip
        shapes |= {f"stack.blocks.{number}.{name}": shape for name, shape in block.items()}
    weights = {name: rng.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}
    return weights | {"calibration": np.array((0.5, -0.25), np.float32)}


def by_steps(w: dict[str, Real], heard: Real) -> list[NDArray[np.float64]]:
    """The equations of train/voice/blocks.py, one step after another, in double precision."""

    def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 / (1 + np.exp(-x))

    def norm(x: NDArray[np.float64], weight: Real) -> NDArray[np.float64]:
        return x / np.sqrt((x**2).mean() + 1e-6) * weight

    past = np.zeros((BLOCKS, 3, WIDTH))
    h = np.zeros((BLOCKS, WIDTH))
    out = []
    for row in heard.astype(np.float64):
        x = w["enter.weight"] @ row + w["enter.bias"]
        for k in range(BLOCKS):
            prefix = f"stack.blocks.{k}."
            b = {name.removeprefix(prefix): value for name, value in w.items() if name.startswith(prefix)}
            u, g = np.split(b["enter.weight"] @ norm(x, b["norm.weight"]) + b["enter.bias"], 2)
            line = np.concatenate((past[k], u[None]))
            past[k] = line[1:]
            u = (line * b["taps"]).sum(0)
            r, i = np.split(sigmoid(b["gates.weight"] @ u + b["gates.bias"]), 2)
            a = np.exp(-8 * np.log1p(np.exp(b["decay"].astype(np.float64))) * r)
            h[k] = a * h[k] + np.sqrt(1 - a * a + 1e-6) * i * u
            x = x + b["leave.weight"] @ (h[k] * g * sigmoid(g))
            p, q = np.split(b["widen.weight"] @ norm(x, b["norm_inner.weight"]) + b["widen.bias"], 2)
            x = x + b["narrow.weight"] @ (p * sigmoid(p) * q)
        out.append(w["leave.weight"] @ norm(x, w["norm.weight"]) + w["leave.bias"])
    return out


def voice(seconds: float, seed: int = 3, hz: float = 130.0) -> Samples:
    """Something like syllables of a falling voice, then 0.2 s of near silence."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    phase = 2 * np.pi * np.cumsum(hz * (1 - 0.1 * t / seconds)) / SAMPLE_RATE_HZ
    sound = sum(np.sin(k * phase) / k for k in range(1, 20)) * (0.55 + 0.45 * np.sin(2 * np.pi * 4 * t)) * 0.1
    quiet = np.zeros(SAMPLE_RATE_HZ // 5)
    joined = np.concatenate((sound, quiet))
    return (joined + rng.normal(0, 3e-4, len(joined))).astype(np.float32)


@pytest.fixture(scope="module")
def packaged() -> PauseModel:
    return PauseModel.load()


def test_all_steps_at_once_are_the_steps_one_by_one() -> None:
    weights = some_weights()
    heard = np.random.default_rng(2).normal(0, 1, (60, FEATURES)).astype(np.float32)
    np.testing.assert_allclose(PauseModel(weights).outputs(heard), by_steps(weights, heard), atol=1e-4)


def test_the_opinion_is_the_last_step_calibrated() -> None:
    model, samples = PauseModel(some_weights()), voice(2.0)
    wanted = 0.5 * float(model.outputs(features(samples))[-1, 0]) - 0.25
    assert model.log_odds(samples) == pytest.approx(wanted, abs=1e-6)


def test_steps_end_with_the_audio() -> None:
    samples = voice(3.0)
    exact = len(samples) // STEP_SAMPLES * STEP_SAMPLES
    np.testing.assert_array_equal(features(samples), features(samples[len(samples) - exact :]))
    assert features(samples).shape == (len(samples) // STEP_SAMPLES, FEATURES)


def test_a_step_hears_nothing_later_and_little_earlier() -> None:
    samples = voice(2.0)[: 50 * STEP_SAMPLES]
    other = samples.copy()
    other[30 * STEP_SAMPLES :] = 0.5
    changed = np.abs(all_features(samples) - all_features(other)).max(axis=1) > 0
    assert not changed[:30].any()
    assert changed[30:].all()


def test_pitch_shows_at_its_lag() -> None:
    heard = features(voice(2.0, hz=160.0)[:SAMPLE_RATE_HZ])
    lags = np.geomspace(38, 246, 32)
    assert SAMPLE_RATE_HZ / lags[int(heard[-1, -32:].argmax())] == pytest.approx(155, rel=0.06)


def test_more_than_eight_seconds_do_not_count() -> None:
    model, samples = PauseModel(some_weights()), voice(11.0)
    assert len(features(samples)) == WINDOW_STEPS
    assert model.log_odds(samples) == model.log_odds(samples[-WINDOW_STEPS * STEP_SAMPLES :])


def test_shorter_than_a_step_is_no_opinion() -> None:
    model = PauseModel(some_weights())
    assert model.log_odds(np.zeros(STEP_SAMPLES - 1, np.float32)) == 0.0
    assert model.log_odds(np.zeros(0, np.float32)) == 0.0


@pytest.mark.parametrize("samples", [np.zeros((2, 2000), np.float32), np.full(4000, np.nan, np.float32)])
def test_what_is_no_mono_sound_is_refused(samples: Samples) -> None:
    with pytest.raises(InvalidInput):
        PauseModel(some_weights()).log_odds(samples)


def test_a_damaged_or_missing_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        PauseModel.load(tmp_path / "none.npz")
    (tmp_path / "weights.npz").write_bytes(b"no archive")
    with pytest.raises(ModelUnavailable):
        PauseModel.load(tmp_path / "weights.npz")
    with pytest.raises(ModelUnavailable, match="damaged"):
        PauseModel.load(tmp_path / "weights.npz", "0" * 64)


def test_threads_do_not_disturb_each_other(packaged: PauseModel) -> None:
    sounds = [voice(1.0 + n, seed=n) for n in range(4)]
    alone, together = [packaged.log_odds(sound) for sound in sounds], [0.0] * 4

    def ask(n: int) -> None:
        for _ in range(3):
            together[n] = packaged.log_odds(sounds[n])

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_the_packaged_model_hears_eight_seconds_as_well_as_a_longer_past(packaged: PauseModel) -> None:
    samples = voice(13.0)
    long = packaged.outputs(all_features(samples[len(samples) % STEP_SAMPLES :]))[-1, 0]
    eight = packaged.outputs(features(samples))[-1, 0]
    assert eight == pytest.approx(float(long), abs=0.5)


def test_silence_is_an_opinion_within_reason(packaged: PauseModel) -> None:
    packaged.warm_up()
    assert abs(packaged.log_odds(np.zeros(SAMPLE_RATE_HZ, np.float32))) < 8
