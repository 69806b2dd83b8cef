"""A speaker's words as the tokens of the utterance model."""

import re
from collections.abc import Sequence

START, SOFT, END = 0, 1, 2
MORE = "+"
TOKEN = re.compile(r"0+(?:[.:]0+)*[a-z]*|[a-z]+[a-z0]*(?:'[a-z]+)*|[.?!,;:-]")
SHORT = ("mr", "mrs", "ms", "dr", "st", "prof", "jr", "sr")
_SHORT = re.compile(rf"\b({'|'.join(SHORT)})\.", re.I)


class Pieces:
    """``pieces`` [vocabulary]: the marks first, then beginnings and, with a plus before them, continuations."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._at = {piece: at for at, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))

    def word(self, word: str) -> list[int]:
        """The longest piece that ``word`` begins with, then the longest continuation, and so on."""
        found = []
        start, before = 0, ""
        while start < len(word):
            for stop in range(min(len(word), start + self._longest), start, -1):
                if (at := self._at.get(before + word[start:stop])) is not None:
                    found.append(at)
                    start = stop
                    break
            else:
                start += 1  # a letter that is not known
            before = MORE
        return found

    def text(self, text: str) -> list[int]:
        """Tokens of ``text`` with the marks between its words; marks at its end are left out: they are no evidence."""
        found = [START]
        mark = None
        for token in TOKEN.findall(normalised(text)):
            if token in ".?!":
                mark = END
            elif token in ",;:-":
                mark = mark or SOFT
            else:
                if mark is not None and len(found) > 1:
                    found.append(mark)
                mark = None
                found += self.word(token)
        return found


def normalised(text: str) -> str:
    """Small letters, any digit as ``0``, one kind of apostrophe, hyphenated words apart."""
    return re.sub(r"\d", "0", plain(text).lower())


def plain(text: str) -> str:
    """The same with capitals and digits: no full stop but a sentence's, one kind of apostrophe and of dash."""
    text = _SHORT.sub(r"\1", text.replace("\u2019", "'").replace("\u2014", " - ").replace("...", " - "))
    text = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text, flags=re.I)
    return re.sub(r"(?<=\w)-(?=\w)", " ", text)
