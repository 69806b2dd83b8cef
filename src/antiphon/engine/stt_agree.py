"""Which words of a growing hypothesis are settled: those that successive hypotheses agree on. Pure.

Source: LocalAgreement-2 (Liu et al. 2020, "Low-Latency Sequence-to-Sequence Speech Recognition"; Macháček et al. 2023),
with the newest words held back by their place in the audio, since they change most.
"""

from collections.abc import Sequence
from dataclasses import replace

from antiphon.engine.ear import EarWord

TIMES = 3
HOLD_SAMPLES = 12_800
"""A word that ends less than 0.8 s before the audio does is not settled."""
GROWING_HOLD_SAMPLES = 4_800
"""The same for a recogniser whose hypotheses only grow: a search over several paths still changes the newest words."""


MARKS = ".,;:!?…"


def sound_of(word: str) -> str:
    """A word without case and punctuation, which change while a sentence grows."""
    return "".join(char for char in word.casefold() if char.isalnum())


class Agreement:
    """Settled words of one window: append-only. If the recogniser changes its mind about them, that is not told.

    (Told to begin with what is settled, a decoder goes on worse after a wrong word.)
    """

    def __init__(self, hold_samples: int = HOLD_SAMPLES, times: int = TIMES) -> None:
        self.settled: tuple[EarWord, ...] = ()
        self._last: list[tuple[str, ...]] = []
        self._hold_samples = hold_samples
        self._times = times

    def hear(self, words: Sequence[EarWord], audio_samples: int) -> None:
        """A new hypothesis of the window's first ``audio_samples``.

        A word is settled once the one after it has been agreed on too, so that its punctuation is known.
        """
        self._last = [*self._last, tuple(sound_of(word.text) for word in words)][-self._times :]
        if len(self._last) < self._times:
            return
        shared = [len(set(column)) == 1 for column in zip(*self._last, strict=False)]
        agreed = shared.index(False) if False in shared else len(shared)
        begin = end = beyond(self.settled, words)
        while end + 1 < agreed and words[end].end_sample <= audio_samples - self._hold_samples:
            end += 1
        self._grow(words, begin, tuple(words[begin:end]))

    def spliced(self, words: tuple[EarWord, ...]) -> tuple[EarWord, ...]:
        """What is settled, and what ``words`` say beyond it. Settled words move to where they are heard now."""
        begin = beyond(self.settled, words)
        kept = self.settled
        if [sound_of(word.text) for word in words[:begin]] == [sound_of(word.text) for word in kept]:
            kept = tuple(replace(now, text=word.text) for word, now in zip(kept, words, strict=False))
        return (*_marked(kept, words, begin), *words[begin:])

    def settle(self, words: Sequence[EarWord]) -> None:
        """Settle all of ``words``, a hypothesis of everything that was said up to a pause, but the mark at its end."""
        begin = beyond(self.settled, words)
        if begin < len(words):
            last = words[-1]
            bare = replace(last, text=last.text.rstrip(MARKS) or last.text)
            self._grow(words, begin, (*words[begin:-1], bare))

    def _grow(self, words: Sequence[EarWord], begin: int, added: tuple[EarWord, ...]) -> None:
        if added:
            self.settled = (*_marked(self.settled, words, begin), *added)


def _marked(settled: tuple[EarWord, ...], words: Sequence[EarWord], begin: int) -> tuple[EarWord, ...]:
    """The last settled word with the mark that it has in ``words``, the first ``begin`` of which are settled."""
    now = words[begin - 1] if 0 < begin <= len(words) else None
    if not settled or now is None or now.text.rstrip(MARKS) != settled[-1].text:
        return settled
    return (*settled[:-1], replace(settled[-1], text=now.text))


class Steady:
    """What is shown of one window's hypotheses while they grow.

    A word is shown, or a shown one changed, when ``times`` hypotheses in a row say so; the first words, and with 1 all,
    at once, but for the last one, since the speaker is in the middle of it.
    """

    def __init__(self, times: int = 2) -> None:
        self.words: tuple[EarWord, ...] = ()
        self._last: list[tuple[str, ...]] = []
        self._times = times

    def begin(self, words: tuple[EarWord, ...]) -> None:
        """These were shown already, before this window began."""
        self.words = words
        self._last = [tuple(sound_of(word.text) for word in words)]

    def hear(self, words: tuple[EarWord, ...], *, complete: bool) -> None:
        """``complete``: the hypothesis holds all that was said; it is shown as it is."""
        self._last = [*self._last, tuple(sound_of(word.text) for word in words)][-max(self._times, 1) :]
        if complete:
            self.words = words
            return
        if not self.words or self._times == 1:
            self.words = words[: max(len(words) - 1, len(self.words))]  # what was shown at a pause stays
        if len(self._last) < max(self._times, 2):
            return
        kept: list[EarWord] = []
        for place in range(max(map(len, self._last))):
            heard = [said[place] if place < len(said) else "" for said in self._last]
            if len(set(heard)) == 1:
                kept.append(words[place])
            elif place < len(self.words):
                kept.append(self.words[place])
            else:
                break
        self.words = tuple(kept)


def beyond(settled: Sequence[EarWord], words: Sequence[EarWord]) -> int:
    """How many of ``words`` say what is settled: the beginning that differs least from it, the longest of equals."""
    old, new = [sound_of(word.text) for word in settled], [sound_of(word.text) for word in words]
    if new[: len(old)] == old:
        return len(old)
    changes = list(range(len(new) + 1))
    for row, word in enumerate(old, 1):
        diagonal, changes[0] = changes[0], row
        for place, heard in enumerate(new, 1):
            best = min(diagonal + (word != heard), changes[place] + 1, changes[place - 1] + 1)
            diagonal, changes[place] = changes[place], best
    least = min(changes)
    return max(place for place, count in enumerate(changes) if count == least)
