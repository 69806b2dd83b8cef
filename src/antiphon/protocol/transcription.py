"""Transcribing one recording over HTTP, whichever dialect asks: what is asked, and what came out.

The file part of the form is the server's; here are the other fields, and the text that the ear makes of the file.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.core.event import Event
from antiphon.core.hearing import EAR_RATE_HZ, Heard, HeardWord, HearingConfig, Listened

UploadedFile: TypeAlias = Annotated[str, msgspec.Meta(extra_json_schema={"format": "binary"})]
"""A file part, for the page that describes the routes."""

_INDEX = re.compile(r"\[\d*\]$")


@dataclass(frozen=True, slots=True)
class TranscriptionRequest:
    """What is asked of one recording. ``raw``: the file is bare samples as ``config`` describes them, else the server
    finds out from the file itself what it holds."""

    config: HearingConfig
    raw: bool = False
    words: bool = False


class FormFields:
    """The text fields of a form, in any of the ways in which clients write lists: ``name``, ``name[]``, ``name[0]``."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(_INDEX.sub("", name.strip()), []).append(value)

    def one(self, name: str) -> str | None:
        """The last value that is not blank, stripped; None if there is none."""
        values = self.all(name)
        return values[-1] if values else None

    def all(self, name: str) -> tuple[str, ...]:
        """Values that are not blank, stripped, in order."""
        return tuple(stripped for value in self._values.get(name, ()) if (stripped := value.strip()))

    def choices(self, name: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
        """A list of which every entry must be one of ``allowed``. Raises ``InvalidInput``."""
        found = self.all(name)
        for value in found:
            if value not in allowed:
                raise InvalidInput(f"{name}: must be of {', '.join(allowed)}, not {value[:40]!r}", name)
        return found


def missing_file() -> InvalidInput:
    """The form had no file in it, or an empty one."""
    return InvalidInput("file: a multipart/form-data part named file, with the recording, is required", "file")


@dataclass(frozen=True, slots=True)
class Segment:
    """What one final said. ``text`` and the words' texts carry their joining whitespace."""

    text: str
    start_sample: int
    end_sample: int
    words: tuple[HeardWord, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """All that was heard in a recording. ``language`` is that of most of the text ("" if there is none)."""

    segments: tuple[Segment, ...]
    language: str
    duration_s: float

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments).strip()

    @property
    def words(self) -> tuple[HeardWord, ...]:
        return tuple(word for segment in self.segments for word in segment.words)


class TranscriptDraft:
    """Collects an ear's events into a :class:`Transcript`; interims and news about turns are passed over."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._language_chars: dict[str, int] = {}
        self._end_sample = 0

    def add(self, event: Event) -> None:
        if isinstance(event, Listened):
            self._end_sample = max(self._end_sample, event.at_sample)
        if not isinstance(event, Heard) or not event.final:
            return
        self._end_sample = max(self._end_sample, event.end_sample)
        if not event.text:
            return
        self._segments.append(
            Segment(event.text, event.start_sample, event.end_sample, spaced_words(event), event.confidence)
        )
        chars = len(event.text.strip())
        self._language_chars[event.language] = self._language_chars.get(event.language, 0) + chars

    def finish(self, duration_s: float | None = None) -> Transcript:
        """``duration_s``: of the recording; None: as far as the ear listened."""
        language = max(self._language_chars, key=self._language_chars.__getitem__, default="")
        heard_s = self._end_sample / EAR_RATE_HZ
        return Transcript(tuple(self._segments), language, heard_s if duration_s is None else duration_s)


def spaced_words(heard: Heard) -> tuple[HeardWord, ...]:
    """The words of a final as they stand in its text, so that joined they are the text.

    Each takes what lies between it and its predecessor; the last takes the rest. Where the ear gave no words, the text
    is cut at whitespace and the time shared out by length.
    """
    words = heard.words or _guessed(heard)
    spaced: list[HeardWord] = []
    at = 0
    for word in words:
        bare = word.text.strip()
        found = heard.text.find(bare, at)
        end = at if found < 0 else found + len(bare)
        text = heard.text[at:end] if found >= 0 else (f" {bare}" if spaced else bare)
        spaced.append(replace(word, text=text))
        at = end
    if spaced and at < len(heard.text):
        spaced[-1] = replace(spaced[-1], text=spaced[-1].text + heard.text[at:])
    return tuple(spaced)


def _guessed(heard: Heard) -> tuple[HeardWord, ...]:
    matches = list(re.finditer(r"\S+", heard.text))
    length = max(1, len(heard.text))
    span = max(0, heard.end_sample - heard.start_sample)
    return tuple(
        HeardWord(
            match.group(),
            heard.start_sample + span * match.start() // length,
            heard.start_sample + span * match.end() // length,
            heard.confidence,
        )
        for match in matches
    )


def log_probability(confidence: float) -> float:
    """Natural logarithm of a confidence, finite also for 0."""
    return round(math.log(min(max(confidence, 1e-9), 1.0)), 6) + 0.0
