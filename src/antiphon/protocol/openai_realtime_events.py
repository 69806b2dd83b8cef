"""Server events of OpenAI's Realtime socket (GA names). ``event_id`` is given when an event is sent.

Items say ``output_audio`` and ``output_text`` where the parts of ``response.content_part.*`` say ``audio`` and
``text``. Milliseconds and indices are integers; what is unknown is left out rather than null.
"""

from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.protocol.openai_realtime_items import Item
from antiphon.protocol.openai_realtime_session import (
    Format,
    MaxTokens,
    Modality,
    RealtimeSession,
    TranscriptionSession,
)

Status: TypeAlias = Literal["in_progress", "completed", "cancelled", "failed", "incomplete"]
Reason: TypeAlias = Literal["turn_detected", "client_cancelled", "max_output_tokens", "content_filter"]


class ServerEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Encoded, an event is ``{"type", "event_id", ...}``."""

    event_id: str = ""


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """``event_id``: of the client's event at fault, if it had one."""

    type: str = "invalid_request_error"
    code: str | None = None
    message: str
    param: str | None = None
    event_id: str | None = None


class ErrorEvent(ServerEvent, frozen=True, kw_only=True, tag="error"):
    error: ErrorBody


class SessionCreated(ServerEvent, frozen=True, kw_only=True, tag="session.created"):
    session: RealtimeSession | TranscriptionSession


class SessionUpdated(ServerEvent, frozen=True, kw_only=True, tag="session.updated"):
    session: RealtimeSession | TranscriptionSession


class ItemAdded(ServerEvent, frozen=True, kw_only=True, tag="conversation.item.added"):
    previous_item_id: str | None
    item: Item


class ItemDone(ServerEvent, frozen=True, kw_only=True, tag="conversation.item.done"):
    previous_item_id: str | None
    item: Item


class ItemRetrieved(ServerEvent, frozen=True, kw_only=True, tag="conversation.item.retrieved"):
    item: Item


class ItemDeleted(ServerEvent, frozen=True, kw_only=True, tag="conversation.item.deleted"):
    item_id: str


class ItemTruncated(ServerEvent, frozen=True, kw_only=True, tag="conversation.item.truncated"):
    item_id: str
    content_index: int
    audio_end_ms: int


class Duration(msgspec.Struct, frozen=True, tag_field="type", tag="duration"):
    seconds: float


class TranscriptionDelta(
    ServerEvent, frozen=True, kw_only=True, tag="conversation.item.input_audio_transcription.delta"
):
    item_id: str
    content_index: int = 0
    delta: str


class TranscriptionCompleted(
    ServerEvent, frozen=True, kw_only=True, tag="conversation.item.input_audio_transcription.completed"
):
    item_id: str
    content_index: int = 0
    transcript: str
    usage: Duration


class TranscriptionError(msgspec.Struct, frozen=True, kw_only=True):
    type: str = "server_error"
    code: str = "transcription_failed"
    message: str
    param: None = None


class TranscriptionFailed(
    ServerEvent, frozen=True, kw_only=True, tag="conversation.item.input_audio_transcription.failed"
):
    item_id: str
    content_index: int = 0
    error: TranscriptionError


class SpeechBegan(ServerEvent, frozen=True, kw_only=True, tag="input_audio_buffer.speech_started"):
    audio_start_ms: int
    item_id: str


class SpeechEnded(ServerEvent, frozen=True, kw_only=True, tag="input_audio_buffer.speech_stopped"):
    audio_end_ms: int
    item_id: str


class Committed(ServerEvent, frozen=True, kw_only=True, tag="input_audio_buffer.committed"):
    previous_item_id: str | None
    item_id: str


class Cleared(ServerEvent, frozen=True, kw_only=True, tag="input_audio_buffer.cleared"):
    pass


class IdleTimeout(ServerEvent, frozen=True, kw_only=True, tag="input_audio_buffer.timeout_triggered"):
    audio_start_ms: int
    audio_end_ms: int
    item_id: str


class ResponseOutputAudio(msgspec.Struct, frozen=True):
    format: Format
    voice: str


class ResponseAudio(msgspec.Struct, frozen=True):
    output: ResponseOutputAudio


class StatusError(msgspec.Struct, frozen=True, kw_only=True):
    type: str = "server_error"
    code: str = "server_error"
    message: str = ""


class StatusDetails(msgspec.Struct, frozen=True, kw_only=True):
    type: Status
    reason: Reason | UnsetType = UNSET
    error: StatusError | UnsetType = UNSET


class CachedTokens(msgspec.Struct, frozen=True):
    text_tokens: int = 0
    audio_tokens: int = 0
    image_tokens: int = 0


class InputTokens(msgspec.Struct, frozen=True):
    text_tokens: int = 0
    audio_tokens: int = 0
    image_tokens: int = 0
    cached_tokens: int = 0
    cached_tokens_details: CachedTokens = CachedTokens()


class OutputTokens(msgspec.Struct, frozen=True):
    text_tokens: int = 0
    audio_tokens: int = 0


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the brain counted them; speech costs none here."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    input_token_details: InputTokens
    output_token_details: OutputTokens

    @classmethod
    def of(cls, input_tokens: int, output_tokens: int) -> "Usage":
        total = input_tokens + output_tokens
        return cls(total, input_tokens, output_tokens, InputTokens(input_tokens), OutputTokens(output_tokens))


class Response(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: str = "realtime.response"
    status: Status
    status_details: StatusDetails | None = None
    output: list[Item]
    conversation_id: str | None
    output_modalities: list[Modality]
    max_output_tokens: MaxTokens
    audio: ResponseAudio | UnsetType = UNSET
    usage: Usage | None = None
    metadata: dict[str, str] | None = None


class ResponseCreated(ServerEvent, frozen=True, kw_only=True, tag="response.created"):
    response: Response


class ResponseDone(ServerEvent, frozen=True, kw_only=True, tag="response.done"):
    response: Response


class OutputItemAdded(ServerEvent, frozen=True, kw_only=True, tag="response.output_item.added"):
    response_id: str
    output_index: int
    item: Item


class OutputItemDone(ServerEvent, frozen=True, kw_only=True, tag="response.output_item.done"):
    response_id: str
    output_index: int
    item: Item


class Part(msgspec.Struct, frozen=True, kw_only=True):
    type: Literal["audio", "text"]
    transcript: str | UnsetType = UNSET
    text: str | UnsetType = UNSET


class _InItem(ServerEvent, frozen=True, kw_only=True):
    response_id: str
    item_id: str
    output_index: int


class _InPart(_InItem, frozen=True, kw_only=True):
    content_index: int = 0


class PartAdded(_InPart, frozen=True, kw_only=True, tag="response.content_part.added"):
    part: Part


class PartDone(_InPart, frozen=True, kw_only=True, tag="response.content_part.done"):
    part: Part


class AudioDelta(_InPart, frozen=True, kw_only=True, tag="response.output_audio.delta"):
    """``delta`` is base64 on the wire."""

    delta: bytes


class AudioDone(_InPart, frozen=True, kw_only=True, tag="response.output_audio.done"):
    pass


class TranscriptDelta(_InPart, frozen=True, kw_only=True, tag="response.output_audio_transcript.delta"):
    delta: str


class TranscriptDone(_InPart, frozen=True, kw_only=True, tag="response.output_audio_transcript.done"):
    transcript: str


class OutputTextDelta(_InPart, frozen=True, kw_only=True, tag="response.output_text.delta"):
    delta: str


class OutputTextDone(_InPart, frozen=True, kw_only=True, tag="response.output_text.done"):
    text: str


class ArgumentsDelta(_InItem, frozen=True, kw_only=True, tag="response.function_call_arguments.delta"):
    call_id: str
    delta: str


class ArgumentsDone(_InItem, frozen=True, kw_only=True, tag="response.function_call_arguments.done"):
    call_id: str
    name: str
    arguments: str


SERVER_EVENTS: Final = tuple(
    kind for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, ServerEvent) and kind.__struct_config__.tag != kind.__name__
)
"""All of them."""
