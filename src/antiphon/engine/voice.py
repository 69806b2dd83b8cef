"""What a whole-utterance voice must offer so that the job engine can stream it."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import Rendered, SpeechConfig, VoiceInfo
from antiphon.text.languages import base_language
from antiphon.text.unit import Unit


class JobVoice(Protocol):
    """A voice that turns one speakable unit into audio in bounded quanta of work."""

    name: str
    """Engine name ("hibari", "kokoro")."""

    sample_rate_hz: int

    quantum_bound_s: float
    """Longest time that one ``next()`` of :meth:`speak` may take on the reference core; stated, and tested."""

    @property
    def voices(self) -> tuple[VoiceInfo, ...]: ...

    def speak(self, voice: str, unit: Unit, at_sample: int, seed: int, after: str | None) -> Iterator[Rendered]:
        """Render ``unit`` so that it starts at absolute stream position ``at_sample``.

        Each ``next()`` is one quantum: the scheduler may run other work between two of them. ``after`` is the ending of
        the unit before it in this stream (None at the start): the pause that it calls for is rendered first.
        Thread-safe: several streams are rendered at once by several workers. Raises ``EngineFailed``.
        """
        ...

    def estimate_s(self, unit: Unit) -> float:
        """Expected worker seconds for the whole unit."""
        ...

    def warm_up(self) -> None: ...


@runtime_checkable
class BlendingVoice(Protocol):
    """A voice engine that has more voices than it lists: any blend of them."""

    def find(self, name: str) -> VoiceInfo | None:
        """A voice that is not listed, by its name; None if the name cannot mean one.

        Raises ``InvalidInput`` for a blend that is written wrongly, ``ModelUnavailable`` for one that needs something.
        """
        ...


def require_voice(engine: str, info: VoiceInfo | None, config: SpeechConfig) -> VoiceInfo:
    """``info``: what ``engine`` found by ``config.voice``. Raises ``InvalidInput`` if that is nothing, or no voice for
    the language."""
    if info is None:
        raise InvalidInput(f"voice {config.voice!r} is not a voice of {engine}", "voice")
    if base_language(config.language) != base_language(info.language):
        raise InvalidInput(
            f"voice {info.name!r} speaks {info.language!r}, not {config.language!r}; GET /voices lists the others",
            "language",
        )
    return info
