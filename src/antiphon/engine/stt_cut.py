"""Where to end a window in running speech: nobody pauses, but the cost of a window must stay bounded. Pure."""

from dataclasses import replace

import numpy as np

from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.engine.ear import Hypothesis
from antiphon.engine.stt_agree import sound_of

_HOP = 160
_QUIET_FRAMES = 6
_BACK_S = 2.5
_SPARE_S = 0.35
_APART_FRAMES = 12
MAX_PLACES = 3


def cut_places(samples: Samples, least_sample: int = 0) -> list[int]:
    """The quietest places (60 ms) of the last 2.5 s, best first, in samples; none before ``least_sample``."""
    frames = len(samples) // _HOP
    power = np.square(samples[: frames * _HOP], dtype=np.float64).reshape(frames, _HOP).mean(axis=1)
    smooth = np.convolve(power, np.ones(_QUIET_FRAMES) / _QUIET_FRAMES, "valid")
    low = max(-(-least_sample // _HOP), frames - int(_BACK_S * EAR_RATE_HZ) // _HOP, 0)
    high = frames - int(_SPARE_S * EAR_RATE_HZ) // _HOP - _QUIET_FRAMES
    candidates = smooth[low:high].copy() if high > low else np.zeros(0)
    places: list[int] = []
    while len(places) < MAX_PLACES and len(candidates) and np.isfinite(candidates).any():
        quiet = int(np.argmin(candidates))
        within = power[low + quiet : low + quiet + _QUIET_FRAMES]
        pair = int(np.argmin(within[1:] + within[:-1])) + 1  # between the two quietest neighbours of its frames
        places.append((low + quiet + pair) * _HOP)
        candidates[max(0, quiet - _APART_FRAMES) : quiet + _APART_FRAMES] = np.inf
    return places


def between_words(places: list[int], whole: Hypothesis) -> list[int]:
    """Those of ``places`` that no word of ``whole`` lies across; all of them if there is none."""
    return [
        place for place in places if not any(word.start_sample < place < word.end_sample for word in whole.words)
    ] or places


def before(whole: Hypothesis, place: int) -> Hypothesis:
    """The part of ``whole`` that was mostly said before sample ``place``."""
    words = tuple(word for word in whole.words if word.start_sample + word.end_sample <= 2 * place)
    return replace(whole, words=words)


def is_whole(head: Hypothesis, whole: Hypothesis) -> bool:
    """Whether a decode up to the cut says what the whole window's decode begins with: no word was cut in two."""
    if not head.words or len(head.words) > len(whole.words):
        return False
    return all(sound_of(a.text) == sound_of(b.text) for a, b in zip(head.words, whole.words, strict=False))
