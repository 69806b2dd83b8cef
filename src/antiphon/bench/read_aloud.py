"""Voices side by side: each reads the sentences of its language, a recogniser writes down what it hears, and a network
guesses how it sounds. Everything over the wire, as a client would hear it."""

import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TypeAlias

import msgspec
import numpy as np

from antiphon.audio.pcm import decode
from antiphon.audio.resample import resample
from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.conditions import Conditions
from antiphon.bench.measure import measure
from antiphon.bench.player import Player
from antiphon.bench.quality import PADDING_S, RATE_HZ, Mos
from antiphon.bench.recording import Take
from antiphon.bench.report import Report, Table
from antiphon.bench.systems import Progress, silent
from antiphon.bench.target.contract import Line, Target
from antiphon.bench.wer import WordErrors, error_rate
from antiphon.bench.wer_languages import errors_in, unit_of
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples
from antiphon.text.languages import base_language

RecogniseIn: TypeAlias = Callable[[Samples, str], str]
"""16 kHz mono float32 and a language -> text."""

LISTENED = 2
"""Sentences of each voice that DNSMOS hears: it takes its time, and says about the same of each."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice as its server lists it, and how to reach it."""

    name: str
    language: str
    locale: str
    engine: str
    quality: str
    target: Target


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one sentence. ``error``: why nothing did. ``overall``: DNSMOS, None if nobody listened."""

    said: str
    heard: str
    errors: WordErrors
    audio_s: float
    audible_s: float | None
    overall: float | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Spoken:
    speaker: str
    locale: str
    engine: str
    quality: str
    sentences: tuple[Heard, ...]

    def is_by(self, speaker: Speaker) -> bool:
        return (self.speaker, self.locale, self.engine) == (speaker.name, speaker.locale, speaker.engine)


@cache
def sentences() -> Mapping[str, tuple[str, ...]]:
    """By base language."""
    text = (resources.files("antiphon.bench") / "data" / "read_aloud.toml").read_text("utf-8")
    return {language: tuple(lines) for language, lines in tomllib.loads(text).items()}


def workload(languages: Sequence[str]) -> dict[str, str]:
    """Name -> sha256 of the sentences."""
    return {
        f"read_aloud/{language}": hashlib.sha256("\n".join(sentences()[language]).encode()).hexdigest()
        for language in sorted(set(languages))
    }


def read_aloud(
    player: Player,
    speaker: Speaker,
    recognise: RecogniseIn,
    listener: Callable[[Samples], Mos] | None = None,
    *,
    count: int | None = None,
    earlier: Sequence[Heard] = (),
    progress: Progress = silent,
) -> Spoken:
    """One voice reads the first ``count`` sentences of its language (None: all), one after the other.

    ``earlier``: what is known of the first of them. The first :data:`LISTENED` go to ``listener`` too.
    Raises ``InvalidInput`` for a language that has none.
    """
    base = base_language(speaker.language)
    lines = sentences().get(base)
    if lines is None:
        raise InvalidInput(f"there are no sentences in {speaker.language!r}; there are in {', '.join(sentences())}")
    texts = lines[len(earlier) : count]
    heard = list(earlier)
    if texts:
        progress(f"{speaker.name} reads {len(texts)} sentences in {speaker.locale}")
        takes = player.play(speaker.target, [Line(text) for text in texts], ClosedLoop(1, 0, len(texts))).takes
        for take in takes:
            heard.append(_hear(take, base, recognise, listener if len(heard) < LISTENED else None))
    return Spoken(speaker.name, speaker.locale, speaker.engine, speaker.quality, tuple(heard))


def resumed(report: Report, at: Conditions) -> list[Spoken]:
    """What an earlier run has heard, for one under conditions ``at`` to go on from; errors are counted anew.

    Raises ``InvalidInput`` if its models or sentences were others, or if it is no report of this kind.
    """
    for before, now in ((report.conditions.models, at.models), (report.conditions.workloads, at.workloads)):
        if changed := sorted(name for name in before.keys() & now.keys() if before[name] != now[name]):
            raise InvalidInput(f"the earlier report was of another {', '.join(changed)}: it cannot be gone on with")
    try:
        spoken = msgspec.convert(report.details["spoken"], list[Spoken])
    except (KeyError, msgspec.ValidationError) as error:
        raise InvalidInput(f"the earlier report is none of voices that read aloud: {error}") from None
    return [
        replace(each, sentences=tuple(_recounted(each.locale, heard) for heard in each.sentences)) for each in spoken
    ]


def _recounted(language: str, heard: Heard) -> Heard:
    return replace(heard, errors=errors_in(base_language(language), heard.said, heard.heard))


def report(spoken: Sequence[Spoken], at: Conditions) -> Report:
    """A row for each voice, and one for each language of an engine."""
    figures = ("sentences", "words", "errors %", "upper 95 %", "DNSMOS", "failed")
    notes = (
        "errors: of words (of characters in ja and th, of syllables with their tones in zh), heard by the recogniser "
        "named below, whose own errors are among them; upper: one-sided bound, bootstrap over sentences",
        f"DNSMOS: overall, mean of the first {LISTENED} sentences; a comparison within the table, not a verdict",
    )
    together: dict[tuple[str, str, str], list[Spoken]] = {}
    for each in spoken:
        together.setdefault((base_language(each.locale), each.engine, each.quality), []).append(each)
    languages = Table(
        "Languages",
        ("language", "engine", "quality", "voices", *figures),
        tuple((*key, len(them), *_figures(key[0], them)) for key, them in sorted(together.items())),
        notes,
    )
    voices = Table(
        "Voices",
        ("voice", "language", "engine", "quality", *figures),
        tuple(
            (each.speaker, each.locale, each.engine, each.quality, *_figures(each.locale, [each])) for each in spoken
        ),
    )
    return Report("Voices read aloud", at, (languages, voices), details={"spoken": spoken})


def _figures(language: str, spoken: Sequence[Spoken]) -> tuple[str | int | float | None, ...]:
    sentences = [sentence for each in spoken for sentence in each.sentences]
    rate = error_rate([each.errors for each in sentences])
    scores = [each.overall for each in sentences if each.overall is not None]
    unit = unit_of(language)
    return (
        len(sentences),
        f"{rate.words}" if unit == "words" else f"{rate.words} {unit}",
        round(100 * rate.rate, 1),
        round(100 * rate.upper, 1),
        f"{np.mean(scores):.2f}" if scores else None,
        sum(1 for each in sentences if each.error),
    )


def _hear(take: Take, language: str, recognise: RecogniseIn, listener: Callable[[Samples], Mos] | None) -> Heard:
    if take.error or not take.audio_s:
        return Heard(take.text, "", errors_in(language, take.text, ""), 0.0, None, None, take.error or "no audio")
    samples = resample(decode(take.pcm, "pcm_s16le"), take.sample_rate_hz, RATE_HZ)
    air = np.zeros(round(PADDING_S * RATE_HZ), np.float32)
    # Recognisers are trained on recordings with air around them; a trimmed voice must not lose by being trimmed.
    text = recognise(np.concatenate((air, samples, air)), language)
    overall = None if listener is None else listener(samples).overall
    measured = measure(take)
    return Heard(take.text, text, errors_in(language, take.text, text), take.audio_s, measured.ttfa_s, overall)
