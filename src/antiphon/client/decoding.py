"""What a server says as JSON, as far as this client knows it."""

from typing import Any, Generic, TypeVar, get_args

import msgspec

Message = TypeVar("Message")


class _Head(msgspec.Struct):
    type: str = ""


_head = msgspec.json.Decoder(_Head)


class Known(Generic[Message]):
    """``union``: of the tagged structs that are known."""

    def __init__(self, union: Any) -> None:
        self._decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(union)
        self._tags = frozenset(kind.__struct_config__.tag for kind in get_args(union))

    def decode(self, frame: str | bytes) -> Message | None:
        """None for a type that this version does not know, which is no fault.

        Raises ``msgspec.DecodeError`` for what is no JSON object, or lacks what its type needs.
        """
        try:
            return self._decoder.decode(frame) if _head.decode(frame).type in self._tags else None
        except RecursionError:
            raise msgspec.DecodeError("it is nested too deeply") from None
