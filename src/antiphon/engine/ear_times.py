"""Where words lie in a window when the recogniser does not say: by what of the window is sound, and how long words are.

Method: 10 ms frames that stand out of the window's floor count as sounding; the words share the sounding time in
proportion to their letters (a digit counts as a spoken word). A boundary moves to the nearest longer silence where one
is close by, since that is where words end.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from antiphon.core.frame import Samples

_HOP = 160
_RANGE_DB = 35.0
_FLOOR_DB = 8.0
_GAP_FRAMES = 8
_SNAP_FRAMES = 25
_DIGIT_WEIGHT = 4.0


def place_words(words: Sequence[str], samples: Samples) -> list[tuple[int, int]]:
    """``[start, end)`` in samples for each of ``words``, in order, none overlapping."""
    if not words:
        return []
    sounding = sounding_frames(samples)
    where = np.flatnonzero(sounding)
    if len(where) < len(words):
        where = np.arange(max(len(words), len(sounding)))
    weights = np.array([weight_of(word) for word in words])
    bounds = np.concatenate(([0.0], np.cumsum(weights) / weights.sum())) * len(where)
    gaps = _gaps(sounding)
    spans = []
    for first, last in pairwise(bounds):
        start = int(where[min(round(first), len(where) - 1)])
        end = int(where[max(0, min(round(last), len(where)) - 1)]) + 1
        spans.append([start, max(end, start + 1)])
    for left, right in pairwise(spans):
        near = [gap for gap in gaps if abs((gap[0] + gap[1]) / 2 - right[0]) < _SNAP_FRAMES + (gap[1] - gap[0]) / 2]
        if near:
            gap = min(near, key=lambda gap: abs((gap[0] + gap[1]) / 2 - right[0]))
            if left[0] < gap[0] and gap[1] < right[1]:
                left[1], right[0] = gap
        left[1] = max(left[0] + 1, min(left[1], right[0]))
    return [(start * _HOP, min(end * _HOP, max(len(samples), (start + 1) * _HOP))) for start, end in spans]


def begin_with_sound(edges: Sequence[tuple[int, int]], samples: Samples) -> list[tuple[int, int]]:
    """Words that were placed end to end: a pause before a word is none of it. ``edges`` in samples, in order."""
    sounding = sounding_frames(samples)
    places = []
    for start, end in edges:
        start, end = max(0, min(start, len(samples) - 1)), max(1, min(end, len(samples)))
        heard = np.flatnonzero(sounding[start // _HOP : end // _HOP])
        begin = start + int(heard[0]) * _HOP if len(heard) else start
        places.append((begin, max(end, begin + 1)))
    return places


def end_with_sound(edges: Sequence[tuple[int, int]], samples: Samples) -> list[tuple[int, int]]:
    """Words whose ends are only bounds: a pause behind a word is none of it. ``edges`` in samples, in order."""
    sounding = sounding_frames(samples)
    places = []
    for start, end in edges:
        heard = np.flatnonzero(sounding[start // _HOP : -(-end // _HOP)])
        if len(heard):
            end = max(start + 1, min(end, (start // _HOP + int(heard[-1]) + 1) * _HOP))
        places.append((start, end))
    return places


def weight_of(word: str) -> float:
    """About how long a word is to say, in letters."""
    letters = sum(_DIGIT_WEIGHT if char.isdigit() else 1.0 for char in word if char.isalnum())
    return 1.5 + letters


def sounding_frames(samples: Samples) -> NDArray[np.bool_]:
    """Which 10 ms frames [n] stand out: within 35 dB of the loudest and 8 dB above the quietest tenth."""
    frames = len(samples) // _HOP
    if not frames:
        return np.zeros(0, np.bool_)
    power = np.square(samples[: frames * _HOP], dtype=np.float64).reshape(frames, _HOP).mean(axis=1)
    level = 10 * np.log10(power + 1e-12)
    least = max(level.max() - _RANGE_DB, min(np.percentile(level, 10) + _FLOOR_DB, level.max() - 12.0))
    sounding: NDArray[np.bool_] = level >= least
    return sounding


def _gaps(sounding: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Silences of at least 80 ms inside the sound, as ``(start, end)`` frames."""
    edges = np.flatnonzero(np.diff(np.concatenate(([1], sounding.astype(np.int8), [1]))))
    runs = list(zip(edges[::2], edges[1::2], strict=False))
    inner = [(int(start), int(end)) for start, end in runs if start > 0 and end < len(sounding)]
    return [(start, end) for start, end in inner if end - start >= _GAP_FRAMES]
