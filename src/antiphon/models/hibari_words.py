"""Times of words and phonemes of one unit, handed out with the audio that they describe."""

from collections.abc import Callable
from dataclasses import dataclass

from antiphon.core.event import Timed
from antiphon.models.hibari_alphabet import to_ipa
from antiphon.models.hibari_frontend import SILENT, STRESSES, Script
from antiphon.models.hibari_phrase import Layout, Phrase
from antiphon.text.align import word_places


@dataclass(frozen=True, slots=True)
class Times:
    words: tuple[Timed, ...] = ()
    normalized: tuple[Timed, ...] = ()
    phonemes: tuple[Timed, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A word of the user, the spoken words that stand for it, and the first of them that has a sound (or a
    neighbour's, where it has none: an emoji, a dash)."""

    text: str
    spoken: tuple[int, ...]
    anchor: int


class WordClock:
    """Follows a unit through its phrases. Each word of the user is handed out once, with the audio in which it begins;
    a word without sound takes no time, at the end of the word before it."""

    def __init__(self, script: Script, text: str, part: tuple[int, int]) -> None:
        """``script`` reads characters [start, end) of ``text``, the unit's; words that begin there are this clock's."""
        self._texts = [word.text for word in script.words]
        sounding = {owner for symbol, owner in zip(script.symbols, script.owners, strict=True) if symbol not in SILENT}
        self._entries: list[_Entry] = []
        at, anchor = 0, min(sounding, default=-1)
        start, end = part
        for word_start, word_end in word_places(text):
            if not start <= word_start < end:
                continue
            # Both lists run in the order of the text, so one walk assigns every spoken word to one word of the user.
            while at < len(script.words) and script.words[at].end + start <= word_start:
                at += 1  # the rest of a word that began in the part before
            first = at
            while at < len(script.words) and script.words[at].start + start < word_end:
                at += 1
            spoken = tuple(range(first, at))
            anchor = next((index for index in spoken if index in sounding), anchor)
            self._entries.append(_Entry(text[word_start:word_end], spoken, anchor))
        self._next = 0
        self._end = 0
        self._words: list[tuple[Timed, tuple[Timed, ...]]] = []
        self._sounds: list[Timed] = []

    def place(self, phrase: Phrase, layout: Layout, sample_of: Callable[[int], int]) -> None:
        """Give the words of ``phrase`` their times; ``sample_of`` turns a frame of its plan into a stream sample."""
        spans: dict[int, tuple[int, int]] = {}
        stress: int | None = None
        for i, (symbol, owner) in enumerate(zip(phrase.symbols, phrase.owners, strict=True)):
            if symbol in STRESSES and stress is None:
                stress = i  # a mark's time belongs to the sound that it marks
            if symbol in SILENT:
                continue
            start = sample_of(int(layout.onsets[i if stress is None else stress]))
            end = sample_of(int(layout.onsets[i + 1]))
            stress = None
            self._sounds.append(Timed(to_ipa(symbol), start, end))
            spans[owner] = (spans.get(owner, (start, end))[0], end)
        if not self._end:
            self._end = sample_of(layout.start)
        reached = max(spans)
        while self._next < len(self._entries) and self._entries[self._next].anchor <= reached:
            self._place(self._entries[self._next], spans)
            self._next += 1

    def place_silent(self, at_sample: int) -> None:
        """Place what is left: words of a unit with nothing to say."""
        self._end = max(self._end, at_sample)
        for entry in self._entries[self._next :]:
            self._place(entry, {})
        self._next = len(self._entries)

    def take(self, before_sample: int) -> Times:
        """What begins before this sample and was not taken yet."""
        words, normalized, sounds = list[Timed](), list[Timed](), list[Timed]()
        while self._words and self._words[0][0].start_sample < before_sample:
            word, spoken = self._words.pop(0)
            words.append(word)
            normalized.extend(spoken)
        while self._sounds and self._sounds[0].start_sample < before_sample:
            sounds.append(self._sounds.pop(0))
        return Times(tuple(words), tuple(normalized), tuple(sounds))

    def _place(self, entry: _Entry, spans: dict[int, tuple[int, int]]) -> None:
        begin, spoken = -1, list[Timed]()
        for index in entry.spoken:
            start, end = spans.get(index, (self._end, self._end))
            begin = start if begin < 0 else begin
            self._end = max(self._end, end)
            spoken.append(Timed(self._texts[index], start, max(start, end)))
        begin = self._end if begin < 0 else begin
        self._words.append((Timed(entry.text, begin, self._end), tuple(spoken)))
