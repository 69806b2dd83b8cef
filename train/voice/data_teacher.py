"""The teacher: hibari through the product's own driver, with its durations, F0 and sound made exact.

Pitch and effort can be changed before hibari's decoder, which reads both: feature 128 is log1p(F0) / 5 and feature 129
the level (0.1 is about 1.6 dB, with the tilt of louder speech). So there is speech of every asked prosody, not only
samples that were stretched.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.hibari_dsp import Vocoder, silent_rows
from antiphon.models.hibari_frontend import PAUSES, SILENT, STRESSES, HibariFrontend
from antiphon.models.hibari_graph import HibariGraph, Plan
from antiphon.text.unit import Text
from train.voice.data import HOP, LEAD_FRAMES, TRAIL_FRAMES
from train.voice.features import level_db, log_mel, semitones

SILENCE_DB = -62.0
"""Frames below are silence: hibari's lie below -65 dBFS, its softest sounds above -56."""

MAX_SYMBOLS = 460
_EARLY = 4
"""Frames by which a symbol is heard before the time that its duration gives it."""
_LEAST_PAUSE = 4
_VOICED_HZ = 40.0
_F0_FEATURE, _LEVEL_FEATURE = 128, 129
_UNREAD = frozenset("\"()“”")
"""Symbols that change nothing that is heard; not for the student."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Prosody:
    """``speed`` 1 is the voice's own, 2 twice as fast; ``pitch`` in semitones; ``f0_range`` a factor on the distance of
    F0 from its mean; ``energy`` in the units of feature 129."""

    speed: float = 1.0
    pitch: float = 0.0
    f0_range: float = 1.0
    energy: float = 0.0


@dataclass(frozen=True, slots=True)
class Take:
    """One utterance as it goes into a shard (see ``data.py``)."""

    ids: NDArray[np.int16]
    durations: NDArray[np.int16]
    mel: NDArray[np.float16]
    f0: NDArray[np.float32]
    wav: NDArray[np.int16]
    prosody: Prosody
    stats: NDArray[np.float32]


class Unspeakable(ValueError):
    """The teacher gives nothing that could be learnt of this text."""


class Teacher:
    """Deterministic: text, prosody and seed give the same samples on the same machine."""

    def __init__(self, graph: Path) -> None:
        self._ids = vocabulary()
        self._graph = HibariGraph(graph)
        self._frontend = HibariFrontend(self._ids)

    def symbols(self, text: str) -> str:
        """The line of symbols that is read. Raises ``Unspeakable`` if there is none or it is too long."""
        read = self._frontend.script((Text(text),)).symbols
        line = " ".join("".join(symbol for symbol in read if symbol not in _UNREAD).split())
        if not any(symbol not in SILENT for symbol in line) or len(line) > MAX_SYMBOLS:
            raise Unspeakable(f"{len(line)} symbols: {text[:60]!r}")
        return line

    def say(self, text: str, prosody: Prosody, seed: int) -> Take:
        """Raises ``Unspeakable``."""
        line = self.symbols(text)
        ids = [0, *(self._ids[symbol] for symbol in line), 0]
        plan = _faster(_coloured(self._graph.plan(ids, min(prosody.speed, 1.0)), prosody), prosody.speed)
        rows = self._graph.decode(plan, 0, plan.frames)
        samples = Vocoder(plan.f0, 0, 0, seed).push(np.concatenate((silent_rows(1), rows, silent_rows(2))))
        level = level_db(samples)
        bounds = boundaries(line, plan.durations, level, 2 if prosody.speed <= 1 else 1)
        start, stop = int(bounds[0]), int(bounds[-1])
        short = max(0, stop - plan.frames)
        wav = np.pad(samples[start * HOP : stop * HOP], (0, short * HOP))
        f0 = np.pad(plan.f0[start:stop], (0, short))
        f0 = np.where(f0 > _VOICED_HZ, f0, 0).astype(np.float32)
        return Take(
            ids=np.asarray(ids, np.int16),
            durations=np.diff(bounds).astype(np.int16),
            mel=log_mel(wav).astype(np.float16),
            f0=f0,
            wav=np.rint(np.clip(wav, -1, 1) * 32767).astype(np.int16),
            prosody=prosody,
            stats=_stats(line, bounds, f0, level[start:stop]),
        )


def boundaries(line: str, durations: Ints, level: NDArray[np.float32], unit: int) -> Ints:
    """First frame of each of the tokens ``[pad, *line, pad]`` as heard, and the end of the last: ``[len(line) + 3]``.

    ``durations`` [len(line) + 2] are the teacher's own; ``level`` [frames] in dB; ``unit``: every duration is at least
    that long, and a multiple of it. Raises ``Unspeakable`` where times and sound contradict each other.
    """
    tokens = f"\0{line}\0"
    at = np.concatenate(([0], np.cumsum(durations))) - _EARLY
    sounding = [i for i, symbol in enumerate(tokens) if symbol not in SILENT and symbol != "\0"]
    audible = np.flatnonzero(level > SILENCE_DB)
    if not audible.size:
        raise Unspeakable("no sound")
    onset = int(audible[0]) // unit * unit
    if onset < LEAD_FRAMES:
        raise Unspeakable("no silence before the first sound")
    at[0], at[1] = onset - LEAD_FRAMES, onset
    for left, right in pairwise(sounding):
        if any(tokens[i] in PAUSES for i in range(left + 1, right)):
            _give_silence(tokens, at, level, left, right, unit)
    end = -(-(int(audible[-1]) + 1) // unit) * unit
    last = sounding[-1]
    after = list(range(last + 1, len(tokens)))
    trail = max(TRAIL_FRAMES, 2 * len(after))
    trail += (end + trail - int(at[0])) % 2
    _share(tokens, at, after, end, end + trail)
    at[-1] = end + trail
    for i in range(1, len(at)):
        at[i] = max(at[i], at[i - 1] + unit)
    at[-1] = end + trail
    for i in range(len(at) - 2, -1, -1):
        at[i] = min(at[i], at[i + 1] - unit)
    if at[0] != onset - LEAD_FRAMES or at[1] != onset or np.any(np.diff(at) < unit):
        raise Unspeakable("times and sound contradict each other")
    return at


def _give_silence(tokens: str, at: Ints, level: NDArray[np.float32], left: int, right: int, unit: int) -> None:
    """Move the bounds of the pause between two sounds to where it is silent, if it is."""
    first = right
    while tokens[first - 1] in STRESSES:
        first -= 1
    begin, end = _longest_silence(level, int(at[left]) + unit, int(at[right + 1]) - unit)
    begin, end = -(-begin // unit) * unit, end // unit * unit
    between = list(range(left + 1, first))
    if end - begin >= max(_LEAST_PAUSE, unit * len(between)):
        _share(tokens, at, between, begin, end)
        at[first] = end


def _share(tokens: str, at: Ints, silent: list[int], begin: int, end: int) -> None:
    """Give frames [begin, end) to the ``silent`` tokens: two to each, the rest to the first mark (or the last)."""
    main = next((i for i in silent if tokens[i] in PAUSES), silent[-1])
    least = min(2, (end - begin) // len(silent))
    position = begin
    for i in silent:
        at[i] = position
        position += least if i != main else end - begin - least * (len(silent) - 1)


def _longest_silence(level: NDArray[np.float32], begin: int, end: int) -> tuple[int, int]:
    quiet = np.concatenate(([False], level[max(0, begin) : max(0, end)] <= SILENCE_DB, [False]))
    edges = np.flatnonzero(np.diff(quiet.astype(np.int8)))
    if not edges.size:
        return begin, begin
    runs = edges.reshape(-1, 2) + max(0, begin)
    best = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    return int(best[0]), int(best[1])


def _coloured(plan: Plan, prosody: Prosody) -> Plan:
    """The plan with another pitch, range and effort."""
    if (prosody.pitch, prosody.f0_range, prosody.energy) == (0.0, 1.0, 0.0):
        return plan
    voiced = plan.f0 > _VOICED_HZ
    f0 = plan.f0.copy()
    if voiced.any():
        pitch = np.log2(f0[voiced])
        f0[voiced] = np.exp2(pitch.mean() + (pitch - pitch.mean()) * prosody.f0_range + prosody.pitch / 12)
        # A range may not carry F0 where the voice was never heard.
        f0[voiced] = np.clip(f0[voiced], _VOICED_HZ + 5, 480)
    features = plan.features.copy()
    features[0, _F0_FEATURE] = np.log1p(np.maximum(f0, 0)) / 5
    features[0, _LEVEL_FEATURE] += prosody.energy
    return replace(plan, f0=f0, features=features)


def _faster(plan: Plan, ratio: float) -> Plan:
    """Speech faster than the graph's own: frames are left out after decoding, as the product does it."""
    if ratio <= 1:
        return plan
    ends = np.rint(np.cumsum(plan.durations) / ratio).astype(np.int64)
    picks = np.minimum((np.arange(ends[-1]) + 0.5) * ratio - 0.5, plan.frames - 1.0).clip(0)
    kept = np.rint(picks).astype(np.int64)
    return Plan(np.diff(ends, prepend=0), plan.features, plan.f0[kept], kept)


def _stats(line: str, bounds: Ints, f0: NDArray[np.float32], level: NDArray[np.float32]) -> NDArray[np.float32]:
    voiced = semitones(f0[f0 > 0])
    loud = level[level > SILENCE_DB]
    sounds = [i + 1 for i, symbol in enumerate(line) if symbol not in SILENT]
    frames = int(bounds[sounds[-1] + 1] - bounds[1])
    return np.asarray(
        (
            voiced.mean() if voiced.size else 0.0,
            voiced.std() if voiced.size else 0.0,
            10 * np.log10(np.mean(10 ** (loud / 10))),
            len(sounds) * 80 / frames,
        ),
        np.float32,
    )
