import numpy as np
import pytest

from antiphon.audio.activity import speech_level_dbfs
from antiphon.bench.clip import EAR_RATE_HZ, Clip
from antiphon.bench.spoil import in_room, looped, noisy, telephone
from antiphon.bench.unspoken import unspoken

WHITE = {"white": np.random.default_rng(1).normal(0, 0.1, 8_000).astype(np.float32)}


def clip() -> Clip:
    """A second of tone between half seconds of silence: pauses must not count for the level."""
    tone = 0.2 * np.sin(2 * np.pi * 440 * np.arange(EAR_RATE_HZ) / EAR_RATE_HZ)
    quiet = np.zeros(EAR_RATE_HZ // 2)
    return Clip("a", np.concatenate((quiet, tone, quiet)).astype(np.float32), speech=(8_000, 24_000), reference="x")


@pytest.mark.parametrize("snr_db", [20.0, 10.0, 5.0])
def test_noise_is_as_far_below_the_speech_as_asked(snr_db: float) -> None:
    clean, worse = clip(), noisy(clip(), WHITE, snr_db, seed=1)
    added = worse.samples - clean.samples
    power_db = 10 * np.log10(np.square(added).mean())
    assert speech_level_dbfs(clean.samples, EAR_RATE_HZ) - power_db == pytest.approx(snr_db, abs=0.1)
    assert (worse.speech, worse.reference, worse.group) == (clean.speech, "x", f"noise {snr_db:g} dB")


def test_noise_is_the_same_for_the_same_seed_only() -> None:
    assert np.array_equal(noisy(clip(), WHITE, 10, 1).samples, noisy(clip(), WHITE, 10, 1).samples)
    assert not np.array_equal(noisy(clip(), WHITE, 10, 1).samples, noisy(clip(), WHITE, 10, 2).samples)


def test_noise_does_not_clip() -> None:
    loud = clip().with_samples(clip().samples * 4.9, "loud")
    assert np.abs(noisy(loud, WHITE, 0, 1).samples).max() <= 0.981


def test_a_room_leaves_the_speech_where_it_was_and_as_loud() -> None:
    response = np.zeros(4_000, np.float32)
    response[100], response[900] = 1.0, 0.5  # the sound itself after 100 samples, an echo 800 samples later
    wet = in_room(clip(), {"hall": response}, 1)
    assert len(wet.samples) == len(clip().samples)
    assert np.abs(wet.samples[:8_000]).max() < 1e-6
    assert np.abs(wet.samples[8_000:8_100]).max() > 0.1
    assert np.abs(wet.samples[24_000:24_800]).max() > 0.05  # the echo goes on after the true end
    assert np.square(wet.samples).mean() == pytest.approx(np.square(clip().samples).mean(), rel=0.01)


def test_a_telephone_has_8_khz_mu_law_and_no_bass() -> None:
    called = telephone(clip())
    assert (called.rate_hz, called.encoding, called.speech) == (8_000, "pcm_mulaw", (4_000, 12_000))
    assert len(called.data) == 16_000
    low = 0.2 * np.sin(2 * np.pi * 100 * np.arange(EAR_RATE_HZ) / EAR_RATE_HZ).astype(np.float32)
    assert np.abs(telephone(Clip("bass", low)).samples[2_000:6_000]).max() < 0.02


def test_looped_goes_round() -> None:
    assert looped(np.array([1, 2, 3], np.float32), 7, 1).tolist() == [2, 3, 1, 2, 3, 1, 2]
    with pytest.raises(ValueError, match="nothing"):
        looped(np.zeros(0, np.float32), 3)


def test_nothing_is_said_in_any_of_the_unspoken_clips() -> None:
    clips = unspoken(WHITE, 2.0)
    assert [item.name for item in clips][-1] == "white"
    assert {"digital silence", "synthesised music"} <= {item.name for item in clips}
    assert {(item.audio_s, item.reference, item.speech) for item in clips} == {(2.0, "", None)}
    assert all(np.isfinite(item.samples).all() and np.abs(item.samples).max() <= 1 for item in clips)
    again = unspoken(WHITE, 2.0)
    assert all(np.array_equal(one.samples, other.samples) for one, other in zip(clips, again, strict=True))
