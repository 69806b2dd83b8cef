"""How a reply's text reaches the voice, and how a second attempt is kept from saying again what was said."""

from typing import Literal, TypeAlias

from antiphon.text.sentences import SentenceEnd, SentenceFinder

FeedMode: TypeAlias = Literal["tokens", "sentences", "reply"]
"""Each delta as it comes; whole sentences; or nothing until the reply is written."""

_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")


class Feed:
    """Says how much of a growing text may be given to the voice."""

    def __init__(self, mode: FeedMode, language: str) -> None:
        self._mode = mode
        self._finder = SentenceFinder(language)

    def upto(self, text: str, begin: int, everything: bool) -> int:
        """The end of what may be said of ``text[begin:]``. ``everything``: no more comes for now."""
        if everything or self._mode == "tokens":
            return len(text)
        if self._mode == "reply":
            return begin
        scan = begin
        while True:
            end, scan = self._finder.next(text, begin, max(scan, begin), False)
            if not isinstance(end, SentenceEnd):
                return begin
            begin = end.at


class Repeats:
    """Drops from a second attempt's beginning what the first attempt had already said.

    A brain that is asked to go on may begin anew instead. As long as its words are those said before, they are held
    back; where they part, whole sentences that are the same are dropped.
    """

    def __init__(self, said: str) -> None:
        self._said = said.strip()
        self._apart = not said[-1:].isspace()  # the next word, then, needs a space before it
        self._held = ""
        self._open = bool(self._said)

    def feed(self, delta: str) -> str:
        """What of the attempt so far is new."""
        if not self._open:
            return delta
        self._held += delta
        held = self._held.lstrip()
        if self._said.startswith(held):
            return ""
        self._open = False
        if held.startswith(self._said):
            return held[len(self._said) :]
        same = next((i for i, (a, b) in enumerate(zip(self._said, held, strict=False)) if a != b), 0)
        cut = max(held.rfind(mark, 0, same) + len(mark) if mark in held[:same] else 0 for mark in _SENTENCE_ENDS)
        return " " + held[cut:] if self._apart else held[cut:]

    def finish(self) -> str:
        """The attempt is over; what was held back was all said before."""
        self._open = False
        return ""
