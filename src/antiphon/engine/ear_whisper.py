"""Whisper as a :class:`~antiphon.engine.ear.Recogniser`: many languages, one dear call for each window."""

from collections.abc import Iterator, Sequence

import numpy as np

from antiphon.core.frame import Samples
from antiphon.engine.ear import Ask, EarWord, Hypothesis, Windowed
from antiphon.models.whisper import SAMPLE_RATE_HZ, Whisper
from antiphon.text.languages import base_language

LOOP_COMPRESSION = 2.4
"""Text that compresses better than this repeats itself (Whisper's own limit)."""


class WhisperEar(Windowed):
    """Finals at the end of a window; interims only while the machine is idle."""

    interims = False
    quantum_bound_s = 4.0
    """One call of the base model takes a second and more and cannot be cut: a stated maximum, not 50 ms."""
    max_window_s = 28.0

    def __init__(self, model: Whisper, name: str = "whisper-base") -> None:
        self.name = name
        self._model = model
        self.languages: tuple[str, ...] = model.languages

    def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
        language = base_language(ask.language) if ask.language else ""
        heard = self._model.transcribe(samples, language, ask.expect or "")
        words = tuple(
            EarWord(
                word.text,
                round(word.start_s * SAMPLE_RATE_HZ),
                round(word.end_s * SAMPLE_RATE_HZ),
                min(1.0, max(0.0, word.probability)),
            )
            for word in heard.words
        )
        yield Hypothesis(
            words,
            avg_logprob=heard.avg_logprob,
            looped=heard.compression > LOOP_COMPRESSION,
            silence=heard.no_speech,
            language=heard.language,
        )

    def expect(self, keyterms: Sequence[str]) -> str | None:
        return ", ".join(keyterms) or None

    def warm_up(self) -> None:
        self._model.transcribe(np.zeros(SAMPLE_RATE_HZ, np.float32), "en")
