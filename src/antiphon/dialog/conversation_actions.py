"""What a conversation wants done. Whoever runs it does these in order."""

from dataclasses import dataclass
from typing import TypeAlias

from antiphon.core.brain import BrainRequest, Message
from antiphon.dialog.tool_run import CallTool, CancelTool


@dataclass(frozen=True, slots=True)
class StartBrain:
    """Ask the brain. Its events come back as ``FromBrain`` under ``request_id``."""

    request_id: str
    request: BrainRequest
    speculative: bool


@dataclass(frozen=True, slots=True)
class CancelBrain:
    request_id: str


@dataclass(frozen=True, slots=True)
class Speak:
    """Give text to the voice. The first of a ``speech_id`` opens the speech.

    ``held``: keep the audio back until :class:`ReleaseSpeech`. A new speech of the same reply follows the one before.
    """

    speech_id: str
    text: str
    held: bool


@dataclass(frozen=True, slots=True)
class FlushSpeech:
    """Speak what was given; ``Flushed(marker)`` comes back after its audio."""

    speech_id: str
    marker: int


@dataclass(frozen=True, slots=True)
class FinishSpeech:
    """No more text comes for it: with the answer to its last flush it has said all."""

    speech_id: str


@dataclass(frozen=True, slots=True)
class HoldSpeech:
    """Nothing of it has been sent: keep it back until :class:`ReleaseSpeech`."""

    speech_id: str


@dataclass(frozen=True, slots=True)
class ReleaseSpeech:
    """Send what was kept back, and what will come."""

    speech_id: str


@dataclass(frozen=True, slots=True)
class PauseSpeech:
    """Stop playing at once, but keep all there is: it may turn out that nobody interrupted."""

    speech_id: str


@dataclass(frozen=True, slots=True)
class ContinueSpeech:
    """Play on where :class:`PauseSpeech` stopped."""

    speech_id: str


@dataclass(frozen=True, slots=True)
class CancelSpeech:
    """No more of it: stop the voice, drop what is queued, clear the client's buffer, fading over ``fade_ms``."""

    speech_id: str
    fade_ms: int


@dataclass(frozen=True, slots=True)
class Handover:
    """A person takes over; the agent has fallen silent. ``transcript`` has what was heard, ``ledger`` the decisions."""

    reason: str
    transcript: tuple[Message, ...]
    ledger: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class EndConversation:
    """Hang up."""

    reason: str


Action: TypeAlias = (
    StartBrain
    | CancelBrain
    | Speak
    | FlushSpeech
    | FinishSpeech
    | HoldSpeech
    | ReleaseSpeech
    | PauseSpeech
    | ContinueSpeech
    | CancelSpeech
    | CallTool
    | CancelTool
    | Handover
    | EndConversation
)
