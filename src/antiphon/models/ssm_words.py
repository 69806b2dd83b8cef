"""Times of words and phonemes of the state-space voice: exact, because durations decide what is made."""

from collections import deque
from dataclasses import dataclass, field

from antiphon.core.event import Timed
from antiphon.models.hibari_alphabet import to_ipa
from antiphon.models.hibari_frontend import SILENT, STRESSES, Script
from antiphon.models.hibari_words import Times
from antiphon.text.align import word_places


@dataclass(slots=True)
class Word:
    """A word of the user, complete when symbol number ``last`` has its time; ``spoken`` are places in
    :attr:`WordTimer.spoken` of the words that stand for it."""

    text: str
    last: int
    spoken: list[int]


@dataclass(slots=True)
class Said:
    """A word as it is spoken. Times are -1 while it has no sound."""

    text: str
    start_sample: int = -1
    end_sample: int = -1


@dataclass(slots=True)
class WordTimer:
    """Words wait here for the times of their symbols, and then for the audio in which they begin."""

    pushed: int = 0
    """Symbols that were announced."""
    placed: int = 0
    """Symbols whose time is known."""
    words: deque[Word] = field(default_factory=deque)
    spoken: dict[int, Said] = field(default_factory=dict)
    owners: deque[tuple[str, int]] = field(default_factory=deque)
    """Of the symbols that wait for a time: the symbol, and which spoken word it belongs to (-1: none)."""
    ready: deque[tuple[Timed, tuple[Timed, ...]]] = field(default_factory=deque)
    sounds: deque[Timed] = field(default_factory=deque)
    next_spoken: int = 0
    stress_sample: int = -1
    end_sample: int = 0

    def announce(self, symbols: str, owners: list[int]) -> None:
        """Symbols in the order in which they will be placed."""
        self.owners.extend(zip(symbols, owners, strict=True))
        self.pushed += len(symbols)

    def read(self, script: Script, text: str, part: tuple[int, int]) -> list[int]:
        """Take in the words of characters ``part`` of ``text``, whose symbols ``script`` holds; returns the symbols'
        owners. To be followed by :meth:`announce`."""
        first = self.next_spoken
        self.next_spoken += len(script.words)
        owners = [first + owner for owner in script.owners]
        for index, word in enumerate(script.words):
            self.spoken[first + index] = Said(word.text)
        last_of = {owner: place + 1 for place, owner in enumerate(owners)}
        at, last, (start, end) = 0, self.pushed, part
        for word_start, word_end in word_places(text):
            if not start <= word_start < end:
                continue
            while at < len(script.words) and script.words[at].end + start <= word_start:
                at += 1  # the rest of a word that began in the part before
            begin = at
            while at < len(script.words) and script.words[at].start + start < word_end:
                at += 1
            spoken = [first + index for index in range(begin, at)]
            last = max([last, *(self.pushed + last_of.get(index, 0) for index in spoken)])
            self.words.append(Word(text[word_start:word_end], last, spoken))
        return owners

    def place(self, start_sample: int, end_sample: int) -> None:
        """The next symbol sounds from ``start_sample`` to ``end_sample``."""
        symbol, owner = self.owners.popleft()
        self.placed += 1
        if symbol in STRESSES:  # a mark's time belongs to the sound that it marks
            self.stress_sample = start_sample if self.stress_sample < 0 else self.stress_sample
        elif symbol not in SILENT and owner >= 0:
            begin = start_sample if self.stress_sample < 0 else self.stress_sample
            self.stress_sample = -1
            self.sounds.append(Timed(to_ipa(symbol), begin, end_sample))
            said = self.spoken[owner]
            said.start_sample = begin if said.start_sample < 0 else said.start_sample
            said.end_sample = end_sample
        self.settle(start_sample)

    def settle(self, at_sample: int) -> None:
        """Words whose symbols all have their times are complete; one without a sound takes no time, where it is."""
        while self.words and self.words[0].last <= self.placed:
            word = self.words.popleft()
            said = [self.spoken.pop(index) for index in word.spoken]
            heard = [one for one in said if one.start_sample >= 0]
            if not heard:
                self.end_sample = max(self.end_sample, at_sample)
            begin = heard[0].start_sample if heard else self.end_sample
            spoken = []
            for one in said:
                start = one.start_sample if one.start_sample >= 0 else max(begin, self.end_sample)
                self.end_sample = max(self.end_sample, one.end_sample)
                spoken.append(Timed(one.text, start, max(start, one.end_sample)))
            self.ready.append((Timed(word.text, begin, max(begin, self.end_sample)), tuple(spoken)))

    def take(self, before_sample: int) -> Times:
        """What is known, begins before this sample, and was not taken yet."""
        words, normalized, sounds = list[Timed](), list[Timed](), list[Timed]()
        while self.ready and self.ready[0][0].start_sample < before_sample:
            word, spoken = self.ready.popleft()
            words.append(word)
            normalized.extend(spoken)
        while self.sounds and self.sounds[0].start_sample < before_sample:
            sounds.append(self.sounds.popleft())
        return Times(tuple(words), tuple(normalized), tuple(sounds))
