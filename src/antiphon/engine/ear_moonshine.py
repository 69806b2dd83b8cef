"""Moonshine as a :class:`~antiphon.engine.ear.Recogniser`: English, decoded in quanta, quickened by drafts.

Decoding again after more audio came costs the encoder and one decoder call, plus one call per *new* token: tokens that
the last hypothesis had, and that the model still chooses, are verified together.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from antiphon.core.frame import Samples
from antiphon.engine.ear import Ask, EarWord, Hypothesis
from antiphon.engine.ear_bias import KeytermBias
from antiphon.engine.ear_times import place_words
from antiphon.models.moonshine import SAMPLE_RATE_HZ, Decoding, Moonshine, loop_period, without_loop
from antiphon.models.moonshine_words import Tokenizer, word_spans

TAIL_SAMPLES = SAMPLE_RATE_HZ // 8
"""Silence that stands behind every window, so that a last word needs no later sound."""

_STEPS_PER_QUANTUM = 8


class MoonshineEar:
    name = "moonshine-tiny-en"
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
        settled = tuple(token for word in ask.settled for token in word.tokens)
        drafted = tuple(token for word in ask.draft.words for token in word.tokens)
        draft = drafted[len(settled) :] if drafted[: len(settled)] == settled else ()
        decoding = model.begin(encoded, settled, draft, bias)
        steps = 0
        while not decoding.ended and len(decoding.tokens) < encoded.max_tokens and not loop_period(decoding.tokens):
            steps += 1
            if steps % _STEPS_PER_QUANTUM == 0:
                yield None
            decoding = model.step(encoded, decoding, bias)
        yield self._hypothesis(decoding, samples)

    def expect(self, keyterms: Sequence[str]) -> KeytermBias | None:
        return KeytermBias(keyterms, self._tokenizer.tokens) if keyterms else None

    def warm_up(self) -> None:
        self._model.warm_up()

    def _hypothesis(self, decoding: Decoding, samples: Samples) -> Hypothesis:
        tokens = without_loop(decoding.tokens)
        texts, groups, confidences = [], [], []
        for start, end in word_spans(tokens, self._model.vocabulary):
            text = self._model.text(tokens[start:end])
            if text:
                texts.append(text)
                groups.append(tokens[start:end])
                confidences.append(float(np.exp(np.mean(decoding.logprobs[start:end]))))
        places = place_words(texts, samples)
        words = tuple(
            EarWord(text, start, end, confidence, group)
            for text, (start, end), confidence, group in zip(texts, places, confidences, groups, strict=True)
        )
        average = float(np.mean(decoding.logprobs)) if decoding.logprobs else 0.0
        return Hypothesis(words, average, len(tokens) < len(decoding.tokens), language="en")
