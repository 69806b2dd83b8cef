"""OpenAI over HTTP: ``/v1/audio/speech``, ``/v1/models`` and the error body of every route under ``/v1``."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import msgspec

from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput, ModelUnavailable, NotFound
from antiphon.core.event import Audio, Event, Failed, Flushed
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SPEED_RANGE, SpeechConfig
from antiphon.protocol.http import (
    JSON,
    Forbidden,
    Reply,
    RequestLimits,
    TooLarge,
    TooSlow,
    Unauthenticated,
    decode_json,
    retry_headers,
    sse_frame,
    status_of,
)

MAX_INPUT_CHARS = 4096
RATE_HZ = 24_000
"""``pcm`` is defined as 24 kHz mono s16le; the other formats follow it."""

FORMATS = {
    "mp3": AudioFormat("mp3", "pcm_s16le", RATE_HZ, 128_000),
    "opus": AudioFormat("opus", "pcm_s16le", RATE_HZ, 64_000),
    "aac": AudioFormat("aac", "pcm_s16le", RATE_HZ, 128_000),
    "flac": AudioFormat("flac", "pcm_s16le", RATE_HZ),
    "wav": AudioFormat("wav", "pcm_s16le", RATE_HZ),
    "pcm": AudioFormat("raw", "pcm_s16le", RATE_HZ),
}

SPEECH_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""Names that clients have as defaults; all mean the default voice engine."""


class VoiceId(msgspec.Struct, frozen=True):
    id: str


class SpeechRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``POST /v1/audio/speech``. ``instructions`` are accepted; no voice here can follow them yet."""

    input: str
    model: str
    voice: str | VoiceId
    instructions: str | None = None
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] | None = None
    speed: float | None = None
    stream_format: Literal["audio", "sse"] | None = None


@dataclass(frozen=True, slots=True)
class OpenAiSpeechOrder:
    """``sse``: the body is events with slices of the format's stream, instead of the stream itself."""

    config: SpeechConfig
    text: str
    sse: bool


_speech = msgspec.json.Decoder(SpeechRequest)


def read_speech_request(body: bytes, limits: RequestLimits) -> OpenAiSpeechOrder:
    """Raises ``InvalidInput`` with the field at fault. Voice and model are as the client named them."""
    if len(body) > limits.max_body_bytes:
        raise TooLarge(f"the body may have at most {limits.max_body_bytes} bytes")
    request = decode_json(body, _speech)
    if not request.input.strip():
        raise InvalidInput("input: there is nothing to speak", "input")
    if len(request.input) > MAX_INPUT_CHARS:
        raise InvalidInput(
            f"input: at most {MAX_INPUT_CHARS} characters are allowed, not {len(request.input)}", "input"
        )
    voice = (request.voice if isinstance(request.voice, str) else request.voice.id).strip()
    if not voice:
        raise InvalidInput("voice: a name or an id is required", "voice")
    speed = 1.0 if request.speed is None else request.speed
    if not SPEED_RANGE[0] <= speed <= SPEED_RANGE[1]:
        raise InvalidInput(f"speed: must be between {SPEED_RANGE[0]:g} and {SPEED_RANGE[1]:g}, not {speed:g}", "speed")
    config = SpeechConfig(
        voice=voice, model=request.model, language="", format=FORMATS[request.response_format or "mp3"], speed=speed
    )
    return OpenAiSpeechOrder(config, request.input, sse=request.stream_format == "sse")


class Usage(msgspec.Struct, frozen=True):
    input_tokens: int
    output_tokens: int
    total_tokens: int


class SpeechDelta(msgspec.Struct, frozen=True, tag_field="type", tag="speech.audio.delta"):
    """``audio`` is base64 on the wire: whole frames of the format, in order."""

    audio: bytes


class SpeechDone(msgspec.Struct, frozen=True, tag_field="type", tag="speech.audio.done"):
    usage: Usage


class ErrorDetail(msgspec.Struct, frozen=True):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorReply(msgspec.Struct, frozen=True):
    error: ErrorDetail


class SpeechFailed(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    """In a stream whose status has been sent already."""

    error: ErrorDetail


SpeechEvent = SpeechDelta | SpeechDone | SpeechFailed

_encoder = msgspec.json.Encoder()
_events: msgspec.json.Decoder[SpeechEvent] = msgspec.json.Decoder(SpeechEvent)


def decode_speech_event(data: bytes | str) -> SpeechEvent:
    """The client's side: the JSON after ``data: ``."""
    return _events.decode(data)


class SseSpeech:
    """Writes one order's stream as server-sent events. Tokens are counted as four characters, and as 50 ms, each."""

    def __init__(self, order: OpenAiSpeechOrder) -> None:
        self._input_tokens = math.ceil(len(order.text) / 4)
        self._audio_s = 0.0
        self.ended = False

    def deliver(self, event: Event) -> list[bytes]:
        """Frames for an event. ``Flushed`` ends the response."""
        if self.ended:
            return []
        if isinstance(event, Audio):
            self._audio_s += event.samples / event.sample_rate_hz
            return [_frame(SpeechDelta(event.data))] if event.data else []
        if isinstance(event, Flushed):
            self.ended = True
            spoken = math.ceil(self._audio_s * 20)
            return [_frame(SpeechDone(Usage(self._input_tokens, spoken, self._input_tokens + spoken)))]
        if isinstance(event, Failed):
            return self.fail(event.error)
        return []

    def fail(self, error: AntiphonError) -> list[bytes]:
        if self.ended:
            return []
        self.ended = True
        return [_frame(SpeechFailed(error_detail(error)))]


def _frame(event: SpeechEvent) -> bytes:
    return sse_frame(_encoder.encode(event))


def error_detail(error: AntiphonError) -> ErrorDetail:
    """The error as every OpenAI body and event carries it."""
    param = error.param if isinstance(error, InvalidInput) else None
    message = str(error) or type(error).__name__
    for kind, type_, code in (
        (Unauthenticated, "authentication_error", "invalid_api_key"),
        (Forbidden, "permission_error", "forbidden"),
        (NotFound, "invalid_request_error", f"{param or 'resource'}_not_found"),
        (InvalidInput, "invalid_request_error", None),
        (TooSlow, "invalid_request_error", "request_timeout"),
        (AtCapacity, "rate_limit_error", "rate_limit_exceeded"),
        (ModelUnavailable, "server_error", "model_unavailable"),
    ):
        if isinstance(error, kind):
            return ErrorDetail(message, type_, param, code)
    return ErrorDetail(message, "server_error", param, None)


def error_reply(error: AntiphonError) -> Reply:
    """The HTTP response for an error."""
    return Reply(status_of(error), JSON, _encoder.encode(ErrorReply(error_detail(error))), retry_headers(error))


class ModelCard(msgspec.Struct, frozen=True):
    """``GET /v1/models/{id}``. ``created``: Unix seconds."""

    id: str
    created: int
    owned_by: str = "antiphon"
    object: str = "model"


class ModelList(msgspec.Struct, frozen=True):
    data: list[ModelCard]
    object: str = "list"


def list_models(names: Iterable[str], created: int) -> ModelList:
    return ModelList([ModelCard(name, created) for name in names])


def find_model(names: Iterable[str], name: str, created: int) -> ModelCard:
    """Raises ``NotFound``."""
    if name not in names:
        raise NotFound(f"the model {name[:80]!r} does not exist", "model")
    return ModelCard(name, created)
