"""Where sentences end, decided from the text alone, with as little look-ahead as the case needs."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from antiphon.text.languages import UNSPACED, base_language, has_ordinal_dot
from antiphon.text.markdown import HARD_BREAK
from antiphon.text.vocabulary import AFTER_CLOCK, CLOCK, MONTHS_DE, NUMBERED, STARTERS, TITLES, TRAILING

Kind: TypeAlias = Literal["sentence", "paragraph", "line"]
"""A sentence's mark, a blank line, or a line end that ends the sentence without a mark (heading, list item)."""


@dataclass(frozen=True, slots=True)
class SentenceEnd:
    """The sentence ends before index ``at`` (closing quotes and white space included)."""

    at: int
    kind: Kind


class _Undecided:
    """More text could change the answer."""


UNDECIDED = _Undecided()

_CANDIDATE = re.compile(f"[.!?…\n{HARD_BREAK}\u2029。！？．｡।॥؟۔።፧։།༎។၊။;\u037e]")
_FULL_WIDTH = "。！？．｡"
_OTHER_STOPS = "।॥؟۔።፧։།༎។။"
_BLANK_LINE = re.compile(f"[\n{HARD_BREAK}][ \t\r]*\n|\u2029")
_CLOSERS = "\"'”’»›)]}」』）】》〉〕］｝"
_WIDE_CLOSERS = "」』）】》〉〕］｝”’"
_STOPS_RUN = re.compile(r"[.!?…。！？｡।॥؟۔]+")
_TOKEN_OPENERS = "\"'“‘«‹([{¿¡「『（【"
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_QUOTATIVE = "とって、，"


def ends_like_sentence(text: str) -> bool:
    """Whether the text's last visible character is a sentence's mark (closing quotes aside)."""
    tail = text[-80:].rstrip().rstrip(_CLOSERS)
    return bool(tail) and tail[-1] in ".!?…" + _FULL_WIDTH + _OTHER_STOPS + "\u037e"


def ends_in_title(text: str) -> bool:
    """Whether the last word is an abbreviation that something always follows ("Mr.")."""
    words = text[-40:].split()
    return bool(words) and words[-1].endswith(".") and words[-1][:-1].lower() in TITLES


class SentenceFinder:
    """Finds sentence ends in a text that grows at its end. Stateless apart from the language."""

    def __init__(self, language: str) -> None:
        self._language = base_language(language)
        self._ordinal_dot = has_ordinal_dot(language)

    def next(self, text: str, begin: int, scan: int, final: bool) -> tuple[SentenceEnd | _Undecided | None, int]:
        """The first sentence end at or after ``scan`` in the sentence that begins at ``begin``.

        Returns (end, where to scan on). ``UNDECIDED``: ask again with more text, from the returned position. None: no
        end in the text so far. ``final``: nothing more comes.
        """
        while True:
            candidate = _CANDIDATE.search(text, scan)
            if candidate is None:
                return None, len(text)
            verdict = self._judge(text, begin, candidate.start(), final)
            if isinstance(verdict, SentenceEnd):
                return verdict, verdict.at
            if isinstance(verdict, _Undecided):
                return verdict, candidate.start()
            scan = verdict

    def _judge(self, text: str, begin: int, at: int, final: bool) -> SentenceEnd | _Undecided | int:
        """The verdict on the mark at ``at``: an end, undecided, or the index to scan on from."""
        mark = text[at]
        if mark in f"\n{HARD_BREAK}\u2029":
            return self._line_end(text, begin, at, final)
        if mark in ";\u037e" and not (mark == "\u037e" or self._language == "el"):
            return at + 1
        run = _STOPS_RUN.match(text, at)
        marks_end = run.end() if run else at + 1
        marks = text[at:marks_end]
        wide = mark in _FULL_WIDTH or mark in _OTHER_STOPS
        if marks_end == len(text) and not final:
            return UNDECIDED
        after = text[marks_end : marks_end + 1]
        # A full-width stop without digits beside it is a Japanese full stop.
        if len(marks) == 1 and (
            (mark == "." and after.isalnum() and not _is_han(after))
            or (mark == "．" and after.isdigit() and text[at - 1 : at].isdigit())
        ):
            return at + 1
        end, closed = marks_end, False
        closers = _WIDE_CLOSERS if wide else _CLOSERS
        while end < len(text) and text[end] in closers:
            end, closed = end + 1, True
        if end == len(text) and not final:
            return UNDECIDED
        if self._in_bracket(text, begin, end):
            return marks_end
        following = text[end : end + 1]
        if wide:
            return self._wide_end(text, end, closed, following)
        if following and not following.isspace():
            return self._glued(text, begin, at, end, marks, following)
        next_at = end
        while next_at < len(text) and text[next_at].isspace():
            next_at += 1
        if next_at == len(text):
            if not final:
                return UNDECIDED
            return SentenceEnd(next_at, "sentence")
        gap = text[end:next_at]
        if _BLANK_LINE.search(gap):
            return SentenceEnd(next_at, "paragraph")
        if HARD_BREAK in gap:
            return SentenceEnd(next_at, "line")
        ends = self._ends_before(text, begin, at, marks, closed, next_at, final)
        if isinstance(ends, _Undecided):
            return ends
        return SentenceEnd(next_at, "sentence") if ends else next_at

    def _line_end(self, text: str, begin: int, at: int, final: bool) -> SentenceEnd | _Undecided | int:
        end = at
        while end < len(text) and text[end].isspace():
            end += 1
        if end == len(text) and not final:
            return UNDECIDED
        if not text[begin:at].strip():
            return end
        gap = text[at:end]
        if _BLANK_LINE.search(gap):
            return SentenceEnd(end, "paragraph")
        if HARD_BREAK in gap:
            return SentenceEnd(end, "line")
        # A short line followed by a capital is a title or a verse; a long one was wrapped by an editor.
        line = at - max(text.rfind("\n", begin, at) + 1, begin)
        if line < 45 and end < len(text) and text[end].isupper() and text[at - 1] not in ",;:-":
            return SentenceEnd(end, "line")
        return end

    @staticmethod
    def _in_bracket(text: str, begin: int, at: int) -> bool:
        low = max(begin, at - 120)
        return any(text.rfind(o, low, at) > text.rfind(c, low, at) for o, c in ("()", "[]", "（）"))

    @staticmethod
    def _wide_end(text: str, end: int, closed: bool, following: str) -> SentenceEnd | int:
        if closed and following and following in _QUOTATIVE:
            return end
        while end < len(text) and text[end] in " \t\u3000":
            end += 1
        return SentenceEnd(end, "sentence")

    @staticmethod
    def _glued(text: str, begin: int, at: int, end: int, marks: str, following: str) -> SentenceEnd | int:
        """A mark with no space after it: an end only between scripts, or where an assistant forgot the space."""
        if _is_han(following) or _is_han(text[at - 1 : at]):
            return SentenceEnd(end, "sentence")
        start = max(text.rfind(" ", begin, at), text.rfind("\n", begin, at), begin - 1) + 1
        word = text[start:at]
        address = any(c in word for c in "/=&@#")
        if ("!" in marks or "?" in marks) and following.isupper() and text[at - 1 : at].islower() and not address:
            return SentenceEnd(end, "sentence")
        return end

    def _ends_before(
        self, text: str, begin: int, at: int, marks: str, closed: bool, next_at: int, final: bool
    ) -> bool | _Undecided:
        """Whether a mark followed by white space ends the sentence, given the word after it."""
        first = text[next_at]
        opener = first in _TOKEN_OPENERS
        if "!" in marks or "?" in marks:
            return not (closed and first.islower())
        if len(marks) > 1 or marks == "…":
            return not first.islower()
        start = at
        low = max(begin, at - 60)
        while start > low and not text[start - 1].isspace() and text[start - 1] not in _TOKEN_OPENERS + "—–-/":
            start -= 1
        word = text[start:at]
        if word and text[start - 1 : start] == "-":
            return True
        lower = word.lower()
        if closed and not (word and lower in TITLES):
            return not first.islower()
        if not text[begin:start].strip(" \t\n" + _TOKEN_OPENERS) and word.isdigit() and len(word) <= 3:
            return False  # "1. Apples": the number of a list item
        needs_word = (
            lower in TITLES
            or lower in TRAILING
            or lower == "etc"
            or _DOTTED.fullmatch(word) is not None
            or (len(word) == 1 and word.isalpha())
            or (self._ordinal_dot and word.isdigit() and len(word) <= 2)
        )
        if not needs_word:
            if opener or not first.islower():
                return True
            return not _looks_abbreviated(word)
        stop = next_at
        while stop < len(text) and not text[stop].isspace():
            stop += 1
        if stop == len(text) and not final:
            return UNDECIDED
        following = text[next_at:stop].strip(_TOKEN_OPENERS + ".,!?;:…" + _CLOSERS)
        previous = text[max(begin, start - 40) : start].split()
        return self._abbreviation_ends(word, following, previous[-1] if previous else "")

    def _abbreviation_ends(self, word: str, following: str, previous: str) -> bool:
        lower, after = word.lower(), following.lower()
        capital = following[:1].isupper()
        if following[:1].isdigit():
            return lower not in TITLES and lower not in NUMBERED and not (len(word) == 1 and word.isupper())
        if UNSPACED.match(following):
            return True
        if lower in ("st", "dr", "mt", "ft", "sr", "fr") and previous[:1].isupper():
            return capital and after in STARTERS  # "Main St. The" against "St. Paul"
        if lower in TITLES:
            return False
        if self._ordinal_dot and word.isdigit():
            return capital and after in STARTERS and after not in MONTHS_DE
        if not capital:
            return bool(following) and not following[0].islower() and following[0] not in "(["
        if lower == "etc":
            return True
        if lower in CLOCK:
            return after not in AFTER_CLOCK
        return after in STARTERS or (word == "I" and previous[:1].islower())


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a whole text, stripped of outer white space."""
    finder = SentenceFinder(language)
    begin = scan = 0
    found: list[str] = []
    while True:
        end, scan = finder.next(text, begin, scan, final=True)
        at = end.at if isinstance(end, SentenceEnd) else len(text)
        if text[begin:at].strip():
            found.append(text[begin:at].strip())
        if not isinstance(end, SentenceEnd):
            return found
        begin = at


def _is_han(character: str) -> bool:
    """Whether it is Han or kana (Thai, say, writes abbreviations with full stops and no spaces)."""
    return character > "\u2e7f" and UNSPACED.match(character) is not None


def _looks_abbreviated(word: str) -> bool:
    """Whether a word before a full stop and a small letter is more likely an unknown abbreviation than a last word."""
    if not word or not word.isalpha():
        return False
    return len(word) <= 4 and not any(c in "aeiouyáéíóúäöüàèìòùâêîôû" for c in word.lower()) and word.isascii()
