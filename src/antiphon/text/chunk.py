"""Token deltas in, speakable units out.

Text is held until a unit is certain, which needs a little look-ahead ("$29" "." "50"); every wait is bounded by a due
time. After silence the first unit is a small phrase, so that speech starts early; later units are whole sentences
within a budget. With one clock reading throughout, units do not depend on how the text was cut into tokens.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from antiphon.text.phrases import ATOM, LOOK_AHEAD, Budget, PhraseCutter, weight, word_count
from antiphon.text.sentences import UNDECIDED, SentenceEnd, SentenceFinder, ends_like_sentence
from antiphon.text.unit import Break, Emotion, Ipa, Piece, Sound, Speed, Spell, Spoken, Text, Unit, Volume
from antiphon.text.vocabulary import TITLES

_SPELL_AT_ONCE = 24
_CONTEXT_CHARS = 160
_LETTER_S = 0.062
"""About what one letter takes to say; tells roughly until when a listener has something to hear."""
_TINY_WORDS = 3
_TINY_CHARS = 28


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
        self._finder = SentenceFinder(language)
        self._cutter = PhraseCutter(language, self._budget)
        self._speed, self._volume = 1.0, 1.0
        self._emotion: str | None = None
        self._heard_until_s = float("-inf")
        self._since_s: float | None = None
        self._pushed_s = 0.0
        self._grew = False
        self._atoms: deque[Spell | Ipa] = deque()
        self._forget()

    def _forget(self) -> None:
        self._text = ""  # keeps a little of what was said of this sentence, for context
        self._start = 0  # where the pending text begins
        self._sentence = 0  # where the sentence that holds it begins
        self._scan = 0
        self._scan_sentence = 0
        self._ends: deque[SentenceEnd] = deque()
        self._weight = 0
        self._undecided_at: int | None = None
        self._looks_done = False
        self._atoms.clear()

    # -- what callers use --------------------------------------------------------------------------------------

    def push(self, pieces: Iterable[Piece], now_s: float) -> list[Unit]:
        """Take in pieces; returns the units that became certain."""
        units: list[Unit] = []
        for piece in pieces:
            match piece:
                case Text():
                    self._add(piece.text.replace(ATOM, " "), now_s)
                case Spell():
                    self._add_spell(piece, now_s)
                case Ipa():
                    self._atoms.append(piece)
                    self._add(ATOM, now_s)
                case Break():
                    self._pause(piece.seconds, units, now_s)
                case Speed() | Volume() | Emotion():
                    self._change(piece, units, now_s)
                case Sound():
                    self._add(" ", now_s)
        if self._delay_s <= 0:
            units += self._drain(now_s, final=True)
            self._forget()
        else:
            units += self._drain(now_s, final=False)
        self._note_wait(now_s)
        return units

    def set_prosody(
        self,
        now_s: float,
        speed: float | None = None,
        volume: float | None = None,
        emotion: str | None = None,
    ) -> list[Unit]:
        """Change what applies to text pushed from here on; text pushed before is let go as it is."""
        pieces: list[Piece] = []
        if speed is not None:
            pieces.append(Speed(speed))
        if volume is not None:
            pieces.append(Volume(volume))
        if emotion is not None:
            pieces.append(Emotion(emotion))
        return self.push(pieces, now_s) if pieces else []

    def flush(self, now_s: float) -> list[Unit]:
        """Let everything go; what comes next begins a new sentence."""
        units = self._drain(now_s, final=True)
        self._forget()
        self._note_wait(now_s)
        return units

    def tick(self, now_s: float) -> list[Unit]:
        """Let go what has waited long enough."""
        due_s = self.due_s
        if due_s is None or now_s < due_s or self._since_s is None:
            return []
        if self._looks_done and now_s >= self._pushed_s + self._look_ahead_s:
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
        if self._looks_done:
            due_s = min(due_s, self._pushed_s + self._look_ahead_s)
        if self._ends:
            # A tiny sentence waits for the next one, but not until the listener has nothing to hear.
            join_s = max(self._since_s + 2 * self._look_ahead_s, self._heard_until_s - self._look_ahead_s)
            due_s = min(due_s, join_s)
        return due_s

    @property
    def pending_chars(self) -> int:
        return len(self._text) - self._start

    # -- taking in ---------------------------------------------------------------------------------------------

    def _add(self, text: str, now_s: float) -> None:
        if not text:
            return
        if self._start == len(self._text):
            text = text.lstrip() if not self._text else text
        self._text += text
        self._weight += weight(text)
        if self._since_s is None and not text.isspace():
            self._since_s = now_s
        self._pushed_s = now_s
        self._grew = True

    def _add_spell(self, piece: Spell, now_s: float) -> None:
        for at in range(0, len(piece.text), _SPELL_AT_ONCE):
            self._atoms.append(Spell(piece.text[at : at + _SPELL_AT_ONCE]))
            self._add(ATOM, now_s)

    def _pause(self, seconds: float, units: list[Unit], now_s: float) -> None:
        units += self._drain(now_s, final=True, more=True)
        if units and not units[-1].pause_s and units[-1].pieces:
            units[-1] = replace(units[-1], pause_s=seconds)
        else:
            units.append(Unit((), "none", seconds, self._speed, self._volume, self._emotion))
        self._heard_until_s = max(self._heard_until_s, now_s) + seconds

    def _change(self, piece: Speed | Volume | Emotion, units: list[Unit], now_s: float) -> None:
        match piece:
            case Speed(ratio):
                same = ratio == self._speed
            case Volume(ratio):
                same = ratio == self._volume
            case Emotion(name):
                same = name == self._emotion
        if same:
            return
        units += self._drain(now_s, final=True, more=True)
        match piece:
            case Speed(ratio):
                self._speed = ratio
            case Volume(ratio):
                self._volume = ratio
            case Emotion(name):
                self._emotion = name

    # -- letting go --------------------------------------------------------------------------------------------

    def _drain(self, now_s: float, final: bool, more: bool = False, alone: bool = False) -> list[Unit]:
        """Units that are certain. ``final``: all of them, as if the text ended; ``more``: it does not, though;
        ``alone``: tiny sentences too."""
        self._find_ends(final)
        units: list[Unit] = []
        while True:
            self._skip_space()
            if self._start == len(self._text):
                break
            cut = self._cut(now_s, final, alone)
            if cut is None:
                break
            units += self._emit(cut, now_s, more)
        self._compact()
        return units

    def _find_ends(self, final: bool) -> None:
        while True:
            found, self._scan = self._finder.next(self._text, self._scan_sentence, self._scan, final)
            if not isinstance(found, SentenceEnd):
                break
            self._ends.append(found)
            self._scan_sentence = found.at
        self._undecided_at = self._scan if found is UNDECIDED else None
        self._looks_done = False
        if self._undecided_at is not None and self._delay_s > 0:
            tail = self._text[max(self._start, self._undecided_at - 40) :]
            self._looks_done = len(tail) < 80 and ends_like_sentence(tail) and not _ends_in_title(tail)

    def _cut(self, now_s: float, final: bool, alone: bool) -> int | None:
        """Where the next unit ends; None to wait for more text."""
        start = self._start
        end = self._ends[0].at if alone and self._ends else self._sentence_group_end(final)
        if now_s >= self._heard_until_s:
            known = len(self._text) if self._undecided_at is None else self._undecided_at + 1
            cut = self._cutter.first(self._text, start, end, known)
            if cut is None or self._fits(start, cut):
                return cut
        elif end is not None and self._fits(start, end):
            return end
        elif end is None and not self._exceeds(start):
            return None
        return self._cutter.within(self._text, start)

    def _fits(self, start: int, end: int) -> bool:
        if end - start > 2 * self._budget.chars:
            return False
        return self._cutter.reach(self._text[start:end].rstrip(), 0) is None

    def _exceeds(self, start: int) -> bool:
        """Whether the text is over the budget with enough beyond it to choose the cut."""
        if self._weight <= self._budget.chars and len(self._text) - start <= 2 * self._budget.words:
            return False
        window = self._text[start : start + self._budget.chars + 2 * LOOK_AHEAD]
        reach = self._cutter.reach(window, 0)
        return reach is not None and len(self._text) - start >= reach + LOOK_AHEAD

    def _sentence_group_end(self, final: bool) -> int | None:
        """Where the next unit's sentence ends: tiny sentences count with the one that follows them."""
        for end in self._ends:
            if end.kind != "sentence" or not self._tiny(self._start, end.at):
                return end.at
        return len(self._text) if final else None

    def _tiny(self, start: int, end: int) -> bool:
        return end - start < 2 * _TINY_CHARS and (
            word_count(self._text[start:end]) < _TINY_WORDS and weight(self._text[start:end].rstrip()) < _TINY_CHARS
        )

    def _overdue(self, now_s: float) -> list[Unit]:
        """The delay has passed in mid-sentence: say what is there, but keep a word that may still grow."""
        end = len(self._text)
        if self._grew:
            end = self._start + self._sure_part(self._text[self._start :])
        units: list[Unit] = []
        while True:
            self._skip_space()
            if self._start >= end:
                break
            cut = end if self._fits(self._start, end) else self._cutter.within(self._text, self._start)
            if now_s >= self._heard_until_s:
                cut = self._cutter.first(self._text, self._start, end, end) or cut
            units += self._emit(min(cut, end), now_s, more=True)
        self._compact()
        return units

    def _sure_part(self, pending: str) -> int:
        """Length of ``pending`` without a last word that may still grow and the words that lean on it."""
        words = [(m.start(), m.group()) for m in _WORD.finditer(pending)]
        keep = len(words)
        if not pending[-1:].isspace() and not ends_like_sentence(pending):
            keep -= 1
        while keep > 1 and self._cutter.leans(words[keep - 1][1].lower()):
            keep -= 1
        return words[keep][0] if 0 < keep < len(words) else len(pending)

    def _emit(self, cut: int, now_s: float, more: bool) -> list[Unit]:
        cut = max(cut, self._start + 1)
        spoken = self._text[self._start : cut].rstrip()
        before = self._text[max(self._sentence, self._start - _CONTEXT_CHARS) : self._start]
        kind = self._pass_ends(cut)
        self._weight -= weight(self._text[self._start : cut])
        self._start = cut
        self._since_s = None
        pieces = self._pieces(spoken)
        last = cut >= len(self._text) and not more
        if not any(c.isalnum() or c in _SPOKEN_SYMBOLS for piece in pieces for c in piece.text):
            return []  # nothing in it can be said
        first = now_s >= self._heard_until_s
        letters = sum(weight(piece.text) for piece in pieces)
        self._heard_until_s = max(self._heard_until_s, now_s) + letters * _LETTER_S / max(self._speed, 0.1)
        return [
            Unit(
                pieces,
                self._ending(spoken, kind, last),
                0.0,
                self._speed,
                self._volume,
                self._emotion,
                first,
                before.replace(ATOM, "").strip(),
                "" if kind is not None else self._rest_of_sentence(),
            )
        ]

    def _ending(self, spoken: str, kind: str | None, last: bool) -> str:
        if kind == "paragraph":
            return "paragraph"
        if _ends_in_title(spoken):
            return "sentence" if last else "none"
        if kind is not None or ends_like_sentence(spoken):
            return "sentence"
        bare = spoken.rstrip("\"'”’»)]}」』）】 ")
        if bare[-1:] in _CLAUSE_MARKS or bare.endswith(" -"):
            return "clause"
        # A lone word pushed without delay is most likely a token of a sentence.
        return "sentence" if last and (self._delay_s > 0 or " " in spoken) else "none"

    def _pass_ends(self, cut: int) -> str | None:
        """Drop the sentence ends up to ``cut``; the kind of the one that lies exactly there."""
        kind: str | None = None
        while self._ends and self._ends[0].at <= cut:
            end = self._ends.popleft()
            self._sentence = end.at
            if end.at == cut:
                kind = end.kind
        return kind

    def _rest_of_sentence(self) -> str:
        end = self._ends[0].at if self._ends else len(self._text)
        return self._text[self._start : min(end, self._start + _CONTEXT_CHARS)].replace(ATOM, "").strip()

    def _pieces(self, spoken: str) -> tuple[Spoken, ...]:
        pieces: list[Spoken] = []
        parts = spoken.split(ATOM)
        for i, part in enumerate(parts):
            if i:
                pieces.append(self._atoms.popleft())
            if part:
                pieces.append(Text(part))
        return tuple(pieces)

    # -- the text buffer ---------------------------------------------------------------------------------------

    def _skip_space(self) -> None:
        begin = self._start
        while self._start < len(self._text) and self._text[self._start].isspace():
            self._start += 1
        self._weight -= self._start - begin
        while self._ends and self._ends[0].at <= self._start:
            self._ends.popleft()
            self._sentence = self._start

    def _compact(self) -> None:
        """Forget what was said, but for the context of the sentence that goes on."""
        drop = max(min(self._sentence, self._start), self._start - 2 * _CONTEXT_CHARS)
        drop = min(drop, self._scan_sentence, self._scan) if self._start < len(self._text) else drop
        if drop <= 0:
            return
        self._text = self._text[drop:]
        self._start -= drop
        self._sentence = max(0, self._sentence - drop)
        self._scan = max(0, self._scan - drop)
        self._scan_sentence = max(0, self._scan_sentence - drop)
        if self._undecided_at is not None:
            self._undecided_at -= drop
        self._ends = deque(replace(end, at=end.at - drop) for end in self._ends)

    def _note_wait(self, now_s: float) -> None:
        if self._text[self._start :].strip():
            if self._since_s is None:
                self._since_s = now_s
        else:
            self._since_s = None
            self._looks_done = False


_WORD = re.compile(r"\S+")
_CLAUSE_MARKS = tuple(",;:—–，、；：،؛·")
_SPOKEN_SYMBOLS = frozenset("$€£¥%&@#+=<>§©®°½¼¾±×÷")


def _ends_in_title(text: str) -> bool:
    words = text.split()
    return bool(words) and words[-1].endswith(".") and words[-1][:-1].lower() in TITLES
