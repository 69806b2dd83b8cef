"""The read-back: systems speak the committed sentences, a recogniser writes down what it hears."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from antiphon.audio.pcm import decode
from antiphon.audio.resample import resample
from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.duel import line
from antiphon.bench.player import Player
from antiphon.bench.recording import Take
from antiphon.bench.systems import Progress, silent
from antiphon.bench.target.contract import Target
from antiphon.bench.wer import (
    RECOGNISER_RATE_HZ,
    ErrorRate,
    RateDifference,
    Recognise,
    WordErrors,
    error_rate,
    first_word_heard,
    rate_difference,
    word_errors,
)
from antiphon.core.frame import Samples

PADDING_S = 0.25
BLOCK = 25


@dataclass(frozen=True, slots=True)
class Reader:
    """A system that reads aloud; ``token_gap_s``: it gets its text token by token."""

    name: str
    target: Target
    token_gap_s: float | None = None


@dataclass(frozen=True, slots=True)
class ReadBack:
    """``difference``: to the first reader of the run (None for that one). ``first_words``: share of sentences whose
    first word was heard within the first second. ``misheard``: (said, heard) of the sentences with errors.
    ``failed``: sentences that did not come at all; all their words count as errors."""

    name: str
    rate: ErrorRate
    difference: RateDifference | None
    first_words: float
    misheard: tuple[tuple[str, str], ...]
    failed: int
    sentences: tuple[WordErrors, ...]


def read_back(
    player: Player,
    readers: Sequence[Reader],
    sentences: Sequence[str],
    recognise: Recognise,
    *,
    callers: int = 2,
    progress: Progress = silent,
) -> list[ReadBack]:
    """All readers read all sentences, interleaved in blocks; then all is recognised. The first is the baseline."""
    takes: list[list[Take]] = [[] for _ in readers]
    for begin in range(0, len(sentences), BLOCK):
        progress(f"read-back: sentences {begin + 1} to {min(begin + BLOCK, len(sentences))} of {len(sentences)}")
        block = sentences[begin : begin + BLOCK]
        for at, reader in enumerate(readers):
            lines = [line(sentence, reader.token_gap_s) for sentence in block]
            takes[at] += player.play(reader.target, lines, ClosedLoop(callers, 0, len(lines))).takes
    heard = []
    for reader, read in zip(readers, takes, strict=True):
        progress(f"read-back: recognising {reader.name}")
        heard.append([_hear(take, recognise) for take in read])
    baseline = [errors for errors, _, _ in heard[0]]
    backs = []
    for at, (reader, read) in enumerate(zip(readers, takes, strict=True)):
        errors = [item for item, _, _ in heard[at]]
        backs.append(
            ReadBack(
                name=reader.name,
                rate=error_rate(errors),
                difference=rate_difference(errors, baseline) if at else None,
                first_words=sum(first for _, first, _ in heard[at]) / len(read),
                misheard=tuple(
                    (take.text, text)
                    for take, (item, _, text) in zip(read, heard[at], strict=True)
                    if item.errors
                ),
                failed=sum(1 for take in read if take.error),
                sentences=tuple(errors),
            )
        )
    return backs


def _hear(take: Take, recognise: Recognise) -> tuple[WordErrors, bool, str]:
    """(errors, whether the first word was heard in the first second, what was heard)."""
    said = take.text
    if take.error or not take.audio_s:
        return word_errors(said, ""), False, ""
    samples = _for_recogniser(take)
    silence = np.zeros(int(PADDING_S * RECOGNISER_RATE_HZ), np.float32)
    # Recognisers are trained on recordings with air around them; a trimmed voice must not lose by being trimmed.
    text = recognise(np.concatenate((silence, samples, silence)))
    return word_errors(said, text), first_word_heard(said, samples, recognise), text


def _for_recogniser(take: Take) -> Samples:
    return resample(decode(take.pcm, "pcm_s16le"), take.sample_rate_hz, RECOGNISER_RATE_HZ)
