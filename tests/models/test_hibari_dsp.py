"""The vocoder: any chunks, the same samples; noise by position; a steady pulse train."""

import numpy as np
import pytest

from antiphon.models.hibari_dsp import BINS, HOP, PulseTrain, Vocoder, noise_rows, silent_rows

FRAMES = 60


@pytest.fixture
def f0() -> np.ndarray:
    curve = 180 + 30 * np.sin(np.arange(FRAMES) / 7)
    curve[20:30] = 0.0
    return curve.astype(np.float32)


@pytest.fixture
def spectra() -> np.ndarray:
    rows = np.random.default_rng(1).standard_normal((FRAMES + 3, 5 * BINS), dtype=np.float32)
    rows[:, :BINS] += 1.0
    rows[:, 2 * BINS : 3 * BINS] -= 3.0
    rows[:, 3 * BINS : 4 * BINS] -= 3.0
    return rows


@pytest.mark.parametrize("sizes", [(1, 2, 3, 60), (24, 24, 24), (63,), (2,) * 32])
def test_chunks_equal_the_whole(f0: np.ndarray, spectra: np.ndarray, sizes: tuple[int, ...]) -> None:
    whole = Vocoder(f0, 0, 0, 5).push(spectra)
    vocoder, at, pieces = Vocoder(f0, 0, 0, 5), 0, []
    for size in sizes:
        pieces.append(vocoder.push(spectra[at : at + size]))
        at += size
    assert len(whole) == FRAMES * HOP
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1e-5)


def test_a_later_start_gives_the_same_samples(f0: np.ndarray, spectra: np.ndarray) -> None:
    whole = Vocoder(f0, 0, 7_000, 5).push(spectra)
    # Frame f is row f + 1: the rows begin one frame early.
    part = Vocoder(f0, 25, 7_000 + 25 * HOP, 5).push(spectra[25:])
    np.testing.assert_allclose(part, whole[25 * HOP :], atol=1e-5)


def test_noise_is_a_function_of_seed_and_sample() -> None:
    centres = np.arange(500, dtype=np.int64) * HOP
    rows = noise_rows(3, centres)
    np.testing.assert_array_equal(noise_rows(3, centres[200:300]), rows[200:300])
    assert not np.array_equal(noise_rows(4, centres), rows)
    assert rows.real.std() == pytest.approx(1.0, abs=0.02)
    assert rows.imag.std() == pytest.approx(1.0, abs=0.02)
    assert abs(np.corrcoef(rows[1:, :].real.ravel(), rows[:-1, :].real.ravel())[0, 1]) < 0.02


def test_pulses_of_a_steady_pitch_are_evenly_spaced() -> None:
    pulses = PulseTrain(np.full(40, 200.0, np.float32)).samples(0, 40)
    peaks = np.flatnonzero(pulses > 20)
    centres = peaks[(pulses[peaks] >= pulses[peaks - 1]) & (pulses[peaks] >= pulses[(peaks + 1) % len(pulses)])]
    assert set(np.diff(centres)) == {120}  # 24,000 / 200


def test_pulses_in_chunks_equal_the_whole(f0: np.ndarray) -> None:
    train = PulseTrain(f0)
    whole = train.samples(0, FRAMES)
    np.testing.assert_array_equal(np.concatenate([train.samples(a, a + 6) for a in range(0, FRAMES, 6)]), whole)


def test_unvoiced_and_outside_frames_have_no_pulses(f0: np.ndarray) -> None:
    train = PulseTrain(f0)
    assert not train.samples(22, 28).any()
    assert not train.samples(-4, 0).any()
    assert not train.samples(FRAMES, FRAMES + 3).any()
    assert not train.frames_voiced(21, 29).any()


def test_silent_rows_are_silent(f0: np.ndarray) -> None:
    samples = Vocoder(np.zeros_like(f0), 0, 0, 1).push(silent_rows(FRAMES + 3))
    assert np.abs(samples).max() < 1e-6
