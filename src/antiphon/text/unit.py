"""The currency of the text room: pieces of marked-up text, and the speakable unit made of them."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text as the user wrote it (markdown and emoji may still be inside)."""

    text: str


@dataclass(frozen=True, slots=True)
class Spell:
    """Text to be spelled character by character (``<spell>``)."""

    text: str


@dataclass(frozen=True, slots=True)
class Ipa:
    """One word given by its phonemes (``<<k|ɑ|ɹ>>`` or ``[word](/ipa/)``). ``text`` is what a word time shows."""

    text: str
    phonemes: str


@dataclass(frozen=True, slots=True)
class Respelled:
    """Words that are said as others are written (``Nginx`` as "engine x"). ``text`` is what word times show."""

    text: str
    spoken: str


@dataclass(frozen=True, slots=True)
class Break:
    seconds: float


@dataclass(frozen=True, slots=True)
class Speed:
    ratio: float


@dataclass(frozen=True, slots=True)
class Volume:
    ratio: float


@dataclass(frozen=True, slots=True)
class Emotion:
    name: str


@dataclass(frozen=True, slots=True)
class Sound:
    """A non-verbal token such as ``[laughter]``."""

    name: str


Spoken: TypeAlias = Text | Spell | Ipa | Respelled
Piece: TypeAlias = Text | Spell | Ipa | Respelled | Break | Speed | Volume | Emotion | Sound


@dataclass(frozen=True, slots=True)
class Unit:
    """What one synthesis job speaks.

    ``pieces``: spoken pieces in order, one prosody throughout (a change of speed, volume or a break ends a unit).
    ``ending``: how the text ends here, which decides the pause after it: "none" (cut inside a phrase), "clause"
    (, ; : or a dash), "sentence" (. ! ? and their kin), "paragraph" (blank line).
    ``pause_s``: an explicit break after it (``<break/>``), in addition.
    ``first``: the first unit after silence (kept small so that it starts early).
    ``before`` and ``after``: text of the *same sentence* around a unit that was cut inside it, as far as it was known
    then: a voice may read it for intonation, but must not speak it.
    """

    pieces: tuple[Spoken, ...]
    ending: str = "sentence"
    pause_s: float = 0.0
    speed: float = 1.0
    volume: float = 1.0
    emotion: str | None = None
    first: bool = False
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)
