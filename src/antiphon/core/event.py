"""What a stream says back. Plain values; every position is in samples of the stream's model rate."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from antiphon.core.errors import AntiphonError, EngineFailed, InvalidInput
from antiphon.core.hearing import Heard, Listened, SpeechStarted, SpeechStopped, TurnScored

Marker: TypeAlias = Hashable
"""A value that the caller chose; it comes back in :class:`Flushed` after all that was pushed before it."""


@dataclass(frozen=True, slots=True)
class Audio:
    """A piece of encoded audio.

    ``data`` are bytes in the stream's :class:`~antiphon.core.frame.AudioFormat` (whole samples for raw PCM).
    ``start_sample`` and ``samples`` place it in the stream at ``sample_rate_hz``, the *model's* rate: bytes may lag
    behind by what a resampler or codec holds back. ``compute_s`` is the worker time it cost. ``as_json``: ``data`` once
    more as a JSON string (base64, in quotes), from engines that can, where the stream's config asks for it.
    """

    data: bytes
    start_sample: int
    samples: int
    sample_rate_hz: int
    compute_s: float = 0.0
    as_json: bytes = b""


@dataclass(frozen=True, slots=True)
class Timed:
    """A word or phoneme with its place in the stream: ``[start_sample, end_sample)``."""

    text: str
    start_sample: int
    end_sample: int


@dataclass(frozen=True, slots=True)
class WordTimes:
    """Words as the user wrote them (one per whitespace token; per character for scripts without spaces).

    ``normalized`` carries the words as they were spoken ("one hundred dollars"), with their own times.
    """

    words: tuple[Timed, ...]
    normalized: tuple[Timed, ...]
    sample_rate_hz: int


@dataclass(frozen=True, slots=True)
class PhonemeTimes:
    phonemes: tuple[Timed, ...]
    sample_rate_hz: int


@dataclass(frozen=True, slots=True)
class Flushed:
    """All that was pushed before ``flush(marker)`` has been pulled."""

    marker: Marker


@dataclass(frozen=True, slots=True)
class Warned:
    """Something in the input was accepted but could not be honoured (an emotion this voice cannot do, say)."""

    message: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A piece of work failed. The stream lives on unless ``fatal``. ``param``: what was asked for was wrong, and this
    is the field at fault; None: the engine failed."""

    message: str
    fatal: bool = False
    param: str | None = None

    @staticmethod
    def of(error: AntiphonError) -> "Failed":
        return Failed(str(error), param=(error.param or "input") if isinstance(error, InvalidInput) else None)

    @property
    def error(self) -> AntiphonError:
        return EngineFailed(self.message) if self.param is None else InvalidInput(self.message, self.param)


@dataclass(frozen=True, slots=True)
class Saved:
    """The stream has stopped between two steps, for good, and this is the rest of it: the last event. Whatever was made
    before has been pulled. ``voice``: id of the voice that can go on with it."""

    voice: str
    snapshot: bytes


@dataclass(frozen=True, slots=True)
class Unsaved:
    """The stream could not be saved; it goes on."""

    message: str


Event: TypeAlias = (
    Audio
    | WordTimes
    | PhonemeTimes
    | Heard
    | SpeechStarted
    | SpeechStopped
    | TurnScored
    | Listened
    | Flushed
    | Warned
    | Failed
    | Saved
    | Unsaved
)
