"""A scripted ear: audio that spells its words in sample values, a detector and a recogniser that read them exactly.

They ship with the product, so that anyone can test an integration in milliseconds.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antiphon.core.clock import ManualClock
from antiphon.core.errors import EngineFailed
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.engine.ear import Ask, EarWord, Hypothesis, Windowed
from antiphon.engine.scorer import TurnPause

WORD_SAMPLES = 4_800
GAP_SAMPLES = 320
_LEVEL, _STEP = 0.2, 0.001


def spell(numbers: Sequence[int]) -> Samples:
    """Audio of the words ``w0`` ... ``w500``: 300 ms of a square wave each, whose level is the word, then 20 ms of
    nothing. Send it as pcm_f32le."""
    wave = np.where(np.arange(WORD_SAMPLES) // 4 % 2, -1, 1).astype(np.float32)
    pieces = []
    for number in numbers:
        pieces.append(wave * np.float32(_LEVEL + _STEP * number))
        pieces.append(np.zeros(GAP_SAMPLES, np.float32))
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def hush(seconds: float) -> Samples:
    return np.zeros(round(seconds * EAR_RATE_HZ), np.float32)


class FakeVad:
    """A step model: speech where a frame is not silent. Its state counts frames, so a shared state shows."""

    def init_state(self, slots: int) -> Samples:
        return np.zeros((slots, 1), np.float32)

    def step(self, inputs: Samples, state: Samples, mask: NDArray[np.bool_]) -> tuple[Samples, Samples]:
        loud = np.abs(inputs).max(axis=1) > _LEVEL / 2
        return np.where(mask & loud, 0.99, 0.01).astype(np.float32), state + mask[:, np.newaxis].astype(np.float32)

    def save(self, state: Samples, slot: int) -> bytes:
        return bytes(state[slot].tobytes())

    def load(self, state: Samples, slot: int, snapshot: bytes) -> Samples:
        state = state.copy()
        state[slot] = np.frombuffer(snapshot, np.float32)
        return state


class FakeEar(Windowed):
    """Reads :func:`spell`. A word whose end is missing is heard as ``half``; the last word gets a full stop.

    Each decode spends ``cost_s`` for each second of audio on ``clock``, in quanta of ``quantum_s``; ``fail_on`` is a
    word number that makes it raise. ``windows`` lists the samples of every decode.
    """

    name = "fake"
    languages: tuple[str, ...] = ("en",)
    quantum_bound_s = 0.05

    def __init__(
        self,
        clock: ManualClock | None = None,
        cost_s: float = 0.0,
        *,
        quantum_s: float = 0.05,
        interims: bool = True,
        max_window_s: float = 10.0,
        logprob: float = -0.2,
        fail_on: int | None = None,
    ) -> None:
        self.interims = interims
        self.max_window_s = max_window_s
        self.windows: list[int] = []
        self.expected: list[tuple[str, ...]] = []
        self._clock = clock
        self._cost_s = cost_s
        self._quantum_s = quantum_s
        self._logprob = logprob
        self._fail_on = fail_on

    def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
        self.windows.append(len(samples))
        left_s = self._cost_s * len(samples) / EAR_RATE_HZ
        while left_s > 0 and self._clock is not None:
            self._clock.advance(min(left_s, self._quantum_s))
            left_s -= self._quantum_s
            yield None
        words = _read(samples)
        if self._fail_on is not None and any(word.text.startswith(f"w{self._fail_on}") for word in words):
            raise EngineFailed("the fake ear was told to fail")
        yield Hypothesis(words, self._logprob, language="en")

    def expect(self, keyterms: Sequence[str]) -> Any:
        self.expected.append(tuple(keyterms))
        return None

    def warm_up(self) -> None:
        pass


def _read(samples: Samples) -> tuple[EarWord, ...]:
    loud = np.abs(samples) > _LEVEL / 2
    edges = np.flatnonzero(np.diff(np.concatenate(([False], loud, [False])).astype(np.int8)))
    words = []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        whole = end - start > 0.9 * WORD_SAMPLES
        number = round((float(np.median(np.abs(samples[start:end]))) - _LEVEL) / _STEP)
        words.append(EarWord(f"w{number}" if whole else "half", start, end, 0.9))
    if words:
        last = words[-1]
        words[-1] = EarWord(last.text + ".", last.start_sample, last.end_sample, last.confidence)
    return tuple(words)


class FakeScorer:
    """Judges turns by a list of likelihoods, then by the last of them; ``asked`` holds what it was asked."""

    cost_s = 0.0

    def __init__(self, *likelihoods: float) -> None:
        self._likelihoods = list(likelihoods) or [0.9]
        self.asked: list[tuple[int, str, float]] = []

    def score(self, pause: TurnPause) -> float:
        self.asked.append((len(pause.audio), pause.text, pause.silence_s))
        return self._likelihoods[min(len(self.asked), len(self._likelihoods)) - 1]

    def warm_up(self) -> None:
        pass
