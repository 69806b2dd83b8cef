"""What clients of the native agent socket send, read and checked."""

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.protocol.http import decode_json
from antiphon.protocol.native_messages import (
    MAX_COUNT,
    MAX_ID_CHARS,
    AnyClientMessage,
    Dtmf,
    Played,
    Say,
    Start,
    ToolResult,
)

_MAX_TEXT_CHARS = 50_000
_DIGITS = frozenset("0123456789*#ABCD")
_messages: "msgspec.json.Decoder[AnyClientMessage]" = msgspec.json.Decoder(AnyClientMessage)


def decode_message(frame: str | bytes) -> AnyClientMessage:
    """A client's message, checked. Raises ``InvalidInput``."""
    message = decode_json(frame, _messages)
    match message:
        case Start():
            message.check()
        case Say() if not message.text.strip() or len(message.text) > _MAX_TEXT_CHARS:
            raise InvalidInput(f"text: from 1 to {_MAX_TEXT_CHARS} characters", "text")
        case ToolResult() if len(message.content) > _MAX_TEXT_CHARS:
            raise InvalidInput(f"content: at most {_MAX_TEXT_CHARS} characters", "content")
        case Played() if len(message.reply_id) > MAX_ID_CHARS or not (
            0 <= message.sample <= MAX_COUNT and 0 <= message.underruns <= MAX_COUNT
        ):
            raise InvalidInput(f"sample: positions and counts are from 0 to {MAX_COUNT}", "sample")
        case Dtmf() if not 0 < len(message.digits) <= 64 or not set(message.digits) <= _DIGITS:
            raise InvalidInput("digits: from 1 to 64 of 0-9 * # A-D", "digits")
        case _:
            pass
    return message
