"""Is the speaker done? Words, sound and silence in one likelihood.

Words are judged by rules (:mod:`antiphon.text.turn_evidence`) and by a small state-space language model
(:mod:`antiphon.models.utterance`), words and sound at once by how sure the recogniser is of a full stop, the sound by
where pitch and level end (:mod:`antiphon.engine.turn_sound`) and by a state-space network of our own
(:mod:`antiphon.models.pause`); where the words have no such model, in other languages than English, by smart-turn as
well (50 to 100 ms). Together they give the silence that it takes to believe in an end: 0.38 s after a question, 1.8 s
after "my number is". The weights are fitted by ``train/turn/fit.py``.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.engine.ear import Closing
from antiphon.engine.remembered import Remembered, fingerprint
from antiphon.engine.scorer import TurnPause
from antiphon.engine.turn_sound import Ending, ending, later_s
from antiphon.text.turn_evidence import turn_evidence

ACOUSTIC_S = 0.12
"""Smart-turn is asked with this much of the pause (as good as 0.2 s; worse with more): the answer stays the same while
the pause grows, so it is asked once a pause."""

ASK_S = 0.19
"""Before this much of the pause, the rest decides without it: a first score is there at once."""

HEAR_S = 0.2
"""The pause model is asked with this much of the pause, once as well."""

HEARD_SAMPLES = round(5.5 * EAR_RATE_HZ)
"""What both hear: a caller keeps eight seconds, so that this much is left of it in the longest wait."""
ENDING_SAMPLES = 4 * EAR_RATE_HZ
_REMEMBERED = 256
_END = math.log(0.8 / 0.2)  # at the default end threshold of 0.2 ...


class AcousticJudge(Protocol):
    """What judges by the sound (:class:`antiphon.models.smart_turn.SmartTurn`)."""

    def complete(self, samples: Samples) -> float: ...

    def warm_up(self) -> None: ...


class PauseJudge(Protocol):
    """What judges by the sound, cheaply (:class:`antiphon.models.pause.PauseModel`)."""

    def log_odds(self, samples: Samples) -> float: ...

    def warm_up(self) -> None: ...


class WordJudge(Protocol):
    """What judges by English words (:class:`antiphon.models.utterance.UtteranceModel`)."""

    def log_odds(self, text: str) -> float: ...


@dataclass(frozen=True, slots=True)
class TurnWeights:
    """Log odds that the speaker is done.

    ``bias + text*T + words*(W - words_mean) + pause*(P - pause_mean) + comma*(C - comma_mean) + word*(D - word_mean) +
    pitch*semitones + fall*dB/s + length*min(s, 3)``: T of the rules, W of the utterance model, P of the pause model, C
    and D of the recogniser (:class:`antiphon.engine.ear.Closing`), each if there is one; plus ``sound*S``, S of
    smart-turn, where the utterance model has no say: beside both networks it adds nothing.

    From them the silence that an end takes: ``exp(steepness * (level - odds))`` seconds, within ``wait_s``.
    """

    bias: float = -2.57
    text: float = 0.772
    words: float = 0.477
    words_mean: float = -2.4
    pause: float = 0.528
    pause_mean: float = -0.6
    sound: float = 0.18
    comma: float = 0.33
    comma_mean: float = 2.6
    word: float = 0.156
    word_mean: float = 5.0
    """Means of W, P, C and D over ends and pauses of real voices, taken where there is none."""
    pitch: float = -0.208
    fall: float = 0.0054
    length: float = 0.668
    """For each second spoken, up to three: one who has only begun is seldom done, unless the words say so."""
    other_language: float = 1.5
    """Added where there are no rules for the words, so that the sound alone can end a turn soon; set by hand."""
    level: float = 0.9
    steepness: float = 3.5
    wait_s: tuple[float, float] = (0.38, 1.8)
    """The least and the most silence that an end takes (at an end threshold of 0.2)."""
    silence: float = 1.2
    """How fast the likelihood falls with the logarithm of silence: other thresholds take less or more of it."""


WEIGHTS = TurnWeights()

CLOSING_RANGE = 12.0  # log odds
SOUND_RANGE = 4.5  # log odds; smart-turn is sure of too much
FULL_S = 3.0


class HybridTurnScorer:
    """See :class:`antiphon.engine.scorer.TurnScorer`. Thread-safe.

    The one thing it remembers are the last answers about a sound or a text, by that sound or text: the same question is
    not computed twice, and no answer depends on what was asked before.
    """

    def __init__(
        self,
        sound: AcousticJudge | None,
        weights: TurnWeights = WEIGHTS,
        words: WordJudge | None = None,
        pause: PauseJudge | None = None,
    ) -> None:
        """Without one of the judges the rest decides."""
        self._sound = sound
        self._words = words
        self._pause = pause
        self._weights = weights
        self._sounds = Remembered[float](_REMEMBERED)
        self._pauses = Remembered[float](_REMEMBERED)
        self._texts = Remembered[float](_REMEMBERED)
        self._endings = Remembered[Ending](_REMEMBERED)

    def score(self, pause: TurnPause) -> float:
        """Likelihood that the speaker is still in their turn; falls as ``silence_s`` grows."""
        quiet_s = pause.silence_s - later_s(pause.audio, pause.silence_s)
        return likelihood(self.wait_s(pause), quiet_s, self._weights)

    def wait_s(self, pause: TurnPause) -> float:
        """How much silence it takes until the likelihood falls to 0.2."""
        weights, audio, text, silence_s = self._weights, pause.audio, pause.text, pause.silence_s
        evidence = turn_evidence(text, pause.language, pause.expected_digits)
        if evidence.asked:  # at once, however it sounds: whoever asks may well end high
            return weights.wait_s[0]
        odds = weights.bias + (weights.text * evidence.logit if evidence.bias else weights.other_language)
        if (words := self._words if evidence.bias else None) is not None:
            odds += weights.words * (self._texts.get(text, partial(words.log_odds, text)) - weights.words_mean)
        comma, word = closing_terms(pause.closing, weights)
        odds += weights.comma * comma + weights.word * word
        speech = audio[: max(0, len(audio) - round(silence_s * EAR_RATE_HZ))]
        how = self._ending(speech)
        odds += weights.pitch * how.pitch + weights.fall * how.fall
        odds += weights.length * min(len(speech) / EAR_RATE_HZ, FULL_S)
        if self._pause is not None and silence_s >= HEAR_S and len(speech):
            odds += weights.pause * (self._hear(self._pause, audio, silence_s) - weights.pause_mean)
        most = abs(weights.sound) * SOUND_RANGE
        soon, late = (weights.level - math.log(wait) / weights.steepness for wait in weights.wait_s)
        doubtful = late - most < odds < soon + most
        if self._sound is not None and words is None and doubtful and silence_s >= ASK_S and len(audio):
            odds += weights.sound * self._ask(self._sound, audio, silence_s)
        wait_s = math.exp(min(weights.steepness * (weights.level - odds), 50.0))
        return min(max(wait_s, weights.wait_s[0]), weights.wait_s[1])

    def warm_up(self) -> None:
        """One real inference."""
        if self._sound is not None:
            self._sound.warm_up()
        if self._pause is not None:
            self._pause.warm_up()
        if self._words is not None:
            self._words.log_odds("Are you there?")

    def _ending(self, speech: Samples) -> Ending:
        heard = np.ascontiguousarray(speech[-ENDING_SAMPLES:], np.float32)
        return self._endings.get(fingerprint(heard), lambda: ending(heard))

    def _hear(self, judge: PauseJudge, audio: Samples, silence_s: float) -> float:
        """The pause model's log odds."""
        heard = _until(audio, silence_s, HEAR_S)
        return self._pauses.get(fingerprint(heard), lambda: judge.log_odds(heard))

    def _ask(self, judge: AcousticJudge, audio: Samples, silence_s: float) -> float:
        """Smart-turn's log odds."""
        heard = _until(audio, silence_s, ACOUSTIC_S)

        def answer() -> float:
            probability = min(max(judge.complete(heard), 1e-6), 1 - 1e-6)
            return min(max(math.log(probability / (1 - probability)), -SOUND_RANGE), SOUND_RANGE)

        return self._sounds.get(fingerprint(heard), answer)


def closing_terms(closing: Closing | None, weights: TurnWeights = WEIGHTS) -> tuple[float, float]:
    """How much surer than usual the recogniser is of a full stop than of a comma, and than of another word."""
    if closing is None:
        return 0.0, 0.0
    comma, word = (min(max(value, -CLOSING_RANGE), CLOSING_RANGE) for value in (closing.comma, closing.word))
    return comma - weights.comma_mean, word - weights.word_mean


def _until(audio: Samples, silence_s: float, pause_s: float) -> Samples:
    """The last of the speech with the first ``pause_s`` of the pause, of ``audio`` that ends ``silence_s`` into it: the
    same however long the pause has become."""
    later = round((silence_s - pause_s) * EAR_RATE_HZ)
    return np.ascontiguousarray(audio[max(0, len(audio) - later - HEARD_SAMPLES) : len(audio) - later], np.float32)


def likelihood(wait_s: float, silence_s: float, weights: TurnWeights = WEIGHTS) -> float:
    """Likelihood that the turn goes on after ``silence_s`` of silence, where ``wait_s`` bring it down to 0.2."""
    if silence_s <= 0:
        return 1.0
    odds = _END + weights.silence * math.log(silence_s / wait_s)
    return 1.0 / (1.0 + math.exp(min(odds, 700.0)))
