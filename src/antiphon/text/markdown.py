"""Incremental stripper of markdown and emoji: what an assistant formats for the eye becomes what can be said.

Words, numbers and addresses keep their bytes: ``2 * 3``, ``snake_case``, ``#1``, ``C#`` and URLs pass unchanged.
"""

import re

from antiphon.text.emoji import EmojiStripper

HARD_BREAK = "\u2028"
"""LINE SEPARATOR, put where a heading, list item, table row or line of code ends: the sentence ends there too."""

# What starts a construct anywhere in a line. A backslash may escape the next character.
_SPECIAL = re.compile(r"[*_~`\[!\n\\|<]")
_SPACES = re.compile(r"[ \t]*")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_BULLET = re.compile(r"[-+*•‣◦][ \t]+(?:\[[ xX]\][ \t]+)?(?=[^ \t])")
_QUOTE = re.compile(r">[ \t]?")
_RULE = re.compile(r"(?:([-*_=])[ \t]*)(?:\1[ \t]*){2,}(?=\n)")
_TABLE_RULE = re.compile(r"\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*(?=\n)")
_FENCE = re.compile(r"`{3,}[ \t]*[\w+#.-]*[ \t]*(?=\n)")
# Prefixes of the above: worth waiting for the next character.
_BLOCK_START = re.compile(
    r"#{1,6}[ \t]*|[-+*•‣◦][ \t]*(?:\[(?:[ xX]\]?[ \t]*)?)?|([-*_=])[ \t]*(?:\1[ \t]*)*"
    r"|\|[-:| \t]*|`{3,}[ \t]*[\w+#.-]{0,20}[ \t]*"
)
# No character of these can be read in two ways: alternatives that overlap try all of them, which takes for ever.
_TARGET = r"(?:[^()\s]|\([^()\s]{0,1000}\)){0,1000}"
_LINK = re.compile(rf"!?\[([^\[\]\n]{{0,300}})\]\({_TARGET}(?:[ \t]+\"[^\"\n]{{0,300}}\")?\)")
_LINK_START = re.compile(
    rf"!?\[[^\[\]\n]{{0,300}}(?:\](?:\({_TARGET}(?:\([^()\s]{{0,1000}}|[ \t]+(?:\"[^\"\n]{{0,300}}\"?)?)?)?)?"
)
_AUTOLINK = re.compile(r"<([A-Za-z][^\s<>]{0,300}(?:://|@)[^\s<>]{1,300})>")
_AUTOLINK_START = re.compile(r"<[A-Za-z][^\s<>]{0,300}")
_ADDRESS = re.compile(r"://|@|^www\.|\w\.\w+/")
_LIST_LINE = re.compile(r"\s*\d{1,3}[.)]\s")
_LONGEST_RUN = 100
"""Marks in a row that are judged together; a longer run is several."""
_ESCAPABLE = frozenset("\\*_`~#[]()<>|!+-.{}")


class MarkdownStripper:
    """Strips deltas of markdown. At most a few characters wait for their successor; a link waits for its end."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._held = ""
        self._line_start = True
        self._line = ""
        self._hard_line = False
        self._table = False
        self._fenced = False
        self._code = False
        self._word = ""
        self._before = ""
        self._open = {"*": 0, "_": 0, "~": 0}
        self._emoji = EmojiStripper()

    @property
    def held_chars(self) -> int:
        return len(self._held)

    def feed(self, delta: str) -> str:
        return self._strip(self._held + delta, last=False)

    def settle(self) -> str:
        """Decide about what is held as if a space came next; open emphasis stays open."""
        return self._strip(self._held, last=True)

    def finish(self) -> str:
        """The text ends here; the next one starts afresh, at the start of a line."""
        out = self._strip(self._held, last=True)
        self._reset()
        return out

    def _strip(self, text: str, last: bool) -> str:
        self._held = ""
        out: list[str] = []
        at = 0
        while at < len(text):
            if self._line_start:
                end = self._block(text, at, out, last)
                if end is None:
                    self._held = text[at:]
                    break
                at = end
                if self._line_start or at >= len(text):
                    continue
            special = _SPECIAL.search(text, at)
            stop = len(text) if special is None else special.start()
            plain = text[at:stop]
            if self._table and not self._fenced:
                plain = plain.rstrip(" \t")  # a bar takes the space before it along
            self._plain(plain, out)
            space = text[at + len(plain) : stop]
            if special is None:
                if last:
                    self._plain(space, out)
                else:
                    self._held = space
                break
            if special.group() != "|":
                self._plain(space, out)
            end = self._inline(text, stop, out, last)
            if end is None:
                self._held = text[stop:]
                break
            at = end
        return "".join(out)

    # -- lines -------------------------------------------------------------------------------------------------

    def _block(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        """Read what may open a line. Returns where to go on, or None to wait for more."""
        indent = _SPACES.match(text, at)
        start = indent.end() if indent else at
        if start > at:
            self._plain(text[at:start], out)
            return start
        if text[at] == "\n":
            self._line_start = False
            return at
        padded = text + "\n" if last else text
        if fence := _FENCE.match(padded, at):
            self._fenced = not self._fenced
            return self._drop_line(text, fence.end())
        if not self._fenced:
            for rule in (_RULE, _TABLE_RULE):
                if found := rule.match(padded, at):
                    return self._drop_line(text, found.end())
            if not last and len(text) - at < 200 and _BLOCK_START.fullmatch(text, at):
                return None
            if heading := _HEADING.match(text, at):
                self._hard_line = True
                self._hard(out)
                self._line_start = False
                return heading.end()
            if bullet := _BULLET.match(text, at):
                self._hard_line = True
                self._hard(out)
                self._line_start = False
                return bullet.end()
            if quote := _QUOTE.match(text, at):
                return quote.end()
            if text[at] == "|":
                self._table = self._hard_line = True
                self._hard(out)
                self._line_start = False
                spaces = _SPACES.match(text, at + 1)
                return spaces.end() if spaces else at + 1
        self._line_start = False
        return at

    def _drop_line(self, text: str, end: int) -> int:
        self._line_start = False
        self._hard_line = True
        return min(end, len(text))

    def _hard(self, out: list[str]) -> None:
        if self._before not in ("", HARD_BREAK):
            out.append(HARD_BREAK)
            self._word = ""
            self._before = HARD_BREAK

    def _newline(self, out: list[str]) -> None:
        hard = self._hard_line or self._fenced or _LIST_LINE.match(self._line) is not None
        blank = not self._line.strip() and not self._hard_line
        out.append(HARD_BREAK if hard else "\n")
        self._line, self._word, self._before = "", "", out[-1]
        self._line_start, self._hard_line, self._table, self._code = True, False, False, False
        if blank:
            self._open = {"*": 0, "_": 0, "~": 0}

    # -- within a line -----------------------------------------------------------------------------------------

    def _inline(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        """Read the special character at ``at``. Returns where to go on, or None to wait for more."""
        mark = text[at]
        if mark == "\n":
            self._newline(out)
            return at + 1
        if mark == "`":
            return self._backtick(text, at, out, last)
        if self._code or self._fenced:
            return self._literal(mark, at, out)
        if mark in "[!":
            return self._link(text, at, out, last)
        if mark == "<":
            return self._autolink(text, at, out, last)
        if mark == "|":
            return self._bar(text, at, out, last)
        if mark == "\\":
            if at + 1 == len(text) and not last:
                return None
            if text[at + 1 : at + 2] in _ESCAPABLE and text[at + 1 : at + 2]:
                return self._literal(text[at + 1], at + 1, out)
            return self._literal(mark, at, out)
        return self._emphasis(text, at, out, last)

    def _backtick(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        end = at
        while end < len(text) and text[end] == "`" and end - at < _LONGEST_RUN:
            end += 1
        if end - at == _LONGEST_RUN:
            return end
        padded = text + "\n" if last else text
        if fence := _FENCE.match(padded, at):
            self._fenced = not self._fenced
            self._hard_line = True
            return min(fence.end(), len(text))
        if end == len(text) and not last:
            return None
        if end - at >= 3 and not last and re.fullmatch(r"`{3,}[ \t]*[\w+#.-]{0,20}[ \t]*", text[at:]):
            return None
        if end - at < 3:
            self._code = not self._code
        return end

    def _link(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        if link := _LINK.match(text, at):
            inner = MarkdownStripper()
            inner._line_start = False
            self._plain(inner.feed(link.group(1)) + inner.finish(), out)
            return link.end()
        if not last and (_LINK_START.fullmatch(text, at) or text[at:] == "!"):
            return None
        return self._literal(text[at], at, out)

    def _autolink(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        if link := _AUTOLINK.match(text, at):
            self._plain(link.group(1), out)
            return link.end()
        if not last and (text[at:] == "<" or _AUTOLINK_START.fullmatch(text, at)):
            return None
        return self._literal("<", at, out)

    def _bar(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        if not self._table:
            return self._literal("|", at, out)
        rest = _SPACES.match(text, at + 1)
        end = rest.end() if rest else at + 1
        if end == len(text) and not last:
            return None
        if end < len(text) and text[end] not in "\n|":
            out.append(", ")
            self._before = " "
            self._word = ""
        return end

    def _emphasis(self, text: str, at: int, out: list[str], last: bool) -> int | None:
        mark = text[at]
        end = at
        while end < len(text) and text[end] == mark and end - at < _LONGEST_RUN:
            end += 1
        if end == len(text) and not last:
            return None
        run, after = end - at, text[end : end + 1] or " "
        before = self._before or " "
        if self._keeps(mark, run, before, after):
            self._plain(mark * run, out)
        return end

    def _keeps(self, mark: str, run: int, before: str, after: str) -> bool:
        """Whether a run of ``*``, ``_`` or ``~`` is text rather than emphasis."""
        if mark == "~" and run != 2:
            return True
        opens = not after.isspace() and not before.isalnum()
        closes = not before.isspace() and self._open[mark] > 0
        if ("/" in self._word or "@" in self._word or "www." in self._word) and _ADDRESS.search(self._word):
            keeps = not (closes and not after.isalnum() and (self._open[mark] >= run or mark == "*"))
            if not keeps:
                self._open[mark] = max(0, self._open[mark] - run)
            return keeps
        if mark == "_" and before.isalnum() and after.isalnum():
            return True
        if before.isdigit() and after.isdigit():
            return True
        if closes and (not opens or self._open[mark] >= run):
            self._open[mark] = max(0, self._open[mark] - run)
            return False
        if opens or (mark != "_" and run >= 2 and not after.isspace()):
            self._open[mark] += run
            return False
        return run < 2 or (before.isspace() and after.isspace())

    def _literal(self, text: str, at: int, out: list[str]) -> int:
        self._plain(text, out)
        return at + 1

    def _plain(self, text: str, out: list[str]) -> None:
        if not text:
            return
        text = self._emoji.strip(text)
        if not text:
            return
        out.append(text)
        self._before = text[-1]
        if len(self._line) < 8:
            self._line += text[:8]
        space = max(text.rfind(" "), text.rfind("\t"))
        self._word = text[space + 1 :] if space >= 0 else (self._word + text)[-300:]
