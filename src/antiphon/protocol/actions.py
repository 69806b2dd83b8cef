"""What a socket's machine asks of the shell that owns the socket and the streams.

A ``key`` names one stream for as long as its socket lives and is never used twice, so that events of a stream that is
gone can be told from those of its successor with the same public name. Actions are done in order. ``Push``, ``Flush``,
``Save``, ``Cancel``, ``Close`` and ``Configure`` for a key that the shell does not hold (its ``Open`` was refused, say)
are skipped. A question to a brain (``Ask``) has a key of its own, and ends by ``Cancel`` or by its last event.
"""

from typing import TypeAlias

import msgspec

from antiphon.core.brain import BrainRequest
from antiphon.core.event import Marker
from antiphon.core.hearing import HearingConfig
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.core.turns import EndpointSettings

Key: TypeAlias = int


class Open(msgspec.Struct, frozen=True):
    """Take a stream, of speech or of listening by the kind of ``config``. If it cannot be had, report it with
    ``refused``. ``snapshot``: of a stream of speech that was saved, to go on with; ``config`` only names its voice."""

    key: Key
    config: SpeechConfig | HearingConfig
    snapshot: bytes = b""


class Push(msgspec.Struct, frozen=True):
    """Give a text delta, a change of prosody or bytes of audio to the stream. If that raises, report it with
    ``refused``."""

    key: Key
    item: str | Prosody | bytes


class Flush(msgspec.Struct, frozen=True):
    key: Key
    marker: Marker
    last: bool


class Configure(msgspec.Struct, frozen=True):
    """From here on turns of this stream are decided with these settings. The first follows its ``Open``."""

    key: Key
    settings: EndpointSettings


class Save(msgspec.Struct, frozen=True):
    """Stop the stream between two steps; ``Saved`` is its last event, or ``Unsaved`` says that it goes on."""

    key: Key
    limit_bytes: int


class Ask(msgspec.Struct, frozen=True):
    """Put a question to the brain; deliver its events under this key. If it cannot be put, report it with
    ``refused``."""

    key: Key
    request: BrainRequest


class Cancel(msgspec.Struct, frozen=True):
    """Drop the stream or the question, its undelivered events and the frames of this key that have not left yet; free
    its place."""

    key: Key


class Close(msgspec.Struct, frozen=True):
    """The stream has said all: give its place back. Frames already sent for it still go out."""

    key: Key


class CloseSocket(msgspec.Struct, frozen=True):
    """Close the socket with this code, after what was sent before. What is sent after it is dropped."""

    code: int


class Send(msgspec.Struct, frozen=True):
    """One text frame for the client, in UTF-8. ``key``: the stream it speaks for, None for errors and other news."""

    frame: bytes
    key: Key | None = None


class SendBytes(msgspec.Struct, frozen=True):
    """One binary frame for the client, queued and dropped as :class:`Send` is."""

    frame: bytes
    key: Key | None = None


class Note(msgspec.Struct, frozen=True):
    """Something for the log, not for the wire."""

    message: str
    key: Key | None = None


Action: TypeAlias = Open | Push | Flush | Configure | Save | Cancel | Close | CloseSocket | Send | SendBytes | Note

AgentAction: TypeAlias = Action | Ask
"""What the machine of a socket that answers asks of its shell."""

Deed: TypeAlias = Open | Push | Flush | Configure | Save | Cancel | Close | CloseSocket | Note | Ask
"""What is done, and not sent."""
