"""What happens to a conversation, from wherever."""

from dataclasses import dataclass
from typing import TypeAlias

from antiphon.core.brain import BrainEvent
from antiphon.core.event import Event
from antiphon.core.turns import TurnEvent


@dataclass(frozen=True, slots=True)
class Moment:
    """When: monotonic seconds, and the caller's media time in samples of the ear."""

    now_s: float
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Begun:
    """The client is there: greet."""


@dataclass(frozen=True, slots=True)
class FromBrain:
    request_id: str
    event: BrainEvent


@dataclass(frozen=True, slots=True)
class FromVoice:
    """An event of the speech's stream: ``Audio``, ``WordTimes``, ``Flushed``, ``Failed``; others are ignored."""

    speech_id: str
    event: Event


@dataclass(frozen=True, slots=True)
class Played:
    """The client has played up to this sample (of the voice's rate)."""

    speech_id: str
    sample: int


@dataclass(frozen=True, slots=True)
class MarkSent:
    """A mark was sent behind the speech's audio up to ``sample``."""

    speech_id: str
    name: str
    sample: int


@dataclass(frozen=True, slots=True)
class MarkReturned:
    speech_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Truncated:
    """After a cancel, the client's own word for where it stopped."""

    speech_id: str
    sample: int


@dataclass(frozen=True, slots=True)
class Underran:
    """The client had nothing to play in the middle of a speech."""

    speech_id: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    call_id: str
    content: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Written:
    """The user wrote instead of speaking."""

    text: str


@dataclass(frozen=True, slots=True)
class Silenced:
    """The user wants silence (a button), and says nothing."""


@dataclass(frozen=True, slots=True)
class DtmfPressed:
    digit: str


@dataclass(frozen=True, slots=True)
class EarFailed:
    """The recogniser died or fell silent; another one listens from here on."""

    message: str


@dataclass(frozen=True, slots=True)
class ClientLost:
    """The client's connection broke; it may come back."""


@dataclass(frozen=True, slots=True)
class ClientBack:
    """The same client is there again, with an empty buffer."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The client has hung up."""


@dataclass(frozen=True, slots=True)
class Tick:
    """The time of ``deadline_s`` has come."""


ConversationEvent: TypeAlias = (
    Begun
    | TurnEvent
    | FromBrain
    | FromVoice
    | Played
    | MarkSent
    | MarkReturned
    | Truncated
    | Underran
    | ToolFinished
    | Written
    | Silenced
    | DtmfPressed
    | EarFailed
    | ClientLost
    | ClientBack
    | Closed
    | Tick
)
