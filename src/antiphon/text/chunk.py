"""Token deltas in, speakable units out.

Text is held until a unit is certain, which needs a little look-ahead ("$29" "." "50"); every wait is bounded by a due
time. After silence the first unit is a small phrase, so that speech starts early; later units are whole sentences
within a budget. With one clock reading throughout, units do not depend on how the text was cut into tokens.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from antiphon.text.pending import PendingText
from antiphon.text.phrases import LOOK_AHEAD, PhraseCutter
from antiphon.text.sentences import SentenceFinder, ends_in_title, ends_like_sentence
from antiphon.text.unit import Break, Emotion, Ipa, Piece, Respelled, Sound, Speed, Spell, Text, Unit, Volume
from antiphon.text.weight import ATOM, Budget, weight, word_count

_LETTER_S = 0.062
"""About what one letter takes to say; tells roughly until when a listener has something to hear."""
_TINY_WORDS = 3
_TINY_CHARS = 28
_WORD = re.compile(r"\S+")
_CLAUSE_MARKS = tuple(",;:—–，、；：،؛·")
_SYMBOLS = "$€£¥%&@#+=<>§©®°½¼¾±×÷"
_SPOKEN_SYMBOLS = frozenset(_SYMBOLS)
_UNSPOKEN = re.compile(rf"[^\w{_SYMBOLS}{ATOM}]{{64,}}")
"""So much that cannot be said is passed over at once: to look for phrases in it takes long."""


class Chunker:
    """Cuts a stream of pieces into speakable units.

    ``max_buffer_delay_s``: how long text may wait for more text, from when the first of it came. 0: each push is an
    utterance of its own. ``look_ahead_s``: how long a text that looks finished waits for the character after it.
    Never fails; the work is linear in the text.
    """

    def __init__(
        self,
        language: str = "en",
        max_buffer_delay_s: float = 3.0,
        look_ahead_s: float = 0.3,
        budget: Budget | None = None,
    ) -> None:
        self._delay_s = max_buffer_delay_s
        self._look_ahead_s = min(look_ahead_s, max_buffer_delay_s)
        self._budget = budget or Budget()
        self._cutter = PhraseCutter(language, self._budget)
        self._pending = PendingText(SentenceFinder(language))
        self._speed, self._volume = 1.0, 1.0
        self._emotion: str | None = None
        self._heard_until_s = float("-inf")
        self._since_s: float | None = None  # when the first text that waits came
        self._pushed_s = 0.0
        self._grew = False  # whether text came since the last tick that did something
        self._silent_then: bool | None = None
        """Whether the listener had nothing to hear when the text was last looked at; None: look again in any case."""

    # -- what callers use --------------------------------------------------------------------------------------

    def push(self, pieces: Iterable[Piece], now_s: float) -> list[Unit]:
        """Take in pieces; returns the units that became certain."""
        units: list[Unit] = []
        fresh = False
        for piece in pieces:
            fresh = True
            if isinstance(piece, Break):
                units += self._drain(now_s, final=True, more=True)
                self._pause(piece.seconds, units, now_s)
            elif isinstance(piece, Speed | Volume | Emotion):
                units += self._change(piece, now_s)
            else:
                self._add(piece, now_s)
        if fresh or self._silent_then != (now_s >= self._heard_until_s):
            units += self._drain(now_s, final=self._delay_s <= 0)
        if self._delay_s <= 0:
            self._pending.clear()
        self._note_wait(now_s)
        return units

    def flush(self, now_s: float) -> list[Unit]:
        """Let everything go; what comes next begins a new sentence."""
        units = self._drain(now_s, final=True)
        self._pending.clear()
        self._note_wait(now_s)
        return units

    def tick(self, now_s: float) -> list[Unit]:
        """Let go what has waited long enough."""
        due_s = self.due_s
        if due_s is None or now_s < due_s or self._since_s is None:
            return []
        if self._pending.looks_done and now_s >= self._pushed_s + self._look_ahead_s:
            units = self._drain(now_s, final=True)
        elif now_s >= self._since_s + self._delay_s:
            units = self._drain(now_s, final=False) + self._overdue(now_s)
        else:
            units = self._drain(now_s, final=False, alone=True)
        self._grew = False
        self._note_wait(now_s)
        return units

    @property
    def due_s(self) -> float | None:
        """When :meth:`tick` has something to do; None while nothing waits."""
        if self._since_s is None:
            return None
        due_s = self._since_s + self._delay_s
        if self._pending.looks_done:
            due_s = min(due_s, self._pushed_s + self._look_ahead_s)
        if self._pending.ends:
            # A tiny sentence waits for the next one, but not until the listener has nothing to hear.
            join_s = max(self._since_s + 2 * self._look_ahead_s, self._heard_until_s - self._look_ahead_s)
            due_s = min(due_s, join_s)
        return due_s

    @property
    def pending_chars(self) -> int:
        return self._pending.size

    # -- taking in ---------------------------------------------------------------------------------------------

    def _add(self, piece: Text | Spell | Ipa | Respelled | Sound, now_s: float) -> None:
        match piece:
            case Text():
                self._pending.add(piece.text.replace(ATOM, " "))
            case Spell():
                self._pending.add_spelled(piece)
            case Ipa() | Respelled():
                self._pending.add_word(piece)
            case Sound():
                self._pending.add(" ")
                return
        self._silent_then = None
        if self._since_s is None and not piece.text.isspace():
            self._since_s = now_s
        self._pushed_s = now_s
        self._grew = True

    def _pause(self, seconds: float, units: list[Unit], now_s: float) -> None:
        if units and not units[-1].pause_s and units[-1].pieces:
            units[-1] = replace(units[-1], pause_s=seconds)
        else:
            units.append(Unit((), "none", seconds, self._speed, self._volume, self._emotion))
        self._heard_until_s = max(self._heard_until_s, now_s) + seconds

    def _change(self, piece: Speed | Volume | Emotion, now_s: float) -> list[Unit]:
        speed, volume, emotion = self._speed, self._volume, self._emotion
        match piece:
            case Speed(ratio):
                speed = ratio
            case Volume(ratio):
                volume = ratio
            case Emotion(name):
                emotion = name
        if (speed, volume, emotion) == (self._speed, self._volume, self._emotion):
            return []
        units = self._drain(now_s, final=True, more=True)
        self._speed, self._volume, self._emotion = speed, volume, emotion
        return units

    # -- letting go --------------------------------------------------------------------------------------------

    def _drain(self, now_s: float, final: bool, more: bool = False, alone: bool = False) -> list[Unit]:
        """Units that are certain. ``final``: all of them, as if the text ended; ``more``: it does not, though;
        ``alone``: tiny sentences too."""
        pending = self._pending
        pending.find_ends(final)
        units: list[Unit] = []
        while True:
            pending.skip_space()
            cut = self._cut(now_s, final, alone) if pending.size else None
            if cut is None:
                break
            units += self._emit(cut, now_s, more)
        pending.compact()
        self._silent_then = None if final or alone else now_s >= self._heard_until_s
        return units

    def _cut(self, now_s: float, final: bool, alone: bool) -> int | None:
        """Where the next unit ends; None to wait for more text."""
        text, start, ends = self._pending.text, self._pending.start, self._pending.ends
        if unspoken := _UNSPOKEN.match(text, start):
            return unspoken.end()
        end = ends[0].at if alone and ends else self._sentence_group_end(final)
        if now_s >= self._heard_until_s:
            cut = self._cutter.first(text, start, end, self._pending.known)
            if cut is None or self._fits(start, cut):
                return cut
        elif end is not None and self._fits(start, end):
            return end
        elif end is None and not self._exceeds(start):
            return None
        return self._cutter.within(text, start)

    def _fits(self, start: int, end: int) -> bool:
        if end - start > 2 * self._budget.chars:
            return False
        return self._cutter.reach(self._pending.text[start:end].rstrip(), 0) is None

    def _exceeds(self, start: int) -> bool:
        """Whether the text is over the budget with enough beyond it to choose the cut."""
        pending = self._pending
        if pending.weight <= self._budget.chars and pending.size <= 2 * self._budget.words:
            return False
        window = pending.text[start : start + self._budget.chars + 2 * LOOK_AHEAD]
        reach = self._cutter.reach(window, 0)
        return reach is not None and pending.size >= reach + LOOK_AHEAD

    def _sentence_group_end(self, final: bool) -> int | None:
        """Where the next unit's sentence ends: tiny sentences count with the one that follows them."""
        for end in self._pending.ends:
            if end.kind != "sentence" or not self._tiny(self._pending.start, end.at):
                return end.at
        return len(self._pending.text) if final else None

    def _tiny(self, start: int, end: int) -> bool:
        if end - start >= 2 * _TINY_CHARS:
            return False
        text = self._pending.text[start:end]
        return word_count(text) < _TINY_WORDS and weight(text.rstrip()) < _TINY_CHARS

    def _overdue(self, now_s: float) -> list[Unit]:
        """The delay has passed in mid-sentence: say what is there, but keep a word that may still grow."""
        pending = self._pending
        end = len(pending.text)
        if self._grew:
            end = pending.start + self._sure_part(pending.text[pending.start :])
        units: list[Unit] = []
        while True:
            pending.skip_space()
            if pending.start >= end:
                break
            units += self._emit(min(self._overdue_cut(end, now_s), end), now_s, more=True)
        pending.compact()
        self._silent_then = None
        return units

    def _overdue_cut(self, end: int, now_s: float) -> int:
        """Where the next unit of the text up to ``end`` ends, now that it is late."""
        text, start = self._pending.text, self._pending.start
        cut = end if self._fits(start, end) else self._cutter.within(text, start)
        if now_s >= self._heard_until_s:
            cut = self._cutter.first(text, start, end, end) or cut
        return cut

    def _sure_part(self, text: str) -> int:
        """Length of ``text`` without a last word that may still grow and the words that lean on it."""
        words = [(m.start(), m.group()) for m in _WORD.finditer(text)]
        keep = len(words)
        if not text[-1:].isspace() and not ends_like_sentence(text):
            keep -= 1
        while keep > 1 and self._cutter.bonds.leans(words[keep - 1][1].lower()):
            keep -= 1
        return words[keep][0] if 0 < keep < len(words) else len(text)

    def _emit(self, cut: int, now_s: float, more: bool) -> list[Unit]:
        pending = self._pending
        before = pending.said_before
        pieces, kind = pending.take(max(cut, pending.start + 1))
        self._since_s = None
        if not any(c.isalnum() or c in _SPOKEN_SYMBOLS for piece in pieces for c in piece.text):
            return []  # nothing in it can be said
        first = now_s >= self._heard_until_s
        letters = sum(weight(piece.text) for piece in pieces)
        self._heard_until_s = max(self._heard_until_s, now_s) + letters * _LETTER_S / max(self._speed, 0.1)
        unit = Unit(pieces, speed=self._speed, volume=self._volume, emotion=self._emotion, first=first, before=before)
        ending = self._ending(unit.text, kind, last=not pending.size and not more)
        return [replace(unit, ending=ending, after="" if kind is not None else pending.rest_of_sentence)]

    def _ending(self, spoken: str, kind: str | None, last: bool) -> str:
        if kind == "paragraph":
            return "paragraph"
        if ends_in_title(spoken):
            return "sentence" if last else "none"
        if kind is not None or ends_like_sentence(spoken):
            return "sentence"
        bare = spoken.rstrip("\"'”’»)]}」』）】 ")
        if bare[-1:] in _CLAUSE_MARKS or bare.endswith(" -"):
            return "clause"
        # A lone word pushed without delay is most likely a token of a sentence.
        return "sentence" if last and (self._delay_s > 0 or " " in spoken) else "none"

    def _note_wait(self, now_s: float) -> None:
        if not self._pending.text[self._pending.start :].strip():
            self._since_s = None
        elif self._since_s is None:
            self._since_s = now_s
