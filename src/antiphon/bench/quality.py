"""Quality beside speed, of the takes of the same run: words, estimated listening quality, defects, overhead. Pure apart
from the recogniser and the listener that are passed in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from antiphon.audio.pcm import decode
from antiphon.audio.resample import resample
from antiphon.bench.measure import Distribution, distribution
from antiphon.bench.recording import Take
from antiphon.bench.sound import listen
from antiphon.core.frame import Samples

if TYPE_CHECKING:
    from antiphon.bench.wer import Recognise

RATE_HZ = 16_000
MOS_TAKES = 8
"""Listening costs a second of a core for each take, so it is done to the first of them."""

PADDING_S = 0.25
"""Silence on either side for the recogniser, which expects recordings with air around them."""


class Mos(Protocol):
    @property
    def speech(self) -> float: ...

    @property
    def background(self) -> float: ...

    @property
    def overall(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Quality:
    """Of ``takes`` takes that came. None: was not asked for, or cannot be told.

    ``wer`` and its one-sided 95 % bound ``wer_upper`` (0.01 is one per cent); ``words`` of the references. ``speech``,
    ``background``, ``overall``: DNSMOS. ``clicks``: suspicious jumps per minute. ``clipped_samples`` in all.
    ``cut_off``: takes that end in the middle of a sound. ``overhead``: bytes on the wire per byte of PCM. Drifts: per
    minute, of takes of ten seconds and more.
    """

    takes: int
    wer: float | None
    wer_upper: float | None
    words: int
    speech: Distribution | None
    background: Distribution | None
    overall: Distribution | None
    clicks: float
    clipped_samples: int
    cut_off: int
    leading_s: Distribution | None
    trailing_s: Distribution | None
    longest_pause_s: Distribution | None
    pitch_hz: Distribution | None
    pitch_drift: Distribution | None
    loudness_drift: Distribution | None
    overhead: float | None


def judge(
    takes: Sequence[Take],
    recognise: "Recognise | None" = None,
    listener: Callable[[Samples], Mos] | None = None,
) -> Quality:
    """``recognise``: 16 kHz audio -> text; ``listener``: 16 kHz audio -> scores. Failed takes are left out."""
    good = [take for take in takes if not take.error and take.audio_s > 0]
    audio = [decode(take.pcm, "pcm_s16le") for take in good]
    sounds = [listen(samples, take.sample_rate_hz) for samples, take in zip(audio, good, strict=True)]
    narrow = [
        resample(samples, take.sample_rate_hz, RATE_HZ) for samples, take in zip(audio, good, strict=True)
    ] if recognise or listener else []  # fmt: skip
    scores = [listener(samples) for samples in narrow[:MOS_TAKES]] if listener else []
    minutes = sum(sound.audio_s for sound in sounds) / 60
    pcm_bytes = sum(len(chunk) for take in good for chunk in take.chunks)
    wire_bytes = sum(take.wire_bytes for take in good)
    wer, upper, words = _errors(good, narrow, recognise)
    return Quality(
        takes=len(good),
        wer=wer,
        wer_upper=upper,
        words=words,
        speech=distribution([score.speech for score in scores]),
        background=distribution([score.background for score in scores]),
        overall=distribution([score.overall for score in scores]),
        clicks=sum(sound.clicks for sound in sounds) / minutes if minutes else 0.0,
        clipped_samples=sum(sound.clipped_samples for sound in sounds),
        cut_off=sum(sound.cut_off for sound in sounds),
        leading_s=distribution([sound.leading_s for sound in sounds]),
        trailing_s=distribution([sound.trailing_s for sound in sounds]),
        longest_pause_s=distribution([sound.longest_pause_s for sound in sounds]),
        pitch_hz=distribution([sound.pitch_hz for sound in sounds if sound.pitch_hz is not None]),
        pitch_drift=distribution([sound.pitch_drift for sound in sounds if sound.pitch_drift is not None]),
        loudness_drift=distribution([sound.loudness_drift for sound in sounds if sound.loudness_drift is not None]),
        overhead=wire_bytes / pcm_bytes if pcm_bytes and wire_bytes else None,
    )


def _errors(
    takes: Sequence[Take], narrow: Sequence[Samples], recognise: "Recognise | None"
) -> tuple[float | None, float | None, int]:
    if recognise is None or not takes:
        return None, None, 0
    from antiphon.bench.wer import error_rate, word_errors

    air = np.zeros(round(PADDING_S * RATE_HZ), np.float32)
    heard = [recognise(np.concatenate((air, samples, air))) for samples in narrow]
    rate = error_rate([word_errors(take.text, text) for take, text in zip(takes, heard, strict=True)])
    return rate.rate, rate.upper, rate.words
