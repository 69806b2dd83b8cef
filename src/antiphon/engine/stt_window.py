"""One window of audio under recognition, and the segment's text that windows add up to. Pure."""

from dataclasses import dataclass, field

from antiphon.core.hearing import Heard, HeardWord
from antiphon.engine.ear import EarWord, Hypothesis, Reading
from antiphon.engine.stt_agree import MARKS, Agreement, Steady, sound_of
from antiphon.engine.stt_guard import is_speech

UNSPACED = ("zh", "ja", "th", "lo", "my", "km", "yue")
"""Languages that write no space between sentences."""


@dataclass(slots=True)
class Window:
    """Audio ``[start, heard_to)`` of the stream has been decoded as ``draft``.

    ``ahead``: how the words that follow a cut through running speech were written before the cut.
    """

    start: int
    reading: Reading
    voiced_frames: int = 0
    """Frames in which the detector was sure of a voice."""
    heard_to: int = 0
    asked_to: int = 0
    draft: Hypothesis = field(default_factory=Hypothesis)
    agreement: Agreement = field(default_factory=Agreement)
    spoken_frames: int = 0
    """All frames of speech."""
    complete: bool = False
    """``draft`` holds all the speech that there is: nothing but silence came after it."""
    ahead: tuple[str, ...] = ()
    settles: bool = True
    """Words are settled while the speaker goes on."""
    steady: Steady = field(default_factory=Steady)

    def hear(self, hypothesis: Hypothesis, heard_to: int, *, complete: bool) -> None:
        """A decode of ``[start, heard_to)`` is there. ``complete``: the speaker had paused."""
        self.draft, self.heard_to, self.complete = hypothesis, heard_to, complete
        if hypothesis.looped or not is_speech(hypothesis, self.voiced_frames):
            return
        self.steady.hear(hypothesis.words, complete=complete)
        if self.settles:
            self.agreement.hear(hypothesis.words, heard_to - self.start)

    def settle(self) -> bool:
        """Settle all the words before a pause; the window stays open. Whether there were any that were not."""
        words, before = self.words(), len(self.agreement.settled)
        self.agreement.settle(words)
        return len(self.agreement.settled) > before

    def shown(self) -> tuple[EarWord, ...]:
        """What to tell of it while the speaker goes on: of the newest words only those that are steady."""
        return self.words() if self.complete else self._told(self.agreement.spliced(self.steady.words))

    def words(self) -> tuple[EarWord, ...]:
        """What to tell of it: the last hypothesis if it is believed, and what is settled in any case."""
        words = self.agreement.settled
        if is_speech(self.draft, self.voiced_frames):
            words = self.agreement.spliced(self.draft.words)
        return self._told(words)

    def _told(self, words: tuple[EarWord, ...]) -> tuple[EarWord, ...]:
        if self.ahead and words and sound_of(words[0].text) == sound_of(self.ahead[0]):
            first = words[0]
            text = _cased_like(first.text, self.ahead[0])
            words = (EarWord(text, first.start_sample, first.end_sample, first.confidence, first.tokens), *words[1:])
        return words


def _cased_like(word: str, model: str) -> str:
    return model[:1] + word[1:] if model[:1].casefold() == word[:1].casefold() else word


class Transcript:
    """The segment since the last final: words of closed windows, then those of the open one."""

    def __init__(self, language: str) -> None:
        """``language`` "": the one that the recogniser finds out."""
        self._language = language or "en"
        self._found_out = not language
        self._joint = "" if language.split("-")[0] in UNSPACED else " "
        self._words: list[HeardWord] = []
        self._start = 0
        self._end = 0
        self._after_text = False
        self._told: tuple[str, int] = ("", 0)

    def settle(self, window: Window, end: int) -> list[str]:
        """Close ``window``: its words change no more. Returns them."""
        added = _placed(window.words(), window.start)
        self._begin(window)
        self._words.extend(added)
        self._end = max(self._end, end)
        return [word.text for word in added]

    def interim(self, window: Window | None) -> Heard | None:
        """How the segment stands; None if nothing has changed since it was last told."""
        settled = len(self._words)
        words = list(self._words)
        if window is not None:
            words.extend(_placed(window.shown(), window.start))
            settled += min(len(window.agreement.settled), len(words) - settled)
        heard = self._heard(words, settled, window.heard_to if window else self._end, final=False)
        if (heard.text, heard.stable_chars) == self._told:
            return None
        self._told = (heard.text, heard.stable_chars)
        return heard

    def final(self) -> Heard | None:
        """All of the segment, which ends here. None if there is nothing to say, nor to take back."""
        heard = self._heard(self._words, len(self._words), self._end, final=True)
        told, self._told = self._told, ("", 0)
        self._after_text |= bool(self._words)
        self._words = []
        return heard if heard.text or told[0] else None

    @property
    def samples(self) -> int:
        """From the segment's first window to the end of its last one."""
        return self._end - self._start if self._words else 0

    def _begin(self, window: Window) -> None:
        if not self._words:
            self._start = window.start
        if self._found_out and window.draft.language:
            self._language = window.draft.language
            self._joint = "" if self._language in UNSPACED else " "

    def _heard(self, words: list[HeardWord], settled: int, end: int, *, final: bool) -> Heard:
        texts = [word.text for word in words]
        lead = self._joint if self._after_text and texts else ""
        text = lead + self._joint.join(texts)
        known = lead + self._joint.join(texts[:settled]) if settled else ""
        stable = len(known if final else known.rstrip(MARKS))  # what is said next decides about a mark
        start = self._start if self._words else (words[0].start_sample if words else end)
        confidence = sum(word.confidence for word in words) / len(words) if words else 1.0
        return Heard(
            text=text,
            stable_chars=stable,
            final=final,
            words=tuple(words),
            start_sample=min(start, end),
            end_sample=end,
            language=self._language,
            confidence=confidence,
        )


def _placed(words: tuple[EarWord, ...], start: int) -> list[HeardWord]:
    return [
        HeardWord(word.text, start + word.start_sample, start + word.end_sample, word.confidence) for word in words
    ]
