"""From the text of a request to speakable units: markup, then markdown, then pronunciations, then chunks."""

from collections.abc import Sequence

from antiphon.core.speech import Pronunciation
from antiphon.text.chunk import Chunker
from antiphon.text.markdown import MarkdownStripper
from antiphon.text.markup import MarkupReader
from antiphon.text.pronounce import Pronouncer
from antiphon.text.unit import Emotion, Piece, Sound, Speed, Text, Unit, Volume

_SETTLE_S = 0.1


class SpeechReader:
    """One stream of text on its way to speech. Pure: time is passed in; call :meth:`tick` when :attr:`due_s` has come.

    ``markdown=False`` leaves asterisks and emoji to the voice. ``chunker`` (None: whole phrases and sentences) cuts.
    ``pronunciations``: words that are said otherwise than they are written.
    """

    def __init__(
        self,
        language: str = "en",
        max_buffer_delay_s: float = 3.0,
        markdown: bool = True,
        chunker: Chunker | None = None,
        pronunciations: Sequence[Pronunciation] = (),
    ) -> None:
        self._markup = MarkupReader()
        self._pronouncer = Pronouncer(pronunciations) if pronunciations else None
        self._markdown = MarkdownStripper() if markdown else None
        self._chunker = chunker or Chunker(language, max_buffer_delay_s)
        self._delay_s = max_buffer_delay_s
        self._prosody: list[Piece] = []
        self._pushed_s = 0.0
        self.sounds: list[str] = []
        """Names of the non-verbal tokens met so far ("laughter"); a voice that cannot make them may say so."""

    def push(self, delta: str, now_s: float) -> list[Unit]:
        """Read ``delta``; returns the units that became certain."""
        if not delta:
            return []
        self._pushed_s = now_s
        prosody, self._prosody = self._prosody, []
        pieces = self._markup.feed(delta)
        if self._delay_s <= 0:
            pieces += self._markup.release()
        plain = self._plain(pieces)
        if self._delay_s <= 0:
            plain += self._settle()
        return self._chunker.push(prosody + plain, now_s)

    def set_prosody(self, speed: float | None = None, volume: float | None = None, emotion: str | None = None) -> None:
        """Speed, volume and emotion of the text pushed from here on; None leaves one as it is."""
        held = self._markup.release() if self._markup.held_chars else []
        self._prosody += self._plain(held) + self._settle()
        if speed is not None:
            self._prosody.append(Speed(speed))
        if volume is not None:
            self._prosody.append(Volume(volume))
        if emotion is not None:
            self._prosody.append(Emotion(emotion))

    def flush(self, now_s: float) -> list[Unit]:
        """Let everything go, as if the text ended here."""
        prosody, self._prosody = self._prosody, []
        pieces = prosody + self._plain(self._markup.finish())
        if self._markdown is not None:
            pieces += self._pronounced(self._markdown.finish())
        if self._pronouncer is not None:
            pieces += self._pronouncer.finish()
        units = self._chunker.push(pieces, now_s)
        return units + self._chunker.flush(now_s)

    def tick(self, now_s: float) -> list[Unit]:
        """Let go what has waited long enough."""
        units: list[Unit] = []
        if self._markdown is not None and self._markdown.held_chars and now_s >= self._pushed_s + _SETTLE_S:
            units += self._chunker.push(self._settled_markdown(), self._pushed_s)
        if self._held_chars and now_s >= self._pushed_s + self._delay_s:
            units += self._chunker.push(self._plain(self._markup.release()) + self._settle(), now_s)
        return units + self._chunker.tick(now_s)

    @property
    def due_s(self) -> float | None:
        """When :meth:`tick` has something to do; None while nothing waits."""
        dues = [self._chunker.due_s]
        if self._markdown is not None and self._markdown.held_chars:
            dues.append(self._pushed_s + _SETTLE_S)
        if (self._markup.held_chars and self._markup.releasable) or self._pronouncing:
            dues.append(self._pushed_s + self._delay_s)
        known = [due for due in dues if due is not None]
        return min(known) if known else None

    @property
    def pending_chars(self) -> int:
        """Characters taken in and not yet given out."""
        held = self._held_chars + (0 if self._markdown is None else self._markdown.held_chars)
        return held + self._chunker.pending_chars

    @property
    def _pronouncing(self) -> bool:
        return self._pronouncer is not None and self._pronouncer.held_chars > 0

    @property
    def _held_chars(self) -> int:
        """By markup and pronunciations, which wait as long as text may."""
        return self._markup.held_chars + (0 if self._pronouncer is None else self._pronouncer.held_chars)

    def _plain(self, pieces: list[Piece]) -> list[Piece]:
        plain: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, Text):
                plain += self._pronounced(piece.text if self._markdown is None else self._markdown.feed(piece.text))
                continue
            plain += self._settle()
            if isinstance(piece, Sound):
                self.sounds.append(piece.name)
            plain.append(piece)
        return plain

    def _settle(self) -> list[Piece]:
        """What is no longer waited for."""
        pieces = self._settled_markdown()
        return pieces if self._pronouncer is None else pieces + self._pronouncer.release()

    def _settled_markdown(self) -> list[Piece]:
        return [] if self._markdown is None else self._pronounced(self._markdown.settle())

    def _pronounced(self, text: str) -> list[Piece]:
        if not text:
            return []
        return [Text(text)] if self._pronouncer is None else self._pronouncer.feed(text)
