"""What a client sends on OpenAI's Realtime socket. Unknown keys are ignored."""

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.errors import InvalidInput
from antiphon.protocol.http import decode_json, shown
from antiphon.protocol.openai_realtime_items import GivenItem
from antiphon.protocol.openai_realtime_patch import OutputPatch, SessionPatch
from antiphon.protocol.openai_realtime_session import MaxTokens, Modality, ToolChoice, WireTool

MAX_METADATA: Final = (16, 64, 512)
"""Pairs, and characters of a key and of a value."""


class ClientEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    event_id: str | None = None


class SessionUpdate(ClientEvent, frozen=True, kw_only=True, tag="session.update"):
    session: SessionPatch


class AppendAudio(ClientEvent, frozen=True, kw_only=True, tag="input_audio_buffer.append"):
    """``audio`` is base64 on the wire."""

    audio: bytes


class CommitAudio(ClientEvent, frozen=True, kw_only=True, tag="input_audio_buffer.commit"):
    pass


class ClearAudio(ClientEvent, frozen=True, kw_only=True, tag="input_audio_buffer.clear"):
    pass


class CreateItem(ClientEvent, frozen=True, kw_only=True, tag="conversation.item.create"):
    item: GivenItem
    previous_item_id: str | None = None


class RetrieveItem(ClientEvent, frozen=True, kw_only=True, tag="conversation.item.retrieve"):
    item_id: str


class DeleteItem(ClientEvent, frozen=True, kw_only=True, tag="conversation.item.delete"):
    item_id: str


class TruncateItem(ClientEvent, frozen=True, kw_only=True, tag="conversation.item.truncate"):
    item_id: str
    content_index: int = 0
    audio_end_ms: int


class _OutputAudio(msgspec.Struct, frozen=True, kw_only=True):
    output: OutputPatch | None = None


class ResponseOrder(msgspec.Struct, frozen=True, kw_only=True):
    """``response`` of a ``response.create``: what differs from the session, for this response only."""

    conversation: Literal["auto", "none"] | None = None
    input: list[GivenItem] | UnsetType | None = UNSET
    instructions: str | None = None
    output_modalities: list[Modality] | None = None
    audio: _OutputAudio | None = None
    tools: list[WireTool] | None = None
    tool_choice: ToolChoice | None = None
    max_output_tokens: MaxTokens | None = None
    metadata: dict[str, str] | None = None

    def check(self) -> None:
        """Raises ``InvalidInput``."""
        pairs, key_chars, value_chars = MAX_METADATA
        for key, value in (self.metadata or {}).items():
            if len(key) > key_chars or len(value) > value_chars:
                message = f"response.metadata: keys of at most {key_chars} characters, values of {value_chars}"
                raise InvalidInput(message, "response.metadata")
        if len(self.metadata or {}) > pairs:
            raise InvalidInput(f"response.metadata: at most {pairs} pairs", "response.metadata")


class CreateResponse(ClientEvent, frozen=True, kw_only=True, tag="response.create"):
    response: ResponseOrder | None = None


class CancelResponse(ClientEvent, frozen=True, kw_only=True, tag="response.cancel"):
    response_id: str | None = None


class ClearOutput(ClientEvent, frozen=True, kw_only=True, tag="output_audio_buffer.clear"):
    """For WebRTC and SIP, where the server plays; here the client does."""


AnyClientEvent: TypeAlias = (
    SessionUpdate
    | AppendAudio
    | CommitAudio
    | ClearAudio
    | CreateItem
    | RetrieveItem
    | DeleteItem
    | TruncateItem
    | CreateResponse
    | CancelResponse
    | ClearOutput
)


class _Head(msgspec.Struct):
    type: Any = None
    event_id: Any = None


_events: "msgspec.json.Decoder[AnyClientEvent]" = msgspec.json.Decoder(AnyClientEvent)
_heads = msgspec.json.Decoder(_Head)
_TYPES: Final = frozenset(
    kind.__struct_config__.tag
    for kind in (
        SessionUpdate, AppendAudio, CommitAudio, ClearAudio, CreateItem, RetrieveItem, DeleteItem, TruncateItem,
        CreateResponse, CancelResponse, ClearOutput,
    )
)  # fmt: skip


class BadEvent(InvalidInput):
    """An event that is not understood or not possible now. ``event_id``: the client's, if it could be read."""

    def __init__(
        self, message: str, param: str | None = None, code: str = "invalid_value", event_id: str | None = None
    ) -> None:
        super().__init__(message, param)
        self.code = code
        self.event_id = event_id


def decode_client_event(frame: str | bytes) -> AnyClientEvent:
    """Raises :class:`BadEvent`."""
    try:
        return decode_json(frame, _events)
    except InvalidInput as error:
        fault = error
    try:
        head = decode_json(frame, _heads)
    except InvalidInput as error:
        raise BadEvent(str(error), None, "invalid_json", None) from error
    event_id = head.event_id if isinstance(head.event_id, str) else None
    if head.type not in _TYPES if isinstance(head.type, str) else True:
        named = shown(head.type) if isinstance(head.type, str) else "none"
        raise BadEvent(f"type: there is no such event: {named}", "type", "invalid_value", event_id) from fault
    raise BadEvent(str(fault), fault.param, "invalid_value", event_id) from fault
