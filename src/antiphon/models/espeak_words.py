"""Times of what eSpeak NG has said, in the words of the user."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from antiphon.core.event import Timed
from antiphon.models.espeak_library import Mark, Speech
from antiphon.text.align import word_places

_MARKS_ON_A_SOUND = str.maketrans("", "", "ˈˌ")


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """A word as it is spoken; ``[start, end)``: the characters of the user's text that it stands for; ``place``: where
    it begins in the script."""

    text: str
    start: int
    end: int
    place: int


@dataclass(frozen=True, slots=True)
class Script:
    """What the library reads. ``mnemonics``: there are phonemes in double brackets."""

    text: str
    words: tuple[ScriptWord, ...]
    mnemonics: bool = False


def place(
    script: Script, text: str, speech: Speech | None, offset: int, language: str
) -> tuple[tuple[Timed, ...], tuple[Timed, ...], tuple[Timed, ...]]:
    """Words of ``text``, words as spoken, and phonemes, each where it sounds; ``offset`` is added to every sample.

    ``speech`` None: nothing sounded, every word is placed at ``offset``. A word without a sound of its own takes no
    time, at the end of the one before it.
    """
    spans = [] if speech is None else _spans(script, speech)
    sounds = () if speech is None else tuple(_sounds(speech, offset))
    said: list[Timed] = []
    end = sounds[0].start_sample if sounds else max(0, offset)
    for index, word in enumerate(script.words):
        span = spans[index] if spans else None
        start = end if span is None else max(end, span[0] + offset)
        end = start if span is None else max(start, span[1] + offset)
        said.append(Timed(word.text, start, end))
    return tuple(_written(script, text, said, offset, language)), tuple(said), sounds


def _written(script: Script, text: str, said: list[Timed], offset: int, language: str) -> list[Timed]:
    words: list[Timed] = []
    at, end = 0, said[0].start_sample if said else max(0, offset)
    for start_char, end_char in word_places(text, language):
        first = at
        while at < len(script.words) and script.words[at].start < end_char:
            at += 1
        # Several words of the user may share one spoken word; they share its time as well.
        own = said[first:at] or ([said[first - 1]] if first and script.words[first - 1].end > start_char else [])
        start = max(own[0].start_sample, words[-1].start_sample if words else 0) if own else end
        end = max(start, own[-1].end_sample) if own else end
        words.append(Timed(text[start_char:end_char], start, end))
    return words


def _spans(script: Script, speech: Speech) -> list[tuple[int, int] | None]:
    """For each word of the script the samples from its first sound to the end of its last; None if it has none."""
    starts = [word.place for word in script.words]
    spans: list[tuple[int, int] | None] = [None] * len(starts)
    marks = list(speech.words)
    for mark, following in zip_longest(marks, marks[1:]):  # none: of a word that is too long nothing is said
        index = bisect_right(starts, mark.start) - 1
        stop = len(speech.samples) if following is None else following.sample
        sounding = _sounding(speech, mark.sample, stop)
        if index < 0 or sounding is None:
            continue
        known = spans[index]
        whole = sounding if known is None else (min(known[0], sounding[0]), max(known[1], sounding[1]))
        # Where words are written without spaces, one of the library's words may be several characters.
        end = index + 1
        limit = len(starts) if following is None else bisect_right(starts, following.start) - 1
        while end < limit and not _apart(script, end) and script.words[end].text[0].isalnum():
            end += 1
        step = (whole[1] - whole[0]) / (end - index)
        for part in range(index, end):
            begin = whole[0] + (part - index) * step
            spans[part] = (round(begin), round(begin + step))
    return spans


def _apart(script: Script, index: int) -> bool:
    """Whether there is a space in front of a word."""
    place_in = script.words[index].place
    return script.text[place_in - 1 : place_in].isspace()


def _sounding(speech: Speech, start: int, stop: int) -> tuple[int, int] | None:
    marks = [*speech.phonemes, Mark(len(speech.samples), "", 0, 0)]
    found = [
        (max(mark.sample, start), min(following.sample, stop))
        for mark, following in pairwise(marks)
        if mark.text and start <= mark.sample < stop
    ]
    return (found[0][0], found[-1][1]) if found else None


def _sounds(speech: Speech, offset: int) -> list[Timed]:
    marks = [*speech.phonemes, Mark(len(speech.samples), "", 0, 0)]
    return [
        Timed(symbol, mark.sample + offset, max(mark.sample, following.sample) + offset)
        for mark, following in pairwise(marks)
        if (symbol := mark.text.translate(_MARKS_ON_A_SOUND))
    ]
