"""What of a speech was made, sent and played, and so which words were heard.

All positions are integer samples of the voice's own rate, from the start of the speech. A word counts as heard once its
last sample was played; a word that was cut in the middle was not heard.
"""

from bisect import bisect_right
from collections.abc import Iterable

from antiphon.core.event import Timed

DEFAULT_CHARS_PER_S = 14
"""How fast a voice speaks, until its own pace is known. Only used without word times."""

_WINDOW = 80  # characters; a word that is not within reach of the one before is not searched for further away


class Playout:
    """Follows one speech. Pure; ``now_s`` is monotonic seconds.

    The position is the client's own (:meth:`report`, :meth:`return_mark`) once there was one report, else a clock's:
    audio plays from its release, ``delay_s`` later, in real time, and stops where there is none.
    Without word times the heard text is an estimate (``exact`` is false): in proportion between the points where text
    and audio are known to agree, at the voice's pace beyond, whole words only.
    """

    def __init__(self, delay_s: float = 0.0) -> None:
        self.text = ""
        """What was given to the voice, verbatim."""
        self.made_samples = 0
        self.rate_hz = 0
        self.released = False
        self.underruns = 0
        self._delay_s = delay_s
        self._from: tuple[float, int] = (0.0, 0)  # the clock's: at this time, this sample began to play
        self._reported: int | None = None
        self._frozen: int | None = None
        self._paused: int | None = None
        self._marks: dict[str, int] = {}
        self._word_ends: list[int] = []  # samples
        self._word_chars: list[int] = []  # how much of the text ends with that word
        self._agreed: list[tuple[int, int]] = [(0, 0)]  # (characters, samples)
        self._complete = False

    @property
    def exact(self) -> bool:
        """Whether the heard text follows from word times."""
        return bool(self._word_ends)

    @property
    def sent_samples(self) -> int:
        return self.made_samples if self.released else 0

    @property
    def reports(self) -> bool:
        """Whether the client says what it plays."""
        return self._reported is not None

    @property
    def ends_s(self) -> float | None:
        """When, by the clock, all that was sent has been played. None: nothing is playing."""
        if not self.released or not self.rate_hz or self._frozen is not None or self._paused is not None:
            return None
        since_s, sample = self._from
        return since_s + (self.made_samples - sample) / self.rate_hz

    def write(self, text: str) -> None:
        self.text += text
        self._complete = False

    def make(self, end_sample: int, rate_hz: int, now_s: float) -> None:
        """Audio up to ``end_sample`` exists; it is on its way to the client if the speech is released."""
        self.rate_hz = rate_hz
        if self.released and self._paused is None and self._clock(now_s) >= self.made_samples:
            self.underruns += self.made_samples > 0 and not self._complete
            self._from = (now_s + self._delay_s, self.made_samples)
        self.made_samples = max(self.made_samples, end_sample)

    def time(self, words: Iterable[Timed]) -> None:
        """Word times of the voice, in order."""
        for word in words:
            begin = self._word_chars[-1] if self._word_chars else 0
            self._word_chars.append(_end_of(self.text, word.text.strip(), begin))
            self._word_ends.append(max(word.end_sample, self._word_ends[-1] if self._word_ends else 0))

    def agree(self, chars: int) -> None:
        """The audio made so far says exactly the first ``chars`` characters (a flush came back)."""
        if (chars, self.made_samples) > self._agreed[-1]:
            self._agreed.append((chars, self.made_samples))
        self._complete = chars >= len(self.text)

    def release(self, now_s: float) -> None:
        """All that is made, and all that will be, goes to the client."""
        if not self.released:
            self.released = True
            self._from = (now_s + self._delay_s, 0)

    def pause(self, now_s: float) -> None:
        """The client plays no more for now, but keeps what it has."""
        if self._paused is None:
            self._paused = self._clock(now_s)

    def go_on(self, now_s: float) -> None:
        """The client plays on where it paused."""
        if self._paused is not None:
            self._from, self._paused = (now_s + self._delay_s, self._paused), None

    def report(self, sample: int) -> None:
        """The client has played up to ``sample``. Reports never go back, nor beyond what was sent."""
        if self._frozen is None:
            self._reported = max(self._reported or 0, min(sample, self.sent_samples))

    def mark(self, name: str, at_sample: int | None = None) -> None:
        """A mark was sent behind the audio that ends at ``at_sample`` (default: all that is made)."""
        self._marks[name] = self.made_samples if at_sample is None else at_sample

    def return_mark(self, name: str) -> bool:
        """A mark came back. Says whether that means that it was played: marks of cleared audio come back as well."""
        at_sample = self._marks.pop(name, None)
        if at_sample is None or self._frozen is not None:
            return False
        self.report(at_sample)
        return True

    def clear(self, now_s: float) -> None:
        """What is not played yet never will be."""
        if self._frozen is None:
            self._frozen = self.position(now_s)
            self._marks.clear()

    def truncate(self, sample: int) -> None:
        """The client's own word for where it stopped, after :meth:`clear`."""
        self._frozen = max(0, min(sample, self.sent_samples))

    def position(self, now_s: float) -> int:
        """The sample up to which was played."""
        if self._frozen is not None:
            return self._frozen
        return self._clock(now_s) if self._reported is None else self._reported

    def played_out(self, now_s: float) -> bool:
        return self.position(now_s) >= self.made_samples

    def heard_chars(self, now_s: float) -> int:
        """How much of the text was heard: the end of the last whole word that was played."""
        played = self.position(now_s)
        if self._complete and self.made_samples and played >= self.made_samples:
            return len(self.text)
        if self._word_ends:
            index = bisect_right(self._word_ends, played)
            return self._word_chars[index - 1] if index else 0
        return _whole_words(self.text, self._estimate(played))

    def heard_text(self, now_s: float) -> str:
        return self.text[: self.heard_chars(now_s)]

    def _clock(self, now_s: float) -> int:
        if not self.released or not self.rate_hz:
            return 0
        if self._paused is not None:
            return self._paused
        since_s, sample = self._from
        return min(self.made_samples, sample + max(0, int((now_s - since_s) * self.rate_hz)))

    def _estimate(self, played: int) -> int:
        for (chars, sample), (more_chars, more_samples) in zip(self._agreed, self._agreed[1:], strict=False):
            if played < more_samples:
                return chars + (more_chars - chars) * (played - sample) // max(1, more_samples - sample)
        chars, sample = self._agreed[-1]
        beyond = played - sample
        if sample:
            return chars + beyond * chars // sample
        return chars + beyond * DEFAULT_CHARS_PER_S // max(1, self.rate_hz)


def _end_of(text: str, word: str, begin: int) -> int:
    """Where ``word`` ends in the text at or behind ``begin``; if it is not there, where the next token ends."""
    at = text.find(word, begin, begin + len(word) + _WINDOW) if word else -1
    if at >= 0:
        return at + len(word)
    end = begin + len(text[begin:]) - len(text[begin:].lstrip())
    while end < len(text) and not text[end].isspace():
        end += 1
    return end


def _whole_words(text: str, chars: int) -> int:
    """The most whole words within the first ``chars`` characters."""
    if chars >= len(text):
        return len(text)
    while chars > 0 and not text[chars].isspace():
        chars -= 1
    return len(text[:chars].rstrip())
