"""The text that a chunker holds: what is not yet spoken, and a little of what was, for context."""

from collections import deque
from dataclasses import replace

from antiphon.text.sentences import UNDECIDED, SentenceEnd, SentenceFinder, ends_in_title, ends_like_sentence
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken, Text
from antiphon.text.weight import ATOM, weight

CONTEXT_CHARS = 160
_SPELL_AT_ONCE = 24


class PendingText:
    """A growing text with a moving start. Pieces that are no plain text are one placeholder character each in ``text``.

    Indexes refer to ``text``; ``start`` is where the unspoken part begins, ``ends`` are the sentence ends beyond it.
    Every character is scanned once.
    """

    def __init__(self, finder: SentenceFinder) -> None:
        self._finder = finder
        self._atoms: deque[Spell | Ipa | Respelled] = deque()
        self.clear()

    def clear(self) -> None:
        self.text = ""
        self.start = 0
        self.ends: deque[SentenceEnd] = deque()
        self.undecided_at: int | None = None
        self.looks_done = False
        self.weight = 0
        self._sentence = 0  # where the sentence that holds ``start`` begins
        self._scan = 0
        self._scan_sentence = 0
        self._atoms.clear()

    # -- growing -----------------------------------------------------------------------------------------------

    def add(self, text: str) -> None:
        if not self.text:
            text = text.lstrip()
        self.text += text
        self.weight += weight(text)

    def add_word(self, piece: Ipa | Respelled) -> None:
        self._atoms.append(piece)
        self.add(ATOM)

    def add_spelled(self, piece: Spell) -> None:
        """Long spelled text becomes several pieces, so that it can be cut between them."""
        for at in range(0, len(piece.text), _SPELL_AT_ONCE):
            self._atoms.append(Spell(piece.text[at : at + _SPELL_AT_ONCE]))
            self.add(ATOM)

    def find_ends(self, final: bool) -> None:
        """Look for sentence ends in what was added. ``final``: nothing comes after."""
        while True:
            found, self._scan = self._finder.next(self.text, self._scan_sentence, self._scan, final)
            if not isinstance(found, SentenceEnd):
                break
            self.ends.append(found)
            self._scan_sentence = found.at
        self.undecided_at = self._scan if found is UNDECIDED else None
        self.looks_done = False
        if self.undecided_at is not None:
            tail = self.text[max(self.start, self.undecided_at - 40) :]
            self.looks_done = len(tail) < 80 and ends_like_sentence(tail) and not ends_in_title(tail)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return len(self.text) - self.start

    @property
    def known(self) -> int:
        """Up to where the text certainly belongs to the sentences found so far and the open one."""
        return len(self.text) if self.undecided_at is None else self.undecided_at + 1

    @property
    def said_before(self) -> str:
        """What was spoken of the sentence that holds ``start``."""
        return _plain(self.text[max(self._sentence, self.start - CONTEXT_CHARS) : self.start])

    @property
    def rest_of_sentence(self) -> str:
        end = self.ends[0].at if self.ends else len(self.text)
        return _plain(self.text[self.start : min(end, self.start + CONTEXT_CHARS)])

    # -- shrinking ---------------------------------------------------------------------------------------------

    def skip_space(self) -> None:
        begin = self.start
        while self.start < len(self.text) and self.text[self.start].isspace():
            self.start += 1
        self.weight -= self.start - begin
        while self.ends and self.ends[0].at <= self.start:
            self.ends.popleft()
            self._sentence = self.start

    def take(self, cut: int) -> tuple[tuple[Spoken, ...], str | None]:
        """Move ``start`` to ``cut``; returns what lay between, and the kind of the sentence end exactly there."""
        spoken = self.text[self.start : cut]
        kind: str | None = None
        while self.ends and self.ends[0].at <= cut:
            end = self.ends.popleft()
            self._sentence = end.at
            kind = end.kind if end.at == cut else None
        self.weight -= weight(spoken)
        self.start = cut
        pieces: list[Spoken] = []
        for i, part in enumerate(spoken.rstrip().split(ATOM)):
            if i:
                pieces.append(self._atoms.popleft())
            if part:
                pieces.append(Text(part))
        return tuple(pieces), kind

    def compact(self) -> None:
        """Forget what was said, but for the context of the sentence that goes on."""
        drop = max(min(self._sentence, self.start), self.start - 2 * CONTEXT_CHARS)
        if self.start < len(self.text):
            drop = min(drop, self._scan_sentence, self._scan)
        if drop <= 0:
            return
        self.text = self.text[drop:]
        self.start -= drop
        self._sentence = max(0, self._sentence - drop)
        self._scan = max(0, self._scan - drop)
        self._scan_sentence = max(0, self._scan_sentence - drop)
        if self.undecided_at is not None:
            self.undecided_at -= drop
        self.ends = deque(replace(end, at=end.at - drop) for end in self.ends)


def _plain(text: str) -> str:
    return text.replace(ATOM, "").strip()
