"""All that happens in the server, as values in one total order. That order *is* the log: metrics, log lines and
recordings fold over it, and nothing else counts anything.

Every entry carries ``at_s`` (monotonic seconds). Written on the event loop's thread only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["done", "cancelled", "dropped", "failed", "cut"]
"""How a stream ended: all spoken, or heard; cancelled by a message; caller gone or stalled; an error; cut by our
shutdown."""


@dataclass(frozen=True, slots=True)
class ConnectionOpened:
    at_s: float
    request_id: str
    route: str
    key: str


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    at_s: float
    request_id: str
    route: str
    code: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Someone was told no at the door. ``reason``: auth, origin, connections, streams, unready, invalid."""

    at_s: float
    request_id: str
    route: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """``stream`` is unique in this process; ``key`` the API key's name ("" where none is needed); ``voice`` the voice
    that speaks, "" for a stream that listens."""

    at_s: float
    stream: int
    request_id: str
    route: str
    key: str
    engine: str
    voice: str


@dataclass(frozen=True, slots=True)
class TextPushed:
    at_s: float
    stream: int
    chars: int


@dataclass(frozen=True, slots=True)
class AudioSent:
    """Audio was taken to be sent: a stream's first chunk, or what came since the last such entry: told when
    it ends, and before metrics are read. ``audio_s`` is its
    playing time, ``compute_s`` the worker time it cost."""

    at_s: float
    stream: int
    data_bytes: int
    audio_s: float
    compute_s: float


@dataclass(frozen=True, slots=True)
class AudioTaken:
    """Audio was taken in to be heard: ``audio_s`` of it, and ``compute_s`` of worker time since the last such entry."""

    at_s: float
    stream: int
    audio_s: float
    compute_s: float


@dataclass(frozen=True, slots=True)
class TextHeard:
    """Words became final."""

    at_s: float
    stream: int
    chars: int
    words: int


@dataclass(frozen=True, slots=True)
class Finalized:
    """A flush was answered, ``waited_s`` after it was asked for."""

    at_s: float
    stream: int
    waited_s: float


@dataclass(frozen=True, slots=True)
class TurnOver:
    """A speaker's turn was decided to be over. ``reason``: model, timeout, closed."""

    at_s: float
    stream: int
    reason: str


@dataclass(frozen=True, slots=True)
class StreamWarned:
    at_s: float
    stream: int
    message: str


@dataclass(frozen=True, slots=True)
class StreamEnded:
    at_s: float
    stream: int
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A brain's answer is over. ``ttft_s``: from the question to its first event, None if there was none."""

    at_s: float
    request_id: str
    brain: str
    outcome: Outcome
    ttft_s: float | None
    elapsed_s: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """An HTTP request was answered (``status`` 499: the caller left before)."""

    at_s: float
    request_id: str
    method: str
    route: str
    status: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Crashed:
    """A fault of ours. ``trace`` is for the log, never for the caller."""

    at_s: float
    request_id: str
    route: str
    trace: str


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """starting, ready, draining, stopped."""

    at_s: float
    phase: str
    detail: str = ""


Entry: TypeAlias = (
    ConnectionOpened
    | ConnectionClosed
    | Refused
    | StreamOpened
    | TextPushed
    | AudioSent
    | AudioTaken
    | TextHeard
    | Finalized
    | TurnOver
    | StreamWarned
    | StreamEnded
    | Answered
    | RequestEnded
    | Crashed
    | PhaseChanged
)
Fold: TypeAlias = Callable[[Entry], None]


class Journal:
    """Hands every entry to every fold, in order."""

    def __init__(self, *folds: Fold) -> None:
        self._folds = folds

    def log(self, entry: Entry) -> None:
        for fold in self._folds:
            fold(entry)
