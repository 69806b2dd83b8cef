"""hibari: a small English voice that reads whole sentences or parts of them, far faster than speech.

Weights and grapheme-to-phoneme rules come from the ``hibari-tts`` package (Apache-2.0); the graph is driven here, in
windows, so that the first sound of a sentence is ready before the rest of it is decoded.
"""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from antiphon.core.errors import EngineFailed
from antiphon.core.frame import Samples
from antiphon.core.speech import SPEED_RANGE, Rendered, VoiceInfo
from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.hibari_dsp import HOP, SAMPLE_RATE_HZ, Vocoder, silent_rows
from antiphon.models.hibari_frontend import HibariFrontend
from antiphon.models.hibari_graph import HibariGraph, Plan
from antiphon.models.hibari_phrase import Phrase, lay_out, pause_frames
from antiphon.models.hibari_words import WordClock
from antiphon.models.session import Sessions
from antiphon.models.unit_reading import NOTHING, read_unit
from antiphon.text.unit import Text, Unit

HEART = VoiceInfo(
    id=str(uuid.uuid5(uuid.NAMESPACE_URL, "antiphon/voices/hibari/heart")),
    name="Heart",
    engine="hibari",
    language="en",
    locales=("en-US",),
    gender="feminine",
    description="Warm, clear American English; reads a sentence hundreds of times faster than it is spoken.",
    quality="neural",
    licence="Apache-2.0",
    source="hibari-tts (distilled from Kokoro-82M)",
)

GRAPH_SPEED_RANGE = (0.6, 1.0)
"""Speeds asked of the graph; beyond, its frames are resampled. Its own fast durations are multiples of 25 ms and lose
words: at 1.5 a recogniser misses 10 % of them, against 1 % this way, and 6 % at 2."""

_WINDOWS = (24, 160)
"""Frames decoded at a time: little first, so that sound starts early, then more, so that less is decoded twice."""

_LONG_CHARS = 100
"""From this length on, reading and planning a phrase are quanta of their own, without sound."""

_RAMP = 96
"""Samples (4 ms) over which a unit's edges rise and fall."""


class HibariVoice:
    """See :class:`antiphon.engine.voice.JobVoice`. ``unit.volume`` is left to the engine."""

    name = "hibari"
    sample_rate_hz = SAMPLE_RATE_HZ
    quantum_bound_s = 0.05
    voices = (HEART,)

    def __init__(self, graph: Path, sessions: Sessions | None = None) -> None:
        """``graph``: the verified file ``hibari.onnx``. Raises ``ModelUnavailable``."""
        self._ids = vocabulary()
        self._graph = HibariGraph(graph, sessions)
        self._frontend = HibariFrontend(self._ids)

    @property
    def frontend(self) -> HibariFrontend:
        """Its reading of text, for voices that know the same symbols."""
        return self._frontend

    def speak(self, voice: str, unit: Unit, at_sample: int, seed: int, after: str | None) -> Iterator[Rendered]:
        """The pause that ``after`` calls for, the unit's own sound, then its explicit break."""
        if voice not in {info.id for info in self.voices}:
            raise EngineFailed(f"hibari has no voice {voice!r}")
        speed = min(max(unit.speed, SPEED_RANGE[0]), SPEED_RANGE[1])
        phrase = partial(self._phrase, speed, seed)
        read = self._frontend.script
        yield from read_unit(unit, at_sample, after, SAMPLE_RATE_HZ, read, phrase, long_chars=_LONG_CHARS)

    def estimate_s(self, unit: Unit) -> float:
        """About 15 characters a second are spoken; a second costs 6 ms, a call 4 ms."""
        return 0.004 + 0.006 * len(unit.text) / 15.0 / max(unit.speed, SPEED_RANGE[0])

    def warm_up(self) -> None:
        """Real readings of several lengths, an unknown word among them."""
        for text in ("Hello.", "Zyqvorth and blarnix, spoken for the first time.", "One more sentence. " * 8):
            for _ in self.speak(HEART.id, Unit((Text(text),)), 0, 0, None):
                pass

    def _phrase(
        self, speed: float, seed: int, phrase: Phrase, at_sample: int, ending: str | None, words: WordClock
    ) -> Iterator[Rendered]:
        plan = self._plan(phrase.line, speed)
        if len(phrase.symbols) > _LONG_CHARS:
            yield NOTHING
        joined = bool(phrase.before) and ending in ("none", "clause")
        layout = lay_out(phrase, plan.durations, joined, 1 / speed)
        pause = 0 if joined or ending is None else round(pause_frames(ending, layout, speed) * HOP)
        begin = at_sample + pause

        def sample_of(frame: int) -> int:
            return begin + (frame - layout.start) * HOP

        words.place(phrase, layout, sample_of)
        end = sample_of(layout.stop)
        position = begin
        vocoder = Vocoder(plan.f0, layout.start, begin, seed)
        for start, stop in _windows(layout.start - 1, layout.stop + 2):
            samples = vocoder.push(_rows(self._graph, plan, start, stop))
            first, last = position == begin, position + len(samples) >= end
            samples = _edged(samples, first, last, end - position)
            position += len(samples)
            times = words.take(end + 1 if last else position)
            if first:
                samples = np.concatenate((np.zeros(pause, np.float32), samples))
            yield Rendered(samples, times.words, times.normalized, times.phonemes)

    def _plan(self, line: str, speed: float) -> Plan:
        graph_speed = min(max(speed, GRAPH_SPEED_RANGE[0]), GRAPH_SPEED_RANGE[1])
        plan = self._graph.plan([0, *(self._ids[symbol] for symbol in line), 0], graph_speed)
        return plan if graph_speed == speed else _resampled(plan, speed / graph_speed)


def _windows(start: int, stop: int) -> Iterator[tuple[int, int]]:
    index = 0
    while start < stop:
        size = _WINDOWS[min(index, len(_WINDOWS) - 1)]
        # A rest too small to be worth its surroundings goes with the window before it.
        end = stop if stop - start < size + _WINDOWS[0] else start + size
        yield start, end
        start, index = end, index + 1


def _rows(graph: HibariGraph, plan: Plan, start: int, stop: int) -> Samples:
    """Spectral rows of frames [start, stop), silent outside the plan."""
    frames = plan.frames
    rows = graph.decode(plan, max(0, start), min(frames, stop))
    if start >= 0 and stop <= frames:
        return rows
    return np.concatenate((silent_rows(max(0, -start)), rows, silent_rows(max(0, stop - frames))))


def _edged(samples: Samples, first: bool, last: bool, left: int) -> Samples:
    samples = samples[:left]
    if first:
        ramp = min(_RAMP, len(samples))
        samples[:ramp] *= _RISE[:ramp]
    if last:
        ramp = min(_RAMP, len(samples))
        samples[len(samples) - ramp :] *= _RISE[:ramp][::-1]
    return samples


_RISE = np.sin(np.linspace(0, np.pi / 2, _RAMP, endpoint=False), dtype=np.float32) ** 2


def _resampled(plan: Plan, ratio: float) -> Plan:
    """The same plan ``ratio`` times as fast, pitch as it was. Slower: the features are interpolated; faster: frames
    are left out after they are decoded, since the decoder slurs sounds shorter than it has learnt."""
    ends = np.rint(np.cumsum(plan.durations) / ratio).astype(np.int64)
    frames = max(1, int(ends[-1]))
    places = np.minimum((np.arange(frames) + 0.5) * ratio - 0.5, plan.frames - 1.0).clip(0)
    if ratio > 1:
        picks = np.rint(places).astype(np.int64)
        return Plan(np.diff(ends, prepend=0), plan.features, plan.f0[picks], picks)
    low = places.astype(np.int64)
    high = np.minimum(low + 1, plan.frames - 1)
    share = (places - low).astype(np.float32)
    features = plan.features[:, :, low] * (1 - share) + plan.features[:, :, high] * share
    both = (plan.f0[low] > 40) & (plan.f0[high] > 40)
    near = np.where(share < 0.5, plan.f0[low], plan.f0[high])
    f0 = np.where(both, plan.f0[low] * (1 - share) + plan.f0[high] * share, near)
    return Plan(np.diff(ends, prepend=0), features, f0.astype(np.float32))
