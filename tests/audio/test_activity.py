import numpy as np
import pytest
from hibari import Hibari

from antiphon.audio import activity
from antiphon.audio.resample import resample
from antiphon.core.frame import Samples

RATE = 24_000


def tone(ms: float, amplitude: float, hz: float = 220) -> Samples:
    count = round(ms * RATE / 1000)
    return (amplitude * np.sin(2 * np.pi * hz * np.arange(count) / RATE)).astype(np.float32)


def silence(ms: float) -> Samples:
    return np.zeros(round(ms * RATE / 1000), np.float32)


@pytest.fixture(scope="module")
def natural() -> list[Samples]:
    """Real renderings full of plosives and hisses."""
    voice = Hibari(threads=1)
    texts = (
        "Peter Piper picked a peck of pickled peppers.",
        "Stop! Kick the ticket back, quickly; she sells sea shells.",
    )
    return [np.asarray(voice(text, seed=0), np.float32) for text in texts]


def test_level_of_a_sine_is_its_power_and_pauses_do_not_lower_it() -> None:
    loud = tone(500, 0.5)
    level = activity.speech_level_dbfs(loud, RATE)
    assert level == pytest.approx(20 * np.log10(0.5 / np.sqrt(2)), abs=0.1)
    paused = np.concatenate([silence(700), loud, silence(3_000), loud, silence(90)])
    assert activity.speech_level_dbfs(paused, RATE) == pytest.approx(level, abs=0.1)


def test_breath_before_the_first_word_is_not_audible_but_quiet_speech_is() -> None:
    breath, word, soft_word = tone(100, 0.005, 900), tone(200, 0.4), tone(200, 0.05)
    piece = np.concatenate([silence(50), breath, word, silence(100), soft_word, silence(130)])
    assert activity.first_audible_sample(piece, RATE) == round(0.150 * RATE)
    assert activity.last_audible_sample(piece, RATE) == round(0.650 * RATE) - 1


def test_A10_a_long_pause_and_a_quiet_voice_do_not_hide_speech() -> None:
    for volume in (1.0, 0.01):
        piece = volume * np.concatenate([silence(100), tone(300, 0.4), silence(1_500), tone(300, 0.4), silence(100)])
        assert activity.first_audible_sample(piece, RATE) == round(0.1 * RATE)
        assert activity.last_audible_sample(piece, RATE) == round(2.2 * RATE) - 1


def test_level_of_the_utterance_judges_its_beginning() -> None:
    breath = tone(100, 0.005, 900)
    assert activity.first_audible_sample(breath, RATE) == 0
    assert activity.first_audible_sample(breath, RATE, level_dbfs=-12.0) is None


@pytest.mark.parametrize(
    "nothing", [np.zeros(0, np.float32), np.zeros(999, np.float32), np.full(999, 1e-6, np.float32)]
)
def test_nothing_is_audible_in_silence(nothing: Samples) -> None:
    assert activity.speech_level_dbfs(nothing, RATE) == float("-inf")
    assert activity.first_audible_sample(nothing, RATE) is None
    assert activity.last_audible_sample(nothing, RATE) is None
    assert activity.clicks(nothing, RATE) == []
    assert activity.clipped(nothing) == 0


def test_last_window_may_be_short() -> None:
    piece = tone(103, 0.4)
    assert len(activity.window_power(piece, RATE)) == 11
    assert activity.last_audible_sample(piece, RATE) == len(piece) - 1


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 48_000])
def test_natural_speech_has_no_clicks(rate_hz: int, natural: list[Samples]) -> None:
    assert [activity.clicks(resample(piece, RATE, rate_hz), rate_hz) for piece in natural] == [[], []]


def test_bad_joints_are_found_where_they_are(natural: list[Samples]) -> None:
    random = np.random.default_rng(3)
    found = tried = 0
    while tried < 60:
        left, right = natural[tried % 2], natural[(tried + 1) % 2]
        at, to = int(random.integers(4_000, len(left))), int(random.integers(4_000, len(right)))
        if abs(left[at - 1] - right[to]) < 0.08:
            continue
        tried += 1
        places = activity.clicks(np.concatenate([left[:at], right[to:]]), RATE)
        assert all(abs(place - at) <= 1 for place in places)
        found += bool(places)
    assert found >= 36


def test_start_and_end_that_are_not_silent_are_clicks() -> None:
    piece = np.full(2_400, 0.2, np.float32)
    assert activity.clicks(piece, RATE) == [0, 2_399]


def test_one_wrong_sample_is_a_click(speech_24k: Samples) -> None:
    damaged = speech_24k.copy()
    damaged[30_000] += 0.3
    assert [round(place, -1) for place in activity.clicks(damaged, RATE)] == [30_000]
    assert activity.clicks(speech_24k, RATE) == []


def test_clipped_counts_flat_tops_only() -> None:
    assert activity.clipped(np.array([0.5, 1, 1, 1, 0.5, -1, -1, 0, 1, 0, -1], np.float32)) == 5
    assert activity.clipped(np.clip(tone(100, 2.0), -1, 1)) > 1_000
    assert activity.clipped(tone(100, 0.99)) == 0
