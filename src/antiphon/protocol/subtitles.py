"""Subtitles: words with times into cues, cues into SubRip (``.srt``) and WebVTT (``.vtt``) files. Pure.

Limits follow common practice of subtitling: two lines of 42 columns (a wide East Asian character takes two), at most
seven seconds. A cue ends early at a pause, and where a sentence ends once the cue is long enough to be read.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from antiphon.core.hearing import EAR_RATE_HZ, HeardWord

_SENTENCE_ENDS = frozenset(".?!…。？！؟।")
_CLOSERS = "\"'”’»)]}」』）"


@dataclass(frozen=True, slots=True)
class CueLimits:
    """When a cue is full. ``sentence_columns``: from this width on, the end of a sentence ends the cue."""

    line_columns: int = 42
    lines: int = 2
    max_s: float = 7.0
    pause_s: float = 0.8
    sentence_columns: int = 24


@dataclass(frozen=True, slots=True)
class Cue:
    """``start_ms`` < ``end_ms``, from the start of the recording; ``lines`` without markup."""

    start_ms: int
    end_ms: int
    lines: tuple[str, ...]


def cues_of(words: Iterable[HeardWord], limits: CueLimits | None = None) -> list[Cue]:
    """Cues in order, none overlapping the next. Words carry their joining whitespace."""
    limits = limits or CueLimits()
    groups: list[list[HeardWord]] = []
    for word in (piece for whole in words for piece in _pieces(whole, limits.line_columns)):
        if not word.text.strip():
            continue
        if groups and _joins(groups[-1], word, limits):
            groups[-1].append(word)
        else:
            groups.append([word])
    cues: list[Cue] = []
    for at, group in enumerate(groups):
        start_ms = max(_ms(group[0].start_sample), cues[-1].end_ms if cues else 0)
        end_ms = _ms(max(word.end_sample for word in group))
        if at + 1 < len(groups):
            end_ms = min(end_ms, _ms(groups[at + 1][0].start_sample))
        lines = _wrapped([word.text for word in group], limits.line_columns)
        cues.append(Cue(start_ms, max(end_ms, start_ms + 1), tuple(lines)))
    return cues


def srt(cues: Sequence[Cue]) -> str:
    """A SubRip file; empty if there are no cues."""
    return "".join(
        f"{number}\n{clock(cue.start_ms, ',')} --> {clock(cue.end_ms, ',')}\n{_block(cue)}\n\n"
        for number, cue in enumerate(cues, 1)
    )


def vtt(cues: Sequence[Cue]) -> str:
    """A WebVTT file (W3C WebVTT: The Web Video Text Tracks Format)."""
    blocks = [f"{clock(cue.start_ms, '.')} --> {clock(cue.end_ms, '.')}\n{_escaped(_block(cue))}\n\n" for cue in cues]
    return "WEBVTT\n\n" + "".join(blocks)


def clock(ms: int, point: str) -> str:
    """``HH:MM:SS,mmm``; hours grow beyond two digits."""
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{point}{ms:03}"


def _ms(sample: int) -> int:
    """Rounded as a whole number, so that 59.9996 s becomes a minute and not sixty seconds."""
    return (sample * 1000 + EAR_RATE_HZ // 2) // EAR_RATE_HZ


def _joins(group: list[HeardWord], word: HeardWord, limits: CueLimits) -> bool:
    last = group[-1]
    if word.start_sample - last.end_sample >= limits.pause_s * EAR_RATE_HZ:
        return False
    if word.end_sample - group[0].start_sample > limits.max_s * EAR_RATE_HZ:
        return False
    texts = [one.text for one in group]
    if len(_wrapped([*texts, word.text], limits.line_columns)) > limits.lines:
        return False
    said = last.text.rstrip().rstrip(_CLOSERS)
    ends = bool(said) and said[-1] in _SENTENCE_ENDS
    return not (ends and columns("".join(texts).strip()) >= limits.sentence_columns)


def _wrapped(texts: Sequence[str], width: int) -> list[str]:
    """Words into lines of at most ``width`` columns; breaks fall between words only."""
    lines: list[str] = []
    line = ""
    for text in texts:
        if line and columns(_flat(line + text)) > width:
            lines.append(_flat(line))
            line = ""
        line += text
    return [*lines, _flat(line)] if line.strip() else lines


def _pieces(word: HeardWord, width: int) -> list[HeardWord]:
    """A "word" too long for a line (a sentence of a script without spaces, an address) in parts that fit."""
    if columns(_flat(word.text)) <= width:
        return [word]
    parts, line = [], ""
    for char in word.text:
        if line.strip() and columns((line + char).strip()) > width:
            parts.append(line)
            line = ""
        line += char
    parts.append(line)
    span = word.end_sample - word.start_sample
    pieces, done = [], 0
    for part in parts:
        start = word.start_sample + span * done // len(word.text)
        done += len(part)
        end = word.start_sample + span * done // len(word.text)
        pieces.append(replace(word, text=part, start_sample=start, end_sample=end))
    return pieces


def columns(text: str) -> int:
    """Width in columns: wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _flat(text: str) -> str:
    """On one line: a line break inside a cue's text would end the cue."""
    return " ".join(text.split())


def _block(cue: Cue) -> str:
    return "\n".join(cue.lines).replace("-->", "→")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
