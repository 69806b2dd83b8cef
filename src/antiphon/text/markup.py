"""Incremental reader of the speech tags that voice developers write into a transcript.

Source: Cartesia's sonic-3 markup (speed, volume, emotion, break, spell, [laughter], inline IPA) and the
``[word](/phonemes/)`` spelling that Kokoro's users know. A tag may be split over any number of deltas.
"""

import re

from antiphon.text.phonemes import check_pieces
from antiphon.text.unit import Break, Emotion, Ipa, Piece, Sound, Speed, Spell, Text, Volume

SPEED_TAG_RANGE = (0.6, 1.5)
VOLUME_TAG_RANGE = (0.5, 2.0)
BREAK_RANGE_S = (0.0, 30.0)

_SOUND_NAMES = "laughter laughs laugh laughing chuckle chuckles giggle giggles sigh sighs gasp gasps cough breath"
SOUNDS = frozenset(_SOUND_NAMES.split())

# Tags that pages and assistants write; they carry no words, so they are not spoken. Any other ``<name>`` is dropped
# too unless it is glued to a word ("List<String>"), where it is text.
_PAGE_TAG_NAMES = (
    "a b i u s p em br hr h1 h2 h3 h4 h5 h6 ul ol li td th tr sub sup del ins div pre img span code mark small strong "
    "table thead tbody speak prosody phoneme voice say-as audio lang think answer"
)
_PAGE_TAGS = frozenset(_PAGE_TAG_NAMES.split())

_LONGEST_TAG = 240
_LONGEST_SPELL = 2_000
_LONGEST_WORD = 80

_VALUE = r"""(?:"[^"<>]*"|'[^'<>]*'|“[^”<>]*”|[^\s"'<>=/“”]+)"""
_ATTRIBUTE = rf"[A-Za-z][\w:.-]*\s*=\s*{_VALUE}"
_TAG = re.compile(rf"<(/?)([A-Za-z][\w:-]{{0,30}})((?:\s+{_ATTRIBUTE})*)\s*(/?)>")
_TAG_START = re.compile(
    rf"<(?:/?(?:[A-Za-z][\w:-]{{0,30}}(?:\s+{_ATTRIBUTE})*"
    rf"""(?:\s+(?:[A-Za-z][\w:.-]*\s*(?:=\s*(?:"[^"<>]*|'[^'<>]*|“[^”<>]*|[^\s"'<>=/“”]*))?)?)?\s*/?)?)?"""
)
_PAIR = re.compile(rf"([A-Za-z][\w:.-]*)\s*=\s*({_VALUE})")
_IPA = re.compile(r"<<([^\s<>\d]{1,200})>>")
_IPA_START = re.compile(r"<(?:<[^\s<>\d]{0,200}>?)?")
_LINKED_IPA = re.compile(rf"\[([^\[\]\n]{{1,{_LONGEST_WORD}}})\]\(/([^/()\n]{{1,200}})/\)")
_LINKED_IPA_START = re.compile(
    rf"\[(?:[^\[\]\n]{{0,{_LONGEST_WORD}}}|[^\[\]\n]{{1,{_LONGEST_WORD}}}\](?:\((?:/(?:[^/()\n]{{0,200}}/?)?)?)?)"
)
_SOUND = re.compile(r"\[([A-Za-z]{3,12})\]")
_TRIGGER = re.compile(r"[<\[]")
_KNOWN = ("speed", "volume", "emotion", "break", "pause", "spell")
_CERTAIN = re.compile(rf"</?(?:{'|'.join(_KNOWN)})\b")


def check_phonemes(text: str) -> None:
    """Raises ``InvalidInput`` for inline phonemes in ``text`` that are none. For a text that is whole: a stream finds
    out when it comes to them."""
    if "<<" in text or "](/" in text:
        reader = MarkupReader()
        check_pieces(piece for piece in (*reader.feed(text), *reader.finish()) if isinstance(piece, Ipa))


class MarkupReader:
    """Turns deltas of marked-up text into pieces.

    Only what may still become a tag is held back, and never more than a few hundred characters of it: ``5 < 10`` and
    ``<3`` are text. Inside ``<spell>`` text is held until the closing tag (or 2,000 characters).
    """

    def __init__(self) -> None:
        self._held = ""
        self._spelling = False
        self._spell = ""
        self._last = ""

    @property
    def held_chars(self) -> int:
        return len(self._held) + len(self._spell)

    @property
    def releasable(self) -> bool:
        """Whether :meth:`release` would give something."""
        return bool(self._held) and not _CERTAIN.match(self._held)

    def feed(self, delta: str) -> list[Piece]:
        """Read ``delta``; returns the pieces that became certain, adjacent text merged."""
        out: list[Piece] = []
        self._read(self._held + delta, out, last=False)
        return _merged(out)

    def release(self) -> list[Piece]:
        """Give up waiting: what is held becomes text, unless it is the beginning of a known tag."""
        if _CERTAIN.match(self._held):
            return []
        out: list[Piece] = []
        self._read(self._held, out, last=True)
        return _merged(out)

    def finish(self) -> list[Piece]:
        """The input ends here: nothing is held any more. A known tag cut short is dropped, other text is kept."""
        out: list[Piece] = []
        if _CERTAIN.match(self._held):
            self._held = ""
        self._read(self._held, out, last=True)
        self._end_spelling(out)
        self._last = ""
        return _merged(out)

    def _read(self, text: str, out: list[Piece], last: bool) -> None:
        self._held = ""
        at = 0
        while at < len(text):
            trigger = _TRIGGER.search(text, at)
            if trigger is None:
                self._add_text(text[at:], out)
                return
            start = trigger.start()
            self._add_text(text[at:start], out)
            end = self._tag(text, start, out) if text[start] == "<" else self._bracket(text, start, out)
            if end == start:
                if not last and self._may_become(text, start):
                    self._held = text[start:]
                    return
                self._add_text(text[start], out)
                end = start + 1
            at = end

    @staticmethod
    def _may_become(text: str, start: int) -> bool:
        if len(text) - start > _LONGEST_TAG:
            return False
        patterns = (_TAG_START, _IPA_START) if text[start] == "<" else (_LINKED_IPA_START,)
        return any(pattern.fullmatch(text, start) for pattern in patterns)

    def _bracket(self, text: str, start: int, out: list[Piece]) -> int:
        """Read ``[word](/ipa/)`` or ``[laughter]``; returns where it ends, or ``start`` if it is neither."""
        if self._spelling:
            return start
        if word := _LINKED_IPA.match(text, start):
            out.append(Ipa(word.group(1), word.group(2).strip()))
            self._last = "x"
            return word.end()
        if (sound := _SOUND.match(text, start)) and sound.group(1).lower() in SOUNDS:
            out.append(Sound(sound.group(1).lower()))
            return sound.end()
        return start

    def _tag(self, text: str, start: int, out: list[Piece]) -> int:
        """Read a tag or inline IPA at ``start``; returns where it ends, or ``start`` if there is none."""
        if ipa := _IPA.match(text, start):
            phonemes = ipa.group(1).replace("|", "")
            if phonemes:
                out.append(Ipa(phonemes, phonemes))
                self._last = "x"
            return ipa.end()
        tag = _TAG.match(text, start)
        if tag is None:
            return start
        closing, name, attributes = bool(tag.group(1)), tag.group(2).lower(), tag.group(3)
        if name == "spell":
            self._end_spelling(out)
            self._spelling = not closing and not tag.group(4)
            return tag.end()
        if name in _KNOWN:
            if not closing and (piece := _piece(name, attributes)) is not None:
                spelling = self._spelling
                self._end_spelling(out)
                self._spelling = spelling
                out.append(piece)
            return tag.end()
        plain = not closing and not attributes and not tag.group(4) and name not in _PAGE_TAGS
        return start if plain and self._last.isalnum() else tag.end()

    def _add_text(self, text: str, out: list[Piece]) -> None:
        if not text:
            return
        self._last = text[-1]
        if self._spelling:
            self._spell += text
            if len(self._spell) > _LONGEST_SPELL:
                self._end_spelling(out)
                self._spelling = True
        else:
            out.append(Text(text))

    def _end_spelling(self, out: list[Piece]) -> None:
        if self._spell.strip():
            out.append(Spell(self._spell.strip()))
        self._spell = ""
        self._spelling = False


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Adjacent texts made one, in linear time: every lone bracket is a piece of its own."""
    merged: list[Piece] = []
    texts: list[str] = []
    for piece in [*pieces, None]:
        if isinstance(piece, Text):
            texts.append(piece.text)
            continue
        if texts:
            merged.append(Text("".join(texts)))
            texts.clear()
        if piece is not None:
            merged.append(piece)
    return merged


def _piece(name: str, attributes: str) -> Piece | None:
    """The piece that a known tag stands for; None if its attributes make no sense (the tag is then dropped)."""
    values = {key.lower(): value.strip("\"'“” ") for key, value in _PAIR.findall(attributes)}
    if name == "emotion":
        emotion = values.get("value") or values.get("name")
        return Emotion(emotion) if emotion else None
    if name in ("break", "pause"):
        seconds = _seconds(values.get("time", ""))
        return None if seconds is None else Break(_clamp(seconds, BREAK_RANGE_S))
    ratio = _number(values.get("ratio") or values.get("level") or "")
    if ratio is None:
        return None
    return Speed(_clamp(ratio, SPEED_TAG_RANGE)) if name == "speed" else Volume(_clamp(ratio, VOLUME_TAG_RANGE))


def _seconds(text: str) -> float | None:
    parts = re.fullmatch(r"(\d*\.?\d+)\s*(ms|s)", text.lower())
    if parts is None:
        return None
    value = float(parts.group(1))
    return value / 1000 if parts.group(2) == "ms" else value


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d*\.?\d+", text) else None


def _clamp(value: float, bounds: tuple[float, float]) -> float:
    return min(max(value, bounds[0]), bounds[1])
