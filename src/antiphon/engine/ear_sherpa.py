"""A streaming transducer as a :class:`~antiphon.engine.ear.Recogniser`: each sample is heard once.

A window's reading is a stream of the model. Where all words are asked for (a pause, a flush), silence is fed behind
what is there, since the encoder looks ahead and the model tells words late. If the speaker goes on, that silence stays
in the stream: to the model the pause was longer; times are told without it.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from antiphon.core.errors import ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.engine.ear import Ask, EarWord, Hypothesis
from antiphon.engine.ear_times import end_with_sound, place_words
from antiphon.models.sherpa import (
    FRAME_SAMPLES,
    SAMPLE_RATE_HZ,
    STEP_FRAMES,
    Heard,
    Piece,
    Transducer,
    TransducerStream,
)

DELAY_SAMPLES = round(0.4 * SAMPLE_RATE_HZ)
"""Transducers may tell a word so much after it was said."""
_LAST_WORD_SAMPLES = round(0.3 * SAMPLE_RATE_HZ)
_FEED_SAMPLES = 1_600
_PUT_IN_SAMPLES = 4 * FRAME_SAMPLES


class SherpaEar:
    interims = True
    streaming = True
    quantum_bound_s = 0.15
    """One step of the encoder (usually 320 ms of audio) cannot be cut: 10 to 50 ms for 20 to 70 M parameters."""
    max_window_s = 30.0

    def __init__(self, model: Transducer, languages: Sequence[str], name: str) -> None:
        """``languages``: base codes; the weights do not say which they know."""
        if not languages:
            raise ModelUnavailable(f"{name}: its languages must be named (stt.sherpa.languages)")
        self.name = name
        self.languages: tuple[str, ...] = tuple(languages)
        self._model = model

    def read(self) -> "SherpaReading":
        return SherpaReading(self._model, self.languages[0])

    def expect(self, keyterms: Sequence[str]) -> tuple[str, ...] | None:
        return tuple(keyterms) if keyterms and self._model.takes_keyterms else None

    def warm_up(self) -> None:
        noise = np.random.default_rng(0).normal(0.0, 0.01, SAMPLE_RATE_HZ).astype(np.float32)
        for _ in self.read().decode(noise, Ask()):
            pass


@dataclass(frozen=True, slots=True)
class _Silence:
    """``samples`` were put in where the stream had been fed ``at``."""

    at: int
    samples: int


class SherpaReading:
    """See :class:`~antiphon.engine.ear.Reading`."""

    def __init__(self, model: Transducer, language: str) -> None:
        self._model = model
        self._language = language
        self._stream: TransducerStream | None = None
        self._heard = 0
        """Of the window."""
        self._silences: list[_Silence] = []
        self._complete_to = 0

    def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
        stream = self._stream
        if stream is None:  # not before something is expected of it
            stream = self._stream = self._model.open(ask.expect or ())
        for at in range(self._heard, len(samples), _FEED_SAMPLES):
            stream.feed(samples[at : at + _FEED_SAMPLES])
            self._heard = min(at + _FEED_SAMPLES, len(samples))
            while stream.step():
                yield None
        if not ask.interim:
            yield from self._complete(stream)
        yield self._hypothesis(stream.heard(), samples)

    def _complete(self, stream: TransducerStream) -> Iterator[None]:
        """Put silence behind what is there until all of it has been taken, and told."""
        if stream.fed == self._complete_to:
            return  # nothing came since
        at = stream.fed
        self._silences.append(_Silence(at, 0))
        while stream.taken < at + DELAY_SAMPLES:
            if stream.step():
                yield None
            else:
                stream.feed(np.zeros(_PUT_IN_SAMPLES, np.float32))
                self._silences[-1] = _Silence(at, stream.fed - at)
        self._complete_to = stream.fed

    def _hypothesis(self, heard: Heard, samples: Samples) -> Hypothesis:
        groups = words_of(heard.pieces)
        texts = ["".join(piece.text for piece in group).strip() for group in groups]
        if _squeezed("".join(texts)) != _squeezed(heard.text):  # tokens that are bytes of characters
            texts = heard.text.split()
            places = place_words(texts, samples)
            sure = [1.0] * len(texts)
        else:
            places = self._places(groups, samples)
            sure = [float(np.exp(np.mean([piece.logprob for piece in group]))) for group in groups]
        words = tuple(
            EarWord(self._spelt(text), *place, min(1.0, confidence))
            for text, place, confidence in zip(texts, places, sure, strict=True)
        )
        average = float(np.mean([piece.logprob for piece in heard.pieces])) if heard.pieces else 0.0
        return Hypothesis(words, average, language=self._language)

    def _places(self, groups: list[list[Piece]], samples: Samples) -> list[tuple[int, int]]:
        """``[start, end)`` in the window: from a word's first token to where the sound before the next word's ends."""
        if not groups or not len(samples):
            return [(0, 1)] * len(groups)
        starts = [self._in_window(group[0].at_sample) for group in groups]
        last = _LAST_WORD_SAMPLES + STEP_FRAMES * FRAME_SAMPLES
        ends = [self._in_window(group[-1].at_sample) + last for group in groups]
        edges, least = [], 0
        for number, start in enumerate(starts):
            following = starts[number + 1] if number + 1 < len(starts) else len(samples)
            start = min(max(start, least), len(samples) - 1)
            least = max(start + 1, min(ends[number], following, len(samples)))
            edges.append((start, least))
        return end_with_sound(edges, samples)

    def _in_window(self, at: int) -> int:
        """Where what was fed as sample ``at`` lies in the window, which has none of the silence put in."""
        put_in = sum(min(silence.samples, max(0, at - silence.at)) for silence in self._silences)
        return at - put_in

    def _spelt(self, word: str) -> str:
        if not self._model.upper_case:
            return word
        return word if self._language == "en" and (word == "I" or word.startswith("I'")) else word.lower()


def words_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Tokens of each word: one begins with a space, and at each character of a script that writes none."""
    words: list[list[Piece]] = []
    for piece in pieces:
        if not words or piece.text.startswith(" ") or _stands_alone(piece.text):
            words.append([])
        words[-1].append(piece)
    return [word for word in words if any(piece.text.strip() for piece in word)]


def _stands_alone(text: str) -> bool:
    return len(text) == 1 and unicodedata.category(text) == "Lo" and unicodedata.east_asian_width(text) == "W"


def _squeezed(text: str) -> str:
    return "".join(text.split())
