"""A session as bytes, for the next process."""

import msgspec

from antiphon.core.brain import ToolCall
from antiphon.dialog.saved import SavedConversation
from antiphon.protocol import native_messages as wire

VERSION = 1


class SavedSession(msgspec.Struct, frozen=True):
    """``start``: what the client asked for. ``running``: it was not put away, its process may have died. ``unix_s``:
    when it was saved."""

    version: int
    session_id: str
    principal: str
    start: wire.Start
    media_samples: int
    open_calls: list[ToolCall]
    running: bool
    unix_s: float
    conversation: SavedConversation


_decoder = msgspec.msgpack.Decoder(SavedSession)


def encode_session(saved: SavedSession) -> bytes:
    return msgspec.msgpack.encode(saved)


def decode_session(data: bytes) -> SavedSession | None:
    """None: it is another version's."""
    try:
        saved = _decoder.decode(data)
    except msgspec.DecodeError:
        return None
    return saved if saved.version == VERSION else None
