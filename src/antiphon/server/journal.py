"""All that happens in the server, as values in one total order. That order *is* the log: metrics, log lines and
recordings fold over it, and nothing else counts anything.

Every entry carries ``at_s`` (monotonic seconds). Written on the event loop's thread only.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

Outcome: TypeAlias = Literal["done", "cancelled", "dropped", "failed", "cut"]
"""How a stream ended: all spoken, or heard; cancelled by a message; caller gone or stalled; an error; cut by our
shutdown."""


class ConnectionOpened(msgspec.Struct, frozen=True):
    at_s: float
    request_id: str
    route: str
    key: str


class ConnectionClosed(msgspec.Struct, frozen=True):
    at_s: float
    request_id: str
    route: str
    code: int


class Refused(msgspec.Struct, frozen=True):
    """Someone was told no at the door. ``reason``: auth, origin, connections, streams, unready, invalid."""

    at_s: float
    request_id: str
    route: str
    reason: str
    message: str


class StreamOpened(msgspec.Struct, frozen=True):
    """``stream`` is unique in this process; ``key`` the API key's name ("" where none is needed); ``voice`` the voice
    that speaks, "" for a stream that listens."""

    at_s: float
    stream: int
    request_id: str
    route: str
    key: str
    engine: str
    voice: str


class TextPushed(msgspec.Struct, frozen=True):
    at_s: float
    stream: int
    chars: int


class AudioSent(msgspec.Struct, frozen=True):
    """Audio was taken to be sent: a stream's first chunk, or what came since the last such entry: told when
    it ends, and before metrics are read. ``audio_s`` is its
    playing time, ``compute_s`` the worker time it cost."""

    at_s: float
    stream: int
    data_bytes: int
    audio_s: float
    compute_s: float


class AudioTaken(msgspec.Struct, frozen=True):
    """Audio was taken in to be heard: ``audio_s`` of it, and ``compute_s`` of worker time since the last such entry."""

    at_s: float
    stream: int
    audio_s: float
    compute_s: float


class TextHeard(msgspec.Struct, frozen=True):
    """Words became final."""

    at_s: float
    stream: int
    chars: int
    words: int


class Finalized(msgspec.Struct, frozen=True):
    """A flush was answered, ``waited_s`` after it was asked for."""

    at_s: float
    stream: int
    waited_s: float


class TurnOver(msgspec.Struct, frozen=True):
    """A speaker's turn was decided to be over. ``reason``: model, timeout, closed."""

    at_s: float
    stream: int
    reason: str


class StreamWarned(msgspec.Struct, frozen=True):
    at_s: float
    stream: int
    message: str


class StreamEnded(msgspec.Struct, frozen=True):
    at_s: float
    stream: int
    outcome: Outcome
    message: str = ""


class Answered(msgspec.Struct, frozen=True):
    """A brain's answer is over. ``ttft_s``: from the question to its first event, None if there was none."""

    at_s: float
    request_id: str
    brain: str
    outcome: Outcome
    ttft_s: float | None
    elapsed_s: float
    message: str = ""


class RequestEnded(msgspec.Struct, frozen=True):
    """An HTTP request was answered (``status`` 499: the caller left before)."""

    at_s: float
    request_id: str
    method: str
    route: str
    status: int
    elapsed_s: float


class Crashed(msgspec.Struct, frozen=True):
    """A fault of ours. ``trace`` is for the log, never for the caller."""

    at_s: float
    request_id: str
    route: str
    trace: str


class PhaseChanged(msgspec.Struct, frozen=True):
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
