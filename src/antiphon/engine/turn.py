"""Is the speaker done? Words, sound and silence in one likelihood.

Words are judged by rules (:mod:`antiphon.text.turn_evidence`); where they leave it open, the sound of the last seconds
is asked too (smart-turn, 50 to 100 ms); both together give the silence that it takes to believe in an end: a quarter of
a second after a question, more than a second after "my number is". The weights are fitted by ``train/turn/fit.py``.
"""

import hashlib
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.text.turn_evidence import turn_evidence

ACOUSTIC_S = 0.12
"""Smart-turn is asked with this much of the pause (as good as 0.2 s; worse with more): the answer stays the same while
the pause grows, so it is asked once a pause. Before, words alone decide."""

HEARD_SAMPLES = round(5.5 * EAR_RATE_HZ)
"""What smart-turn hears: a caller keeps eight seconds, so that this much is left of it in the longest wait."""
_REMEMBERED = 256
_END = math.log(0.8 / 0.2)  # at the default end threshold of 0.2 ...


class AcousticJudge(Protocol):
    """What judges by the sound (:class:`antiphon.models.smart_turn.SmartTurn`)."""

    def complete(self, samples: Samples) -> float: ...

    def warm_up(self) -> None: ...


@dataclass(frozen=True, slots=True)
class TurnWeights:
    """Log odds that the turn is over after ``s`` seconds of silence: ``bias + text*T + sound*S + silence*ln(s)``."""

    bias: float = -0.2
    text: float = 2.4
    sound: float = 0.7
    sound_bias: float = -0.7
    """Added where the sound is asked: smart-turn calls too much complete."""
    silence: float = 1.2
    other_language: float = 1.2
    """Added where there are no rules for the words, so that the sound alone can end a turn soon; set by hand."""
    doubt: tuple[float, float] = (-2.0, 2.5)
    """The text logits between which the sound is asked."""
    wait_s: tuple[float, float] = (0.34, 1.9)
    """The least and the most silence that an end takes (at an end threshold of 0.2)."""


WEIGHTS = TurnWeights()

SOUND_RANGE = 4.5  # log odds; smart-turn is sure of too much


class HybridTurnScorer:
    """See :class:`antiphon.engine.scorer.TurnScorer`. Thread-safe.

    The one thing it remembers are smart-turn's last answers, by the sound they were given for: the same question is not
    computed twice, and no answer depends on what was asked before.
    """

    def __init__(self, sound: AcousticJudge | None, weights: TurnWeights = WEIGHTS) -> None:
        """Without ``sound`` words and silence decide."""
        self._sound = sound
        self._weights = weights
        self._answers: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()
        self.cost_s = 0.06 if sound is not None else 0.001

    def score(self, audio: Samples, text: str, silence_s: float, language: str) -> float:
        """Likelihood that the speaker is still in their turn; falls as ``silence_s`` grows."""
        return likelihood(self.wait_s(audio, text, silence_s, language), silence_s, self._weights)

    def wait_s(self, audio: Samples, text: str, silence_s: float, language: str) -> float:
        """How much silence it takes until the likelihood falls to 0.2. ``audio`` ends ``silence_s`` into the pause."""
        weights = self._weights
        evidence = turn_evidence(text, language)
        words = evidence.logit
        odds = weights.bias + (weights.text * words if evidence.bias else weights.other_language)
        doubtful = weights.doubt[0] < words < weights.doubt[1]
        if self._sound is not None and doubtful and silence_s >= ACOUSTIC_S and len(audio):
            odds += weights.sound_bias + weights.sound * self._ask(audio, silence_s)
        wait_s = math.exp((_END - odds) / weights.silence)
        return min(max(wait_s, weights.wait_s[0]), weights.wait_s[1])

    def warm_up(self) -> None:
        """One real inference."""
        if self._sound is not None:
            self._sound.warm_up()

    def _ask(self, audio: Samples, silence_s: float) -> float:
        """Log odds by the sound of the speech and the first 0.12 s of the pause."""
        assert self._sound is not None
        later = round((silence_s - ACOUSTIC_S) * EAR_RATE_HZ)
        cut = np.ascontiguousarray(audio[max(0, len(audio) - later - HEARD_SAMPLES) : len(audio) - later], np.float32)
        key = hashlib.blake2b(cut.tobytes(), digest_size=16).digest()
        with self._lock:
            if (known := self._answers.get(key)) is not None:
                self._answers.move_to_end(key)
                return known
        probability = min(max(self._sound.complete(cut), 1e-6), 1 - 1e-6)
        odds = min(max(math.log(probability / (1 - probability)), -SOUND_RANGE), SOUND_RANGE)
        with self._lock:
            self._answers[key] = odds
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
        return odds


def likelihood(wait_s: float, silence_s: float, weights: TurnWeights = WEIGHTS) -> float:
    """Likelihood that the turn goes on after ``silence_s`` of silence, where ``wait_s`` bring it down to 0.2."""
    if silence_s <= 0:
        return 1.0
    odds = _END + weights.silence * math.log(silence_s / wait_s)
    return 1.0 / (1.0 + math.exp(min(odds, 700.0)))
