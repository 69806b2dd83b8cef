"""Words, sound and silence in one likelihood; the scorer with the endpoint."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import TurnEagerEnded, TurnEnded
from antiphon.dialog.endpoint import Endpoint
from antiphon.engine.ear import Closing
from antiphon.engine.scorer import TurnPause, TurnScorer
from antiphon.engine.turn import ACOUSTIC_S, WEIGHTS, HybridTurnScorer, likelihood

QUESTION = "What time do you close today?"
AMBIGUOUS = "The order from last week never arrived."
UNFINISHED = "I would like to book a table for my"
DICTATION = "My number is 0 7 7"
OPEN = replace(WEIGHTS, level=0.3)
"""A level at which AMBIGUOUS is neither done nor not, for a scorer that lacks most of its judges."""


class Sound:
    """Always of one opinion; keeps what it was asked."""

    def __init__(self, complete: float = 0.5) -> None:
        self.probability = complete
        self.asked: list[Samples] = []

    def complete(self, samples: Samples) -> float:
        self.asked.append(samples)
        return self.probability

    def warm_up(self) -> None:
        self.complete(np.zeros(1, np.float32))


def noise(seconds: float, seed: int = 0) -> Samples:
    return np.random.default_rng(seed).normal(0, 0.1, round(seconds * EAR_RATE_HZ)).astype(np.float32)


def paused(speech: Samples, silence_s: float) -> Samples:
    return np.concatenate([speech, np.zeros(round(silence_s * EAR_RATE_HZ), np.float32)])


def end_of(
    scorer: TurnScorer, text: str, language: str = "en", speech_s: float = 2.0
) -> tuple[float | None, float | None]:
    """Silence until the eager end and the end, scored every 32 ms by the default thresholds."""
    endpoint, speech, eager_s = Endpoint(), noise(speech_s), None
    endpoint.handle(SpeechStarted(0), 0.0)
    start = len(speech)
    endpoint.handle(SpeechStopped(start), start / EAR_RATE_HZ)
    endpoint.handle(Heard(text, len(text), True, end_sample=start), start / EAR_RATE_HZ)
    for silence in range(2048, 8 * EAR_RATE_HZ, 512):
        at, silence_s = start + silence, silence / EAR_RATE_HZ
        audio = np.concatenate([speech, np.zeros(silence, np.float32)])[-8 * EAR_RATE_HZ :]
        events = endpoint.handle(Listened(at, False), at / EAR_RATE_HZ)
        value = scorer.score(TurnPause(audio, text, silence_s, language))
        events += endpoint.handle(TurnScored(at, value, silence), at / EAR_RATE_HZ)
        for event in events:
            if isinstance(event, TurnEagerEnded):
                eager_s = silence_s
            if isinstance(event, TurnEnded):
                return eager_s, silence_s
    return eager_s, None


def test_a_finished_question_ends_after_a_third_of_a_second() -> None:
    eager_s, end_s = end_of(HybridTurnScorer(Sound(0.95)), QUESTION)
    assert eager_s is not None
    assert end_s is not None
    assert 0.25 <= end_s <= 0.4
    assert end_s - eager_s >= 0.15


def test_an_unfinished_sentence_and_a_dictation_wait_long_whatever_they_sound_like() -> None:
    for text in (UNFINISHED, DICTATION, "Make it Friday, no wait", "um"):
        end_s = end_of(HybridTurnScorer(Sound(0.99)), text)[1]
        assert end_s is not None
        assert 1.2 <= end_s <= 2.5, text


def test_where_words_leave_it_open_the_sound_decides() -> None:
    waits = [end_of(HybridTurnScorer(Sound(p), OPEN), AMBIGUOUS, speech_s=4.0)[1] for p in (0.99, 0.6, 0.03)]
    done, unsure, goes_on = (wait for wait in waits if wait is not None)
    assert done < 1.2
    assert done < unsure <= goes_on
    assert goes_on >= 1.2


def test_a_higher_level_waits_longer_where_it_is_not_plain() -> None:
    def ends(level: float) -> list[float | None]:
        scorer = HybridTurnScorer(Sound(0.99), replace(WEIGHTS, level=level))
        return [end_of(scorer, text, speech_s=4.0)[1] for text in (AMBIGUOUS, UNFINISHED)]

    (usual_s, most_s), (longer_s, still_s) = ends(OPEN.level), ends(OPEN.level + 0.2)
    assert usual_s is not None
    assert longer_s is not None
    assert longer_s > usual_s
    assert still_s == most_s


def test_sound_is_asked_only_in_the_doubtful_middle() -> None:
    sound = Sound()
    scorer = HybridTurnScorer(sound, OPEN)
    for text in (DICTATION, UNFINISHED):
        scorer.score(TurnPause(paused(noise(4.0), 0.3), text, 0.3, "en"))
    assert sound.asked == []
    scorer.score(TurnPause(paused(noise(4.0), 0.16), AMBIGUOUS, 0.16, "en"))
    assert sound.asked == []  # a first score is there at once
    scorer.score(TurnPause(paused(noise(4.0), 0.3), AMBIGUOUS, 0.3, "en"))
    assert len(sound.asked) == 1


def test_sound_is_asked_once_a_pause_and_about_the_same_audio() -> None:
    sound, speech = Sound(), noise(10.0)
    scorer = HybridTurnScorer(sound, OPEN)
    for silence in range(1024, 2 * EAR_RATE_HZ, 512):
        audio = np.concatenate([speech, np.zeros(silence, np.float32)])[-8 * EAR_RATE_HZ :]
        scorer.score(TurnPause(audio, AMBIGUOUS, silence / EAR_RATE_HZ, "en"))
    assert len(sound.asked) == 1
    pause = round(ACOUSTIC_S * EAR_RATE_HZ)
    assert not sound.asked[0][-pause:].any()
    np.testing.assert_array_equal(sound.asked[0][-pause - 1000 : -pause], speech[-1000:])


def test_an_answer_does_not_depend_on_who_asked_before() -> None:
    class Loudness(Sound):
        def complete(self, samples: Samples) -> float:
            return float(min(1.0, np.abs(samples).mean() * 5))

    shared = HybridTurnScorer(Loudness())
    silences = (0.2, 0.3, 0.4, 0.5)
    questions = [(paused(noise(4.0, n) * np.float32((n + 1) / 4), s), s) for n, s in enumerate(silences)]
    alone = [HybridTurnScorer(Loudness()).score(TurnPause(audio, AMBIGUOUS, s, "en")) for audio, s in questions]
    together = [shared.score(TurnPause(audio, AMBIGUOUS, s, "en")) for audio, s in [*questions, *reversed(questions)]]
    assert together == [*alone, *reversed(alone)]
    assert len(set(alone)) == len(alone)


def test_a_language_without_rules_is_judged_by_sound() -> None:
    done, goes_on = (end_of(HybridTurnScorer(Sound(p)), "Ich hätte gern einen Tisch", "de")[1] for p in (0.98, 0.02))
    assert done is not None
    assert goes_on is not None
    assert done < 0.8
    assert goes_on > 1.2


def test_without_a_sound_model_words_and_silence_decide() -> None:
    scorer = HybridTurnScorer(None)
    scorer.warm_up()
    question, open_end = end_of(scorer, QUESTION)[1], end_of(scorer, UNFINISHED)[1]
    assert question is not None
    assert open_end is not None
    assert question < 0.4
    assert open_end > 1.2


def test_no_audio_and_odd_answers_do_no_harm() -> None:
    for sound in (Sound(0.0), Sound(1.0)):
        scorer = HybridTurnScorer(sound)
        assert 0.0 < scorer.score(TurnPause(noise(1.0), AMBIGUOUS, 0.5, "en")) < 1.0
        assert 0.0 < scorer.score(TurnPause(np.zeros(0, np.float32), AMBIGUOUS, 0.5, "en")) < 1.0
        assert 0.0 < scorer.score(TurnPause(noise(0.1), AMBIGUOUS, 3.0, "en")) < 1.0


@given(st.floats(*WEIGHTS.wait_s), st.floats(0, 20), st.floats(0, 20))
def test_the_likelihood_falls_with_silence_to_a_fifth_after_the_wait(wait_s: float, one: float, other: float) -> None:
    shorter, longer = sorted((one, other))
    assert 0.0 <= likelihood(wait_s, longer) <= likelihood(wait_s, shorter) <= 1.0
    assert math.isclose(likelihood(wait_s, wait_s), 0.2)
    assert likelihood(wait_s, 0.0) == 1.0


def test_warm_up_asks_the_sound() -> None:
    sound = Sound()
    HybridTurnScorer(sound).warm_up()
    assert len(sound.asked) == 1




def test_a_whole_question_ends_at_once_however_it_sounds() -> None:
    class Unfinished:
        def log_odds(self, heard: object) -> float:
            return -8.0

        def warm_up(self) -> None: ...

    sure = HybridTurnScorer(None, words=Unfinished(), pause=Unfinished())
    assert end_of(sure, QUESTION)[1] == end_of(HybridTurnScorer(None), QUESTION)[1]
    ends = [end_of(sure, text)[1] for text in (QUESTION, AMBIGUOUS)]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0] < 0.5 < 1.5 < ends[1]


def test_each_judge_moves_the_end_and_smart_turn_is_for_words_without_a_judge() -> None:
    class Says:
        def __init__(self, odds: float) -> None:
            self.odds = odds

        def log_odds(self, heard: object) -> float:
            return self.odds

        def warm_up(self) -> None: ...

    def ends(text: str, words: float, pause: float, language: str = "en") -> float:
        found = end_of(HybridTurnScorer(sound, words=Says(words), pause=Says(pause)), text, language, 3.0)[1]
        assert found is not None
        return found

    sound = Sound(0.5)
    assert ends(AMBIGUOUS, 4.0, 1.0) < ends(AMBIGUOUS, -6.0, 1.0)
    assert ends(AMBIGUOUS, -2.6, 3.0) < ends(AMBIGUOUS, -2.6, -3.0)
    assert sound.asked == []
    german = "Ich habe meinen Schirm im Zug vergessen"
    assert ends(german, 8.0, 0.0, "de") == ends(german, -8.0, 0.0, "de")
    assert sound.asked


def test_a_recogniser_that_is_sure_of_a_full_stop_hastens_the_end_and_one_that_does_not_tell_changes_nothing() -> None:
    def wait_s(closing: Closing | None) -> float:
        pause = TurnPause(paused(noise(4.0), 0.3), AMBIGUOUS, 0.3, closing=closing)
        return HybridTurnScorer(None, wide).wait_s(pause)

    wide = replace(WEIGHTS, wait_s=(1e-9, 1e9))
    usual = Closing(WEIGHTS.comma_mean, WEIGHTS.word_mean)
    assert wait_s(Closing(6.0, 8.0)) < wait_s(usual) == wait_s(None) < wait_s(Closing(-1.0, 1.0))
    assert wait_s(Closing(1e9, 1e9)) == wait_s(Closing(1e3, 1e3))  # within bounds


def test_with_all_its_judges_a_statement_ends_by_what_they_say_at_the_level_that_ships() -> None:
    class Says:
        def __init__(self, odds: float) -> None:
            self.odds = odds

        def log_odds(self, heard: object) -> float:
            return self.odds

        def warm_up(self) -> None: ...

    def wait_s(words: float, pause: float, comma: float) -> float:
        scorer = HybridTurnScorer(None, words=Says(words), pause=Says(pause))
        closing = Closing(comma, WEIGHTS.word_mean)
        return scorer.wait_s(TurnPause(paused(noise(4.0), 0.3), AMBIGUOUS, 0.3, closing=closing))

    least_s, most_s = WEIGHTS.wait_s
    assert wait_s(0.5, 2.0, 6.0) == least_s
    assert wait_s(-4.0, -2.0, 0.0) == most_s
