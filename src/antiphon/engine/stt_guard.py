"""Whether a hypothesis is speech at all: evidence of the voice detector and of the decoder, no list of phrases.

Recognisers write something for any sound; for noise they do so with little certainty, or without a voice behind it.
"""

from antiphon.engine.ear import Hypothesis
from antiphon.engine.stt_segment import FRAME_SAMPLES

_FRAME_S = FRAME_SAMPLES / 16_000

LEAST_LOGPROB = -1.1
"""Mean log probability below which a decode has lost its way, whatever the voice activity detector says."""
DOUBTFUL_LOGPROB = -0.75
"""Below this it needs more voice behind it."""
LEAST_VOICED_S = 0.09
SHORT_VOICED_S = 0.5
MAX_WORDS_PER_VOICED_S = 9.0
SILENT = 0.6


def is_speech(hypothesis: Hypothesis, voiced_frames: int) -> bool:
    """``voiced_frames``: frames of the window in which the detector heard a voice."""
    if not hypothesis.words:
        return False
    voiced_s = voiced_frames * _FRAME_S
    if voiced_s < LEAST_VOICED_S or hypothesis.silence > SILENT:
        return False
    if hypothesis.avg_logprob < (DOUBTFUL_LOGPROB if voiced_s < SHORT_VOICED_S else LEAST_LOGPROB):
        return False
    return len(hypothesis.words) <= 2 + voiced_s * MAX_WORDS_PER_VOICED_S
