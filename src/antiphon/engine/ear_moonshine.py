"""Moonshine as a :class:`~antiphon.engine.ear.Recogniser`: English, decoded in quanta, quickened by drafts.

Decoding again after more audio came costs the encoder and one decoder call, plus one call per *new* token: tokens that
the last hypothesis had, and that the model still chooses, are verified together.

Word times come from the decoder's cross-attention where a pause or a flush asks for them; interims place words by their
length. Measured against the exact times of the embedded voice (107 words of sentences that no head was chosen by):
starts 32 ms off at the median, 64 ms at the 90th percentile, ends 28 and 86 ms; by length 48 and 144, 98 and 188 ms.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from antiphon.core.frame import Samples
from antiphon.engine.ear import Ask, Closing, EarWord, Hypothesis, Windowed
from antiphon.engine.ear_bias import KeytermBias
from antiphon.engine.ear_times import begin_with_sound, place_words
from antiphon.models.moonshine import (
    MIN_SAMPLES,
    SAMPLE_RATE_HZ,
    Decoding,
    Moonshine,
)
from antiphon.models.moonshine_attention import FRAME_SAMPLES, token_frames
from antiphon.models.moonshine_loops import loop_period, without_loop
from antiphon.models.moonshine_words import Tokenizer, word_spans
from antiphon.models.session import Sessions

TAIL_SAMPLES = SAMPLE_RATE_HZ // 8
"""Silence that stands behind every window, so that a last word needs no later sound."""

_STEPS_PER_QUANTUM = 8


_NAME = "moonshine-tiny-en"


def load_moonshine(
    model_file: Callable[[str, str], Path], sessions: Sessions | None = None
) -> "MoonshineEar":
    """The ear from the store's files; ``model_file(model, file)`` as in ``ModelStore.path``. ``ModelUnavailable``."""
    files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    encoder, decoder, tokenizer = (model_file(_NAME, file) for file in files)
    return MoonshineEar(Moonshine(encoder, decoder, tokenizer, sessions))


class MoonshineEar(Windowed):
    name = _NAME
    languages: tuple[str, ...] = ("en",)
    interims = True
    quantum_bound_s = 0.105
    """The encoder is one call that cannot be cut: 8.5 ms for each second of a window, 40 ms for a usual one."""
    max_window_s = 12.0

    def __init__(self, model: Moonshine) -> None:
        self._model = model
        self._tokenizer = Tokenizer(model.vocabulary)

    def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
        model, bias = self._model, ask.expect
        encoded = model.encode(np.concatenate((samples, np.zeros(TAIL_SAMPLES, np.float32))))
        yield None
        draft = tuple(token for word in ask.draft.words for token in word.tokens)
        decoding = model.begin(encoded, draft=draft, bias=bias)
        steps = 0
        while not decoding.ended and len(decoding.tokens) < encoded.max_tokens and not loop_period(decoding.tokens):
            steps += 1
            if steps % _STEPS_PER_QUANTUM == 0:
                yield None
            decoding = model.step(encoded, decoding, bias)
        tokens = without_loop(decoding.tokens)
        spans = word_spans(tokens, model.vocabulary)
        places = None
        if decoding.attention and spans and not ask.interim:
            places = _places(decoding, len(tokens), spans, samples)
        closing = None
        if spans and decoding.ended and not ask.interim:  # else the last token's own place was never looked at
            mark, comma, word = model.after(decoding)
            closing = Closing(mark - comma, mark - word)
        yield self._hypothesis(decoding, tokens, spans, samples, places, closing)

    def expect(self, keyterms: Sequence[str]) -> KeytermBias | None:
        return KeytermBias(keyterms, self._tokenizer.tokens) if keyterms else None

    def warm_up(self) -> None:
        """The longest window that can come, so that memory does not grow in steps when one does."""
        self._model.warm_up()
        noise = np.random.default_rng(0).normal(0.0, 0.01, round(self.max_window_s * SAMPLE_RATE_HZ))
        for _ in self.decode(noise.astype(np.float32), Ask()):
            pass

    def _hypothesis(
        self,
        decoding: Decoding,
        tokens: tuple[int, ...],
        spans: list[tuple[int, int]],
        samples: Samples,
        places: list[tuple[int, int]] | None,
        closing: Closing | None,
    ) -> Hypothesis:
        texts = [self._model.text(tokens[start:end]) for start, end in spans]
        if places is None:
            places = place_words(texts, samples)
        words = tuple(
            EarWord(text, *place, float(np.exp(np.mean(decoding.logprobs[start:end]))), tokens[start:end])
            for text, place, (start, end) in zip(texts, places, spans, strict=True)
            if text
        )
        average = float(np.mean(decoding.logprobs)) if decoding.logprobs else 0.0
        return Hypothesis(words, average, len(tokens) < len(decoding.tokens), language="en", closing=closing)


def _places(decoding: Decoding, tokens: int, spans: list[tuple[int, int]], samples: Samples) -> list[tuple[int, int]]:
    """``[start, end)`` of each word in samples, by where the decoder looked when it chose its first ``tokens``."""
    attention = np.stack(decoding.attention[: tokens + 1])  # and the end, which takes what comes after the last word
    if attention.shape[0] > attention.shape[1]:
        return place_words(["word"] * len(spans), samples)
    frames = token_frames(attention)
    shift = max(0, MIN_SAMPLES - len(samples) - TAIL_SAMPLES) // 3  # what the encoder puts in front of short audio
    edges = [
        (frames[start][0] * FRAME_SAMPLES - shift, frames[end - 1][1] * FRAME_SAMPLES - shift) for start, end in spans
    ]
    return begin_with_sound(edges, samples)
