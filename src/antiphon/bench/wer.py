"""Word error rates of a read-back: what a recogniser heard against what was to be said.

The recogniser is passed in (16 kHz mono float32 -> text) and must be independent of the voice. Both texts go through
Whisper's English normaliser, so that "4719" and "four seven one nine" are one thing; words are aligned by jiwer.
Needs the extra ``bench``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import jiwer
import numpy as np
from numpy.typing import NDArray
from whisper_normalizer.english import EnglishTextNormalizer

from antiphon.core.frame import Samples

RECOGNISER_RATE_HZ = 16_000
RESAMPLES = 2_000
UPPER = 0.95

Recognise: TypeAlias = Callable[[Samples], str]


@dataclass(frozen=True, slots=True)
class WordErrors:
    """Substitutions, deletions and insertions of one sentence, and the words of its reference."""

    errors: int
    words: int


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """``rate``: errors / words over all sentences (0.01 is one per cent). ``upper``: one-sided 95 % bound from a
    bootstrap over sentences."""

    rate: float
    upper: float
    errors: int
    words: int
    sentences: int


@dataclass(frozen=True, slots=True)
class RateDifference:
    """Rate of one system minus that of another on the same sentences, with its one-sided upper 95 % bound."""

    difference: float
    upper: float


def normalise(text: str) -> str:
    """``text`` as words that can be compared; marks that the normaliser leaves standing alone are dropped."""
    words = str(_normaliser()(text)).split()
    return " ".join(word for word in words if any(letter.isalnum() for letter in word))


def word_errors(reference: str, hypothesis: str) -> WordErrors:
    """Raises ``ValueError`` when nothing of the reference is left by the normaliser."""
    wanted = normalise(reference)
    if not wanted:
        raise ValueError(f"no words in the reference {reference!r}")
    words = len(wanted.split())
    heard = normalise(hypothesis)
    if not heard:
        return WordErrors(words, words)
    aligned = jiwer.process_words(wanted, heard)
    return WordErrors(aligned.substitutions + aligned.deletions + aligned.insertions, words)


def error_rate(sentences: Sequence[WordErrors], seed: int = 0) -> ErrorRate:
    """The rate over ``sentences``. Raises ``ValueError`` for none."""
    errors, words = _columns(sentences)
    sums = _bootstrap(np.stack((errors, words), axis=1), seed)
    rates = sums[:, 0] / sums[:, 1]
    return ErrorRate(
        rate=float(errors.sum() / words.sum()),
        upper=float(np.quantile(rates, UPPER)),
        errors=int(errors.sum()),
        words=int(words.sum()),
        sentences=len(sentences),
    )


def rate_difference(ours: Sequence[WordErrors], theirs: Sequence[WordErrors], seed: int = 0) -> RateDifference:
    """Paired: both systems are resampled by the same sentences, so that a hard sentence counts against both."""
    if [item.words for item in ours] != [item.words for item in theirs]:
        raise ValueError("a paired difference needs the same sentences in the same order")
    errors, words = _columns(ours)
    other, _ = _columns(theirs)
    sums = _bootstrap(np.stack((errors - other, words), axis=1), seed)
    return RateDifference(
        difference=float((errors - other).sum() / words.sum()),
        upper=float(np.quantile(sums[:, 0] / sums[:, 1], UPPER)),
    )


def first_word_heard(text: str, samples: Samples, recognise: Recognise) -> bool:
    """Whether the recogniser finds the first word within the first second of audio (16 kHz).

    This keeps *first audible* honest: breath, click or noise before the first word is not speech. The second is
    followed by silence, since recognisers expect an end; words cut off by it do not matter, nor does the recogniser
    joining or splitting the first word ("can not").
    """
    wanted = normalise(text).split()
    if not wanted:
        raise ValueError(f"no words in {text!r}")
    second = np.asarray(samples[:RECOGNISER_RATE_HZ], np.float32)
    heard = normalise(recognise(np.concatenate((second, np.zeros(RECOGNISER_RATE_HZ // 2, np.float32)))))
    return heard.replace(" ", "").startswith(wanted[0]) or wanted[0] in heard.split()[:2]


@cache
def _normaliser() -> EnglishTextNormalizer:
    return EnglishTextNormalizer()


def _columns(sentences: Sequence[WordErrors]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not sentences:
        raise ValueError("an error rate needs at least one sentence")
    return (
        np.asarray([item.errors for item in sentences], np.float64),
        np.asarray([item.words for item in sentences], np.float64),
    )


def _bootstrap(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Column sums of resampled ``rows`` [sentences, columns]: ``[resamples, columns]``."""
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(rows), (RESAMPLES, len(rows)))
    sums: NDArray[np.float64] = rows[picks].sum(axis=1)
    return sums
