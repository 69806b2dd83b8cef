"""The transcript of a turn, append-only although recognisers change their minds."""

import re

from antiphon.core.hearing import Heard

_MARK = re.compile(r"[.?!…]+$")
_TOKEN = re.compile(r"\s*\S+")  # a word with the white space before it, so that what is left begins with the joint


class TurnTranscript:
    """Gives out each word once, in order, white space verbatim, and never takes one back.

    A recogniser may revise a segment until its final. What was given out of it stays as it was; what later hypotheses
    say beyond that is found by aligning words, and appended. Text outlives turns: words that come after a turn was
    ended are kept for the next one.

    A recogniser puts a full stop wherever its window ends. A mark at the end is therefore given out only with what
    follows it, or with everything; it is left out if the sentence goes on in small letters.
    """

    def __init__(self) -> None:
        self.text = ""
        """What has been given out in this turn."""
        self._held = ""  # of finals, not given out yet
        self._segment = ""  # the latest hypothesis of the open segment
        self._stable_chars = 0
        self._used = ""  # what of the open segment is given out, in the words of the hypothesis of that time

    @property
    def open(self) -> bool:
        """Whether words have been heard that no final has confirmed."""
        return bool(self._segment.strip())

    @property
    def waiting(self) -> bool:
        """Whether there are settled words that have not been given out."""
        return _has_words(self._held + beyond(self._used, self._segment[: self._stable_chars])[0])

    @property
    def whole(self) -> str:
        """All that was heard in this turn so far, whether it was given out or not."""
        return self.text + _joined(self._held, beyond(self._used, self._segment)[0])

    def hear(self, heard: Heard) -> None:
        if heard.final:
            self._held = _joined(self._held, beyond(self._used, heard.text)[0])
            self._segment, self._stable_chars, self._used = "", 0, ""
        else:
            self._segment, self._stable_chars = heard.text, heard.stable_chars

    def grow(self, *, everything: bool = False) -> bool:
        """Give out what will not be revised, or all that was heard. Says whether ``text`` grew."""
        known = self._segment if everything else self._segment[: self._stable_chars]
        more, used = beyond(self._used, known)
        text = _joined(self._held, more)
        mark = None if everything else _MARK.search(text)
        given = text[: mark.start()] if mark is not None else text
        if not given.strip():
            return False
        self.text += given
        self._held, self._used = text[len(given) :], used
        return True

    def finish(self) -> str:
        """End the turn; returns its text."""
        text, self.text = self.text, ""
        return text

    def drop_marks(self) -> None:
        """Forget held text without a word in it: a full stop that came after the turn is nobody's turn."""
        if not _has_words(self._held):
            self._held = ""


def beyond(used: str, known: str) -> tuple[str, str]:
    """What ``known`` says after what ``used`` said, and what is used then.

    Where the two differ, words are aligned with the fewest changes; of equally good alignments the longest counts, so
    that a corrected word is not said twice.
    """
    if known.startswith(used):
        return known[len(used) :], known
    if used.startswith(known):
        return "", used
    old = [_plain(token) for token in _TOKEN.findall(used)]
    tokens = _TOKEN.findall(known)
    changes = list(range(len(tokens) + 1))  # from nothing of `old` to the first j tokens
    for row, word in enumerate(old, 1):
        diagonal, changes[0] = changes[0], row
        for j, token in enumerate(tokens, 1):
            best = min(diagonal + (word != _plain(token)), changes[j] + 1, changes[j - 1] + 1)
            diagonal, changes[j] = changes[j], best
    fewest = min(changes)
    cut = max(j for j, count in enumerate(changes) if count == fewest)
    more = "".join(tokens[cut:])
    return (more, known) if more else ("", used)


def _joined(held: str, more: str) -> str:
    goes_on = more.lstrip()[:1].islower()
    return (_MARK.sub("", held) if goes_on else held) + more


def _plain(token: str) -> str:
    return "".join(filter(str.isalnum, token.casefold()))


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
