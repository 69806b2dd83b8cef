"""Which words of a growing hypothesis are settled: those that successive hypotheses agree on. Pure.

Source: LocalAgreement-2 (Liu et al. 2020, "Low-Latency Sequence-to-Sequence Speech Recognition"; Macháček et al. 2023),
with the newest words held back by their place in the audio, since they change most.
"""

from collections.abc import Sequence

from antiphon.engine.ear import EarWord

TIMES = 3
HOLD_SAMPLES = 12_800
"""A word that ends less than 0.8 s before the audio does is not settled."""


def sound_of(word: str) -> str:
    """A word without case and punctuation, which change while a sentence grows."""
    return "".join(char for char in word.casefold() if char.isalnum())


class Agreement:
    """Settled words of one window: append-only."""

    def __init__(self, hold_samples: int = HOLD_SAMPLES, times: int = TIMES) -> None:
        self.settled: tuple[EarWord, ...] = ()
        self._last: list[tuple[str, ...]] = []
        self._hold_samples = hold_samples
        self._times = times

    def hear(self, words: Sequence[EarWord], audio_samples: int) -> None:
        """A new hypothesis of the window's first ``audio_samples``; it must begin with the settled words.

        A word is settled once the one after it has been agreed on too, so that its punctuation is known.
        """
        sounds = tuple(sound_of(word.text) for word in words)
        self._last = [*self._last, sounds][-self._times :]
        if len(self._last) < self._times:
            return
        shared = [len(set(column)) == 1 for column in zip(*self._last, strict=False)]
        agreed = shared.index(False) if False in shared else len(shared)
        count = len(self.settled)
        while count + 1 < agreed and words[count].end_sample <= audio_samples - self._hold_samples:
            count += 1
        if count > len(self.settled):
            self.settled = (*self.settled, *words[len(self.settled) : count])
