"""Where a sentence may be cut: the small first phrase after silence, and the parts of one that is too long.

Pure functions of the text from the unit's start. Each looks at a bounded window, and answers the same for any longer
text, so that the units do not depend on how the text arrived in tokens.
"""

import re

from antiphon.text.languages import UNSPACED, is_spaced
from antiphon.text.weight import Budget, char_weight, weight, word_count
from antiphon.text.word_bonds import CLOSERS, WordBonds

FIRST_LEAST_WORDS = 3
FIRST_MOST_WORDS = 8
_TAIL_AFTER_COMMA = 2
_TAIL_AFTER_WORD = 4
_FIRST_WINDOW = 240
_FIRST_HAN = (4, 20)
_FIRST_THAI = (8, 48)
"""Characters of a first unit in a script without spaces: at least, and about at most."""

LOOK_AHEAD = 40
_WORD = re.compile(r"\S+")
_WIDE_CLAUSE = "，、；：,;:…—～"
_CLAUSE = re.compile(rf"(?:[,;:،؛·–—][{re.escape(CLOSERS)}]*(?=\s)|[，、；：—…][{re.escape(CLOSERS)}]*)")
_COMBINING_START = re.compile(
    r"[\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309aー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ]"
)
_PREPOSED_THAI = frozenset("เแโใไ")
_NEVER_FIRST = _WIDE_CLAUSE + "。！？．.!?" + CLOSERS
_HIRAGANA = re.compile(r"[\u3041-\u3096]")
_AFTER_HAN = frozenset("的了着过吗吧呢啊是在就也都还和")


class PhraseCutter:
    """Cuts within a sentence, for one language."""

    def __init__(self, language: str, budget: Budget) -> None:
        self.bonds = WordBonds(language)
        self._spaced = is_spaced(language)
        self._budget = budget

    # -- the first unit ----------------------------------------------------------------------------------------

    def first(self, text: str, start: int, end: int | None, known: int) -> int | None:
        """Where the first unit ends: an index, or None to wait for more text.

        ``end`` is where the sentence ends, None while unknown; text from ``known`` on may belong to another sentence.
        """
        limit = known if end is None else end
        window = text[start : min(limit, start + _FIRST_WINDOW)]
        if end is not None and end - start > _FIRST_WINDOW:
            end = None
        if self._is_wide(window):
            cut = self._first_wide(window, None if end is None else end - start)
        else:
            cut = self._first_spaced(window, None if end is None else end - start)
        return None if cut is None else start + cut

    def _is_wide(self, window: str) -> bool:
        letter = next((c for c in window if c.isalpha()), " ")
        return not self._spaced or UNSPACED.match(letter) is not None

    def _first_spaced(self, window: str, end: int | None) -> int | None:
        words = [(m.start(), m.end(), m.group()) for m in _WORD.finditer(window)]
        growing = end is None and bool(words) and words[-1][1] == len(window)
        whole = len(words) - growing

        def tail(after: int, least: int) -> bool | None:
            """Whether at least ``least`` words of this sentence follow word ``after``; None: not known yet."""
            if len(words) - after - 1 >= least:
                return True
            return False if end is not None else None

        if words and words[0][1] > self._budget.chars // 2 + LOOK_AHEAD:
            return self.within(window, 0, self._budget.chars // 2)  # one endless word
        count = 0
        for i in range(len(words) - 1):
            count += word_count(words[i][2])
            if count < FIRST_LEAST_WORDS or self._in_bracket(window, words[i][1]):
                continue
            word = words[i][2]
            if self.bonds.clause_ends(word):
                enough = tail(i, _TAIL_AFTER_COMMA)
                if enough is None:
                    return None
                if enough:
                    return words[i + 1][0]
            elif self.bonds.phrase_starts(words[i + 1][2], word, late=count > FIRST_LEAST_WORDS):
                enough = tail(i, _TAIL_AFTER_WORD)
                if enough is None:
                    return None
                if enough:
                    for j in (i + 1, i + 2):
                        if self.bonds.clause_ends(words[j][2]):
                            return words[j + 1][0]
                    return words[i + 1][0]
            elif i + 1 >= whole and end is None:
                return None
            if count > FIRST_MOST_WORDS and len(words) > i + 3:
                return self._forced(window, words[: i + 1])
        if end is not None:
            return end
        if len(window) >= _FIRST_WINDOW:
            return self._forced(window, words) if len(words) > 3 else self.within(window, 0, self._budget.chars // 2)
        return None

    def _forced(self, window: str, words: list[tuple[int, int, str]]) -> int:
        """No break offers itself among these words: the least bad place after three to six of them."""
        best, best_cost = words[min(4, len(words) - 1)][0], 1e9
        for i in range(2, min(len(words) - 1, 7)):
            word, following = words[i][2].lower(), words[i + 1][2].lower()
            cost = abs(i + 1 - 5) * 1.0
            cost += 6 * self.bonds.leans(word) + 8 * self.bonds.belong(word, following)
            cost -= 3 * self.bonds.introduces(following)
            cost += 20 * self._in_bracket(window, words[i][1])
            if cost < best_cost:
                best, best_cost = words[i + 1][0], cost
        return best

    def _first_wide(self, window: str, end: int | None) -> int | None:
        letter = next((c for c in window if c.isalpha()), " ")
        least, most = _FIRST_HAN if letter > "\u2e7f" or (not self._spaced and letter.isascii()) else _FIRST_THAI
        known = len(window) if end is None else end
        for i in range(least, min(known - 2, most + 2)):
            left, right = window[i - 1], window[i]
            if right.isspace() or right in _WIDE_CLAUSE + CLOSERS or self._in_bracket(window, i):
                continue
            if left in _WIDE_CLAUSE and not right.isdigit():
                return i
            if left.isspace() and (UNSPACED.match(right) or UNSPACED.match(window[i - 2])):
                return i
        if known >= most + 6:
            return self._wide_boundary(window, least + 2, most)
        return end

    # -- parts of a long sentence ------------------------------------------------------------------------------

    def reach(self, text: str, start: int, budget: int | None = None) -> int | None:
        """The index up to which text from ``start`` fits the budget; None if all of it does."""
        chars = self._budget.chars if budget is None else budget
        if len(text) - start <= chars:
            rest = text[start:]
            if len(rest.split()) <= self._budget.words and weight(rest) <= chars:
                return None
        used, words, spaced = 0, 0, True
        for i in range(start, len(text)):
            c = text[i]
            used += 1 if c.isascii() and not c.isdigit() else char_weight(c)
            if c.isspace():
                spaced = True
            elif spaced:
                words += 1
                spaced = False
            if used > chars or words > self._budget.words:
                return i
        return None

    def within(self, text: str, start: int, budget: int | None = None) -> int:
        """The best place to cut so that text[start:cut] fits: after a clause, else a phrase, a word, or anywhere."""
        reach = self.reach(text, start, budget)
        limit = len(text) if reach is None else max(reach, start + 1)
        window = text[start : limit + LOOK_AHEAD]
        size = limit - start
        low, high = int(size * 0.3), max(1, int(size * 0.85))
        for cuts in (self._clause_cuts(window, size), self._phrase_cuts(window, size)):
            good = [cut for cut in cuts if low <= cut <= high and not self._in_bracket(window, cut)]
            if good:
                return start + good[-1]
        plain = self._word_cuts(window, size)
        for low_, high_ in ((low, high), (1, size)):
            good = [cut for cut in plain if low_ <= cut <= high_]
            if good:
                return start + good[-1]
        return start + self._hard(window, size)

    def _clause_cuts(self, window: str, size: int) -> list[int]:
        cuts = []
        for clause in _CLAUSE.finditer(window):
            at = clause.end()
            while at < len(window) and window[at].isspace():
                at += 1
            if at <= size:
                cuts.append(at)
        return cuts

    def _phrase_cuts(self, window: str, size: int) -> list[int]:
        words = [(m.start(), m.group()) for m in _WORD.finditer(window)]
        return [
            words[i + 1][0]
            for i in range(len(words) - 1)
            if words[i + 1][0] <= size and self.bonds.phrase_starts(words[i + 1][1], words[i][1], late=True)
        ]

    def _word_cuts(self, window: str, size: int) -> list[int]:
        words = [(m.start(), m.group()) for m in _WORD.finditer(window)]
        cuts: list[int] = []
        poor: list[int] = []
        for i in range(len(words) - 1):
            at = words[i + 1][0]
            if at > size:
                break
            word, following = words[i][1].lower(), words[i + 1][1].lower()
            (poor if self.bonds.leans(word) or self.bonds.belong(word, following) else cuts).append(at)
        if not cuts and UNSPACED.search(window):
            return [self._wide_boundary(window, max(1, size // 2), size)]
        return cuts or poor

    def _hard(self, window: str, size: int) -> int:
        """One endless word: after a separator if it has one, by tens if it is digits, else at the limit."""
        if window[:size].isdigit():
            return max(1, min(size, 30))
        for at in range(size, size // 2, -1):
            if window[at - 1] in "/&?=-_.,;:" and not window[at - 1 : at + 1].isdigit():
                return at
        base = size
        while base > size // 2 and base < len(window) and _COMBINING_START.match(window[base]):
            base -= 1
        return base if base > size // 2 else size  # endless marks on one letter: anywhere is as good

    @staticmethod
    def _wide_boundary(window: str, low: int, high: int) -> int:
        """The best cut in an unspaced run: after a particle or where the script changes, never inside a Latin word."""
        high = min(high, len(window) - 1)
        best, best_cost = max(1, high), 1e9
        for i in range(max(1, low), high + 1):
            left, right = window[i - 1], window[i]
            cost = (high - i) * 0.15
            if right.isspace() or left.isspace() or left in _WIDE_CLAUSE:
                cost -= 6
            if _HIRAGANA.match(left) and not _HIRAGANA.match(right):
                cost -= 4
            if left in _AFTER_HAN:
                cost -= 2
            if _COMBINING_START.match(right) or left in _PREPOSED_THAI or right in _NEVER_FIRST:
                cost += 50
            if left.isascii() and right.isascii() and left.isalnum() and right.isalnum():
                cost += 20
            if left.isdigit() and (right.isdigit() or right in ".,．"):
                cost += 20
            if cost < best_cost:
                best, best_cost = i, cost
        while best < len(window) and window[best].isspace():
            best += 1
        return best

    @staticmethod
    def _in_bracket(window: str, at: int) -> bool:
        return any(window.rfind(o, 0, at) > window.rfind(c, 0, at) for o, c in ("()", "[]", "（）", "「」", "『』"))
