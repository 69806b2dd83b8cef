"""The ear's pure parts: speech and pauses, agreement, cutting, placing words, tape, pace, evidence, keyterms."""

from itertools import pairwise

import numpy as np
import pytest

from antiphon.core.hearing import SpeechStarted, SpeechStopped
from antiphon.engine.ear import EarWord, Hypothesis
from antiphon.engine.ear_bias import REACH, KeytermBias
from antiphon.engine.ear_times import place_words
from antiphon.engine.stt_agree import Agreement, Steady
from antiphon.engine.stt_cut import cut_places, is_whole
from antiphon.engine.stt_guard import is_speech
from antiphon.engine.stt_pace import FASTEST_S, FIRST_S, SLOWEST_S, Pace
from antiphon.engine.stt_segment import FRAME_SAMPLES, Segmenter
from antiphon.engine.stt_tape import Tape


def segments(probabilities: list[float]) -> list[tuple[type, int]]:
    segmenter = Segmenter()
    return [(type(e), e.at_sample // FRAME_SAMPLES) for p in probabilities for e in segmenter.push(p)]


def test_speech_is_confirmed_by_96_ms_and_begins_where_it_began() -> None:
    assert segments([0.0] * 5 + [0.9, 0.9]) == []
    assert segments([0.0] * 5 + [0.9] * 3) == [(SpeechStarted, 5)]
    assert segments([0.0] * 5 + [0.2, 0.3, 0.9, 0.9, 0.9]) == [(SpeechStarted, 5)]


def test_single_frames_and_hovering_noise_are_no_speech() -> None:
    assert segments([0.9, 0.0, 0.0, 0.0, 0.0] * 10) == []
    assert segments([0.55] * 50) == []


def test_a_pause_begins_after_the_last_speech_and_is_known_128_ms_later() -> None:
    assert segments([0.9] * 10 + [0.1] * 3) == [(SpeechStarted, 0)]
    assert segments([0.9] * 10 + [0.1] * 4) == [(SpeechStarted, 0), (SpeechStopped, 10)]
    assert segments([0.9] * 10 + [0.1, 0.1, 0.4, 0.1, 0.1, 0.1] + [0.9]) == [(SpeechStarted, 0)]


def test_after_a_skip_positions_go_on() -> None:
    segmenter = Segmenter()
    for _ in range(10):
        segmenter.push(0.9)
    segmenter.skip(100_000)
    assert not segmenter.speaking
    assert segmenter.onset is None
    segmenter.push(0.9)
    assert segmenter.onset == 100_000


def spoken(text: str, each: int = 4_000) -> tuple[EarWord, ...]:
    return tuple(EarWord(word, n * each, (n + 1) * each) for n, word in enumerate(text.split()))


def settled(agreement: Agreement) -> str:
    return " ".join(word.text for word in agreement.settled)


def test_words_that_two_hypotheses_share_are_settled_except_the_newest() -> None:
    agreement = Agreement(hold_samples=4_000, times=2)
    agreement.hear(spoken("there is iron they"), 16_000)
    assert settled(agreement) == ""
    agreement.hear(spoken("There is iron, they say"), 20_000)
    assert settled(agreement) == "There is iron,"
    agreement.hear(spoken("There is iron, those say in"), 24_000)
    assert settled(agreement) == "There is iron,"


def test_words_close_to_the_end_of_the_audio_are_not_settled() -> None:
    agreement = Agreement(hold_samples=8_000, times=2)
    for _ in range(2):
        agreement.hear(spoken("one two three four"), 16_000)
    assert settled(agreement) == "one two"


def test_settled_words_stay_and_are_not_said_twice_when_the_recogniser_changes_its_mind() -> None:
    agreement = Agreement(hold_samples=0, times=2)
    for _ in range(2):
        agreement.hear(spoken("their is iron they say"), 20_000)
    assert settled(agreement) == "their is iron they"
    for now, then in {
        "there is iron they say in all": "their is iron they say in all",
        "there's iron, they say": "their is iron they say",
        "a there is iron they say": "their is iron they say",
        "their is": "their is iron they",
    }.items():
        assert " ".join(word.text for word in agreement.spliced(spoken(now))) == then
    moved = agreement.spliced(spoken("Their is iron they say", each=5_000))
    assert [word.start_sample for word in moved] == [0, 5_000, 10_000, 15_000, 20_000]


def test_words_before_a_pause_may_be_settled_at_once() -> None:
    agreement = Agreement(hold_samples=4_000, times=3)
    agreement.hear(spoken("one two three"), 12_000)
    assert settled(agreement) == ""
    agreement.settle(spoken("one two three."))
    assert settled(agreement) == "one two three"
    assert agreement.spliced(spoken("one two three."))[-1].text == "three."  # its mark is open until something follows
    assert [word.text for word in agreement.spliced(spoken("One two three, four"))] == ["one", "two", "three,", "four"]
    agreement.settle(spoken("one two three, four five!"))
    assert settled(agreement) == "one two three, four five"
    agreement.settle(spoken("one two three"))
    assert settled(agreement) == "one two three, four five"


def shown(steady: Steady) -> str:
    return " ".join(word.text for word in steady.words)


def test_a_word_is_shown_and_changed_only_when_two_hypotheses_in_a_row_say_so() -> None:
    steady = Steady()
    story = [
        ("I", ""),
        ("I wood", "I"),
        ("I would like", "I"),  # a word that one hypothesis had is not shown
        ("I would like two", "I would like"),
        ("eye would like to", "I would like"),  # nor taken back for one
        ("I would like to", "I would like to"),
        ("I would like to a", "I would like to"),
        ("I will like to a", "I would like to a"),
        ("I will like to add", "I will like to a"),  # two say so
    ]
    for said, expected in story:
        steady.hear(spoken(said), complete=False)
        assert shown(steady) == expected, said
    steady.hear(spoken("I will like to add."), complete=True)
    assert shown(steady) == "I will like to add."


def test_where_hypotheses_are_rare_all_but_the_last_word_is_shown() -> None:
    steady = Steady(times=1)
    steady.hear(spoken("one two three"), complete=False)
    assert shown(steady) == "one two"


def test_what_was_shown_before_a_cut_stays_until_two_hypotheses_say_otherwise() -> None:
    steady = Steady()
    steady.begin(spoken("of all"))
    steady.hear(spoken("off all things"), complete=False)
    assert shown(steady) == "of all"
    steady.hear(spoken("of all things"), complete=False)
    assert shown(steady) == "of all things"


def test_cuts_go_through_the_quietest_place_after_what_is_settled() -> None:
    samples = np.random.default_rng(0).standard_normal(16_000 * 4).astype(np.float32) * np.float32(0.1)
    for at_s in (1.0, 2.2, 3.0):
        samples[int(at_s * 16_000) : int(at_s * 16_000) + 1_600] *= np.float32(0.01)
    assert abs(cut_places(samples)[0] / 16_000 - 2.25) < 0.06 or abs(cut_places(samples)[0] / 16_000 - 3.05) < 0.06
    assert abs(cut_places(samples, int(2.6 * 16_000))[0] / 16_000 - 3.05) < 0.06
    assert cut_places(samples, len(samples)) == []


def test_a_head_that_ends_in_half_a_word_is_not_whole() -> None:
    whole = Hypothesis(spoken("the quick brown fox"))
    assert is_whole(Hypothesis(spoken("The quick.")), whole)
    assert not is_whole(Hypothesis(spoken("the qui")), whole)
    assert not is_whole(Hypothesis(), whole)


def test_words_share_the_sounding_time_by_their_length() -> None:
    sound = np.random.default_rng(0).standard_normal(16_000).astype(np.float32) * np.float32(0.1)
    samples = np.concatenate([np.zeros(8_000, np.float32), sound, np.zeros(4_000, np.float32), sound])
    samples += np.float32(1e-5)
    places = place_words(["alongside", "meanwhile"], samples)
    assert places[0][0] == pytest.approx(8_000, abs=400)
    assert places[0][1] == pytest.approx(24_000, abs=800)
    assert places[1][0] == pytest.approx(28_000, abs=800)
    assert place_words([], samples) == []
    for count in (1, 50, 400):
        spans = place_words(["word"] * count, samples[:9_000])
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
        assert len(spans) == count


def test_the_tape_keeps_positions_and_forgets_the_past() -> None:
    tape = Tape()
    for n in range(300):
        tape.append(np.arange(n * 1_000, (n + 1) * 1_000, dtype=np.float32))
        tape.forget(tape.end - 5_000)
    assert tape.end == 300_000
    assert np.array_equal(tape.read(297_000, 297_003), [297_000, 297_001, 297_002])
    assert len(tape._data) < 80_000
    tape.skip(400_000)
    assert len(tape.read(0, 500_000)) == 0


def test_the_pace_follows_what_interims_take() -> None:
    pace = Pace(cheap=True, idle=lambda: False)
    assert pace.interval_s == FASTEST_S
    assert pace.due(FIRST_S, first=True)
    assert not pace.due(FIRST_S)
    for _ in range(20):
        pace.took(0.2)
    assert not pace.due(FIRST_S, first=True)
    assert FASTEST_S < pace.interval_s <= 0.5
    for _ in range(20):
        pace.took(3.0)
    assert pace.interval_s == SLOWEST_S


@pytest.mark.parametrize(
    ("logprob", "voiced_frames", "words", "believed"),
    [
        (-0.2, 12, 1, True),
        (-0.2, 1, 1, False),
        (-1.4, 60, 4, False),
        (-0.9, 8, 1, False),
        (-0.9, 60, 4, True),
        (-0.2, 5, 9, False),
    ],
)
def test_belief_needs_voice_and_certainty(logprob: float, voiced_frames: int, words: int, believed: bool) -> None:
    assert is_speech(Hypothesis(spoken("a " * words), logprob), voiced_frames) is believed


def test_a_keyterm_is_lifted_only_where_it_is_nearly_heard() -> None:
    bias = KeytermBias(["Ab"], lambda text: [{"A": 1, "b": 2}[char] for char in text])
    logits = np.array([5.0, 4.0, 3.0, 0.0], np.float32)
    assert int(bias((), logits).argmax()) == 1  # its beginning
    assert int(bias((1,), logits).argmax()) == 2  # and how it goes on
    assert int(bias((3,), logits).argmax()) == 1
    far = np.array([5.0 + REACH, 4.0, 3.0, 0.0], np.float32)
    assert np.array_equal(bias((), far), far)
    assert logits.tolist() == [5.0, 4.0, 3.0, 0.0]
