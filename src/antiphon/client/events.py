"""What a client is told: the server's own messages, and the few things that only the client knows."""

from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from antiphon.client.decoding import Known
from antiphon.protocol import native_messages as wire

Message: TypeAlias = (
    wire.Ready
    | wire.UserStarted
    | wire.UserUpdate
    | wire.UserEagerEnd
    | wire.UserResumed
    | wire.UserEnded
    | wire.ReplyStarted
    | wire.ReplyText
    | wire.ReplyWords
    | wire.ReplyMark
    | wire.ReplyEnded
    | wire.ReplyPaused
    | wire.ReplyContinued
    | wire.Clear
    | wire.ToolAsked
    | wire.ToolCancelled
    | wire.HandedOver
    | wire.ErrorMessage
    | wire.Closed
)
"""Everything that a server sends as JSON; declared in :mod:`antiphon.protocol.native_messages`."""


@dataclass(frozen=True, slots=True)
class ReplyAudio:
    """Samples ``[start_sample, start_sample + samples)`` of a reply, in the declared output format. They have been
    given to the player already."""

    reply_id: str
    start_sample: int
    samples: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Heard:
    """The player has played the reply's samples ``[0, sample)``, and the server was told. ``over``: nothing of the
    reply is left to be played, because it ended or was cleared."""

    reply_id: str
    sample: int
    underruns: int
    over: bool


@dataclass(frozen=True, slots=True)
class ToolRan:
    """A tool of this client came to its end. ``content``: what the server was told."""

    call_id: str
    name: str
    arguments: str
    content: str
    ok: bool


@dataclass(frozen=True, slots=True)
class SocketLost:
    """The socket broke; the client tries to take the session up again. A ``Ready`` follows, or ``SessionLost`` is
    raised. What is said meanwhile is not heard by the server."""

    reason: str


ClientEvent: TypeAlias = Message | ReplyAudio | Heard | ToolRan | SocketLost

_known: Known[Message] = Known(Message)

_MOST_MS = 24 * 3_600_000
"""Longer fades and windows are nobody's."""


def decode_message(frame: str | bytes) -> Message | None:
    """A server's JSON frame; None for a type that this version does not know, which is no fault.

    Raises ``msgspec.DecodeError`` for what is no JSON object, or lacks what its type needs.
    """
    message = _known.decode(frame)
    match message:
        case wire.Ready(resume_window_ms=ms) | wire.Clear(fade_ms=ms) | wire.ReplyPaused(fade_ms=ms):
            if not 0 <= ms <= _MOST_MS:
                raise msgspec.ValidationError(f"a time should be from 0 to {_MOST_MS} ms")
        case _:
            pass
    return message
