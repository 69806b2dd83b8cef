"""Play a pause to the real endpoint and scorer in media time, compute time added, and see when it says what.

As in the streaming ear: three quiet frames start the decode of the last window, four are a pause, and every 64 ms of
it the turn is scored. Words come after their decode, smart-turn's answer after its own. What these cost is nominal
(medians of one core that is not fought over), so that two runs can be compared.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import EndpointSettings, TurnEagerEnded, TurnEnded
from antiphon.dialog.endpoint import Endpoint
from antiphon.engine.turn import ACOUSTIC_S, HybridTurnScorer, TurnWeights
from antiphon.text.turn_evidence import turn_evidence

FRAME = 512
STEP = 2 * FRAME
DECODE_FRAMES, PAUSE_FRAMES = 3, 4
LONGEST_S = 7.0
WINDOW_S = 8.0
DECODE_S, DECODE_RTF, SOUND_S = 0.03, 0.02, 0.09
_NO_AUDIO = np.ones(1, np.float32)


@dataclass(frozen=True)
class Outcome:
    """Seconds from the true end of the speech before the pause; None: not within seven seconds."""

    pause: dict[str, Any]
    eager_s: float | None
    end_s: float | None

    @property
    def cut_off(self) -> bool:
        """The turn was ended although the speaker went on."""
        return self.pause["kind"] == "mid" and self.end_s is not None and self.end_s < self.pause["pause_ms"] / 1000

    @property
    def eager_wrong(self) -> bool:
        return self.pause["kind"] == "mid" and self.eager_s is not None and self.eager_s < self.pause["pause_ms"] / 1000


class _Known:
    """Smart-turn's answer, computed before."""

    def __init__(self, probability: float) -> None:
        self.probability = probability

    def complete(self, samples: object) -> float:
        return self.probability

    def warm_up(self) -> None: ...


def ready_s(pause: dict[str, Any], asked: bool) -> float:
    """Silence after which the first score is there."""
    decode_s = DECODE_S + DECODE_RTF * min(pause["speech_s"], WINDOW_S)
    words_s = max(PAUSE_FRAMES * FRAME / EAR_RATE_HZ, DECODE_FRAMES * FRAME / EAR_RATE_HZ + decode_s)
    return float(max(words_s, ACOUSTIC_S) + SOUND_S) if asked else float(words_s)


def simulate(pause: dict[str, Any], weights: TurnWeights, settings: EndpointSettings, language: str = "en") -> Outcome:
    if pause.get("pause") is None:
        return Outcome(pause, None, None)
    endpoint = Endpoint(settings)
    scorer = HybridTurnScorer(_Known(pause["smart"]), weights)
    began = pause["pause"][0]
    known = began + PAUSE_FRAMES * FRAME
    zero = pause["true_end"]
    text = pause["text"]
    asked = weights.doubt[0] < turn_evidence(text, language).logit < weights.doubt[1]
    ready = began + round(ready_s(pause, asked) * EAR_RATE_HZ)
    eager_s = end_s = None
    stopped = scored = False
    endpoint.handle(SpeechStarted(0), 0.0)
    for at in range(began, zero + round(LONGEST_S * EAR_RATE_HZ), FRAME):
        now_s = at / EAR_RATE_HZ
        events = endpoint.handle(Listened(at, not stopped), now_s)
        if not stopped and at >= known:
            stopped = True
            events += endpoint.handle(SpeechStopped(began), now_s)
        if stopped and at >= ready and (at - known) % STEP == 0:
            if not scored:
                scored = True
                events += endpoint.handle(Heard(text, len(text), True, end_sample=began), now_s)
            silence = at - began
            value = scorer.score(_NO_AUDIO, text, silence / EAR_RATE_HZ, language)
            events += endpoint.handle(TurnScored(at, value, silence, text), now_s)
        for event in events:
            if isinstance(event, TurnEagerEnded) and eager_s is None:
                eager_s = (at - zero) / EAR_RATE_HZ
            if isinstance(event, TurnEnded):
                end_s = (at - zero) / EAR_RATE_HZ
                return Outcome(pause, end_s if eager_s is None else eager_s, end_s)
    return Outcome(pause, eager_s, end_s)
