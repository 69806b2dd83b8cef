"""Scripted engines and virtual time: they ship with the product, so that anyone can test an integration in
milliseconds, and our own tests can own time.

The fake voice speaks one sine tone per character; its cost, failures and pace are scripted. The fake ear hears what it
was told to hear, a word for each half second of audio, whatever the audio is.
"""

import heapq
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from antiphon.audio.pcm import bytes_per_sample
from antiphon.core.clock import ManualClock
from antiphon.core.engine import Wake
from antiphon.core.errors import EngineFailed
from antiphon.core.event import Event, Flushed, Marker, Timed
from antiphon.core.frame import Samples
from antiphon.core.hearing import (
    EAR_RATE_HZ,
    Heard,
    HeardWord,
    HearingConfig,
    Listened,
    SpeechStarted,
    SpeechStopped,
    TurnScored,
)
from antiphon.core.speech import Rendered, VoiceInfo
from antiphon.engine.scheduler import Scheduler
from antiphon.text.unit import Unit

FAKE_VOICE = VoiceInfo(
    id="00000000-0000-4000-8000-000000000001",
    name="Fake",
    engine="fake",
    language="en",
    locales=("en-US",),
    gender="gender_neutral",
    description="A scripted voice: one tone per character.",
    quality="test",
    licence="Apache-2.0",
    source="built in",
)


@dataclass(frozen=True, slots=True)
class FakeScript:
    """How the fake voice behaves.

    ``cost_s`` per quantum is spent on ``clock`` (a :class:`ManualClock`) if one is given; text containing ``fail_on``
    raises in the middle of its unit.
    """

    char_s: float = 0.05
    quantum_s: float = 0.5
    cost_s: float = 0.0
    fail_on: str = "!fail!"


class FakeVoice:
    name = "fake"
    sample_rate_hz = 24_000
    quantum_bound_s = 0.05
    voices = (FAKE_VOICE,)
    remembers = True
    """Whether it keeps what it was given to speak, for a test to see: not where it serves for long."""

    def __init__(self, script: FakeScript | None = None, clock: ManualClock | None = None) -> None:
        self.script = script or FakeScript()
        self._clock = clock
        self.spoken: list[str] = []
        self.units: list[Unit] = []

    def speak(self, voice: str, unit: Unit, at_sample: int, seed: int, after: str | None) -> Iterator[Rendered]:
        if self.remembers:
            self.spoken.append(unit.text)
            self.units.append(unit)
        audio = np.concatenate([self._tones(unit.text), np.zeros(self._samples(unit.pause_s), np.float32)])
        words = self._words(unit.text, at_sample)
        step = self._samples(self.script.quantum_s)
        for start in range(0, len(audio), step):
            if self._clock is not None:
                self._clock.advance(self.script.cost_s)
            if self.script.fail_on in unit.text and start > 0:
                raise EngineFailed("the fake voice was told to fail")
            yield Rendered(audio[start : start + step], words, words)
            words = ()

    def estimate_s(self, unit: Unit) -> float:
        return self.script.cost_s * (1 + len(unit.text) * self.script.char_s / self.script.quantum_s)

    def warm_up(self) -> None:
        pass

    def _samples(self, seconds: float) -> int:
        return round(seconds * self.sample_rate_hz)

    def _tones(self, text: str) -> Samples:
        t = np.arange(self._samples(self.script.char_s)) / self.sample_rate_hz
        tones = [0.3 * np.sin(2 * np.pi * (200 + ord(char) % 97 * 10) * t) for char in text]
        return np.concatenate(tones).astype(np.float32) if tones else np.zeros(0, np.float32)

    def _words(self, text: str, at_sample: int) -> tuple[Timed, ...]:
        per_char, words, start = self._samples(self.script.char_s), [], 0
        for word in text.split():
            start = text.index(word, start)
            words.append(Timed(word, at_sample + start * per_char, at_sample + (start + len(word)) * per_char))
            start += len(word)
        return tuple(words)


class FakeEar:
    """An engine that listens. Each utterance of ``script`` takes half a second a word and is followed by a second of
    silence; at its end the turn is scored as surely over. After the last utterance there is only silence.
    """

    name = "fake-ear"
    WORD_SAMPLES = EAR_RATE_HZ // 2
    PAUSE_SAMPLES = EAR_RATE_HZ

    def __init__(self, *script: str) -> None:
        self.script = script
        self.streams: list[FakeEarStream] = []

    def open_stream(self, config: HearingConfig, wake: Wake) -> "FakeEarStream":
        self.streams.append(FakeEarStream(self.script, config, wake))
        return self.streams[-1]

    def warm_up(self) -> None:
        pass

    def close(self) -> None:
        pass


class FakeEarStream:
    """Says at once what there is to say about the audio so far. ``backlog_s`` may be set, to seem busy."""

    def __init__(self, script: Sequence[str], config: HearingConfig, wake: Wake) -> None:
        self.config = config
        self.pushed_bytes = 0
        self.closed = False
        self.backlog_s = 0.0
        self.compute_s = 0.0
        self._wake = wake
        self._box: deque[Event] = deque()
        self._plan = deque(_beats(script))
        self._segment: list[HeardWord] = []
        self._listened = 0
        self._bytes_per_s = bytes_per_sample(config.encoding) * config.sample_rate_hz

    def push(self, item: bytes) -> None:
        self.pushed_bytes += len(item)
        self._hear(self.pushed_bytes * EAR_RATE_HZ // self._bytes_per_s)

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        self.say(*self._final(), Flushed(marker))

    def pull(self, limit: int | None = None) -> list[Event]:
        return [self._box.popleft() for _ in range(len(self._box) if limit is None else min(limit, len(self._box)))]

    def tick(self, now_s: float) -> float | None:
        return None

    def cancel(self) -> None:
        self._box.clear()
        self._segment.clear()

    def close(self) -> None:
        self.closed = True
        self._box.clear()

    def _hear(self, to_sample: int) -> None:
        while self._plan and self._plan[0][0] <= to_sample:
            at, beat = self._plan.popleft()
            if isinstance(beat, HeardWord):
                stable = len(self._text())
                self._segment.append(beat)
                if self.config.interim:
                    self.say(self._heard(stable, final=False))
            elif isinstance(beat, TurnScored):
                if self.config.turns:
                    self.say(*self._final(), beat)
            else:
                self.say(beat)
            self._listened = at
        step = EAR_RATE_HZ // 10
        if to_sample - self._listened >= step:
            self._listened = to_sample // step * step
            self.say(Listened(self._listened, bool(self._segment)))

    def _text(self) -> str:
        return "".join(word.text for word in self._segment)

    def _heard(self, stable_chars: int, *, final: bool) -> Heard:
        start, end = self._segment[0].start_sample, self._segment[-1].end_sample
        return Heard(self._text(), stable_chars, final, tuple(self._segment), start, end)

    def _final(self) -> list[Event]:
        if not self._segment:
            return []
        heard = self._heard(len(self._text()), final=True)
        self._segment = []
        return [heard]

    def say(self, *events: Event) -> None:
        """What else it is to hear."""
        was_empty = not self._box
        self._box.extend(events)
        if was_empty and events and not self.closed:
            self._wake()


def _beats(script: Sequence[str]) -> Iterator[tuple[int, Event | HeardWord]]:
    """What a fake ear hears, and the sample at which it is known."""
    at = 0
    for number, utterance in enumerate(script):
        yield at, SpeechStarted(at)
        for place, word in enumerate(utterance.split()):
            start, at = at, at + FakeEar.WORD_SAMPLES
            yield at, HeardWord(f" {word}" if number or place else word, start, at)
        known = at + FakeEar.PAUSE_SAMPLES // 4
        yield known, SpeechStopped(at)
        yield known, TurnScored(known, 0.05, known - at, utterance)
        at += FakeEar.PAUSE_SAMPLES


class LeakyIntegrator:
    """A scripted :class:`~antiphon.core.engine.StepModel`: ``y = s' = decay * s + x``, elementwise.

    Its outputs depend on the whole past of a slot, so a stale or shared state shows at once.
    """

    def __init__(self, width: int = 4, decay: float = 0.9) -> None:
        self.width = width
        self.decay = np.float32(decay)
        self.steps = 0

    def init_state(self, slots: int) -> Samples:
        return np.zeros((slots, self.width), np.float32)

    def step(self, inputs: Any, state: Any, mask: Any) -> tuple[Samples, Samples]:
        self.steps += 1
        stepped = self.decay * state + inputs
        return stepped, np.where(mask[:, None], stepped, state).astype(np.float32)

    def save(self, state: Any, slot: int) -> bytes:
        return json.dumps([float(x) for x in state[slot]]).encode()

    def load(self, state: Any, slot: int, snapshot: bytes) -> Samples:
        state = state.copy()
        state[slot] = np.asarray(json.loads(snapshot), np.float32)
        return np.asarray(state, np.float32)


class VirtualLoop:
    """Virtual time: a manual clock, a scheduler without threads, and calls planned at given moments.

    One worker is simulated: a task that costs time (it advances the clock) delays what was planned meanwhile.
    """

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scheduler = Scheduler(self.clock, workers=0)
        self._planned: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def at(self, when_s: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._planned, (when_s, next(self._order), call))

    def run(self, until_s: float = float("inf")) -> None:
        """Run planned calls and tasks until nothing is left, or time is up."""
        while self.clock.now_s() <= until_s:
            if self._planned and self._planned[0][0] <= self.clock.now_s():
                heapq.heappop(self._planned)[2]()
            elif not self.scheduler.run_next():
                held_s = self.scheduler.next_ready_s()
                times = [self._planned[0][0]] if self._planned else []
                times += [] if held_s is None else [held_s]
                if not times or min(times) > until_s:
                    return
                self.clock.advance_to(min(times))
