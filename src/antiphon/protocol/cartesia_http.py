"""Cartesia over HTTP: ``/tts/bytes``, ``/tts/sse``, access tokens, the status page, and the routes not offered."""

from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from antiphon.core.errors import AntiphonError, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Flushed, PhonemeTimes, WordTimes
from antiphon.core.speech import SpeechConfig
from antiphon.protocol.cartesia_messages import MessageWriter, encode_server_message, error_message
from antiphon.protocol.cartesia_request import BytesRequest, SseRequest, check_text, speech_config
from antiphon.protocol.http import NotSupported, RequestLimits, TooLarge, decode_json, sse_frame

MAX_TOKEN_S = 3600


@dataclass(frozen=True, slots=True)
class SpeechOrder:
    """One whole text to speak. ``context_id`` is echoed in SSE messages if the request had one."""

    config: SpeechConfig
    text: str
    context_id: str | None = None
    normalized: bool = False
    save: bool = False


_bytes = msgspec.json.Decoder(BytesRequest)
_sse = msgspec.json.Decoder(SseRequest)


def read_bytes_request(body: bytes, limits: RequestLimits) -> SpeechOrder:
    """``POST /tts/bytes``: raw, wav or mp3. Raises ``InvalidInput``, ``NotFound``, ``TooLarge``."""
    request = decode_json(_bounded(body, limits), _bytes)
    config = speech_config(
        request, model=request.model_id, voice=request.voice, output=request.output_format, raw_only=False
    )
    return SpeechOrder(config, _text(request.transcript, limits), save=bool(request.save))


def read_sse_request(body: bytes, limits: RequestLimits) -> SpeechOrder:
    """``POST /tts/sse``: raw only. Raises ``InvalidInput``, ``NotFound``, ``TooLarge``."""
    request = decode_json(_bounded(body, limits), _sse)
    config = speech_config(
        request, model=request.model_id, voice=request.voice, output=request.output_format, raw_only=True
    )
    return SpeechOrder(
        config,
        _text(request.transcript, limits),
        context_id=request.context_id,
        normalized=bool(request.use_normalized_timestamps),
    )


def _bounded(body: bytes, limits: RequestLimits) -> bytes:
    if len(body) > limits.max_body_bytes:
        raise TooLarge(f"the body may have at most {limits.max_body_bytes} bytes")
    return body


def _text(transcript: str, limits: RequestLimits) -> str:
    if not transcript.strip():
        raise InvalidInput("transcript: there is nothing to speak", "transcript")
    return check_text(transcript, limits.max_text_chars)


class SseSpeech:
    """Writes one order's stream as server-sent events, each with its ``event`` line. No ``[DONE]``: clients of this API
    parse every data line."""

    def __init__(self, order: SpeechOrder, version: str, request_id: str, chunk_s: float = 0.2) -> None:
        self._version = version
        self._request_id = request_id
        self._context_id = UNSET if order.context_id is None else order.context_id
        self._writer = MessageWriter(
            self._context_id,
            order.config.format,
            words=order.config.words,
            phonemes=order.config.phonemes,
            normalized=order.normalized,
            flush_ids=False,
            chunk_s=chunk_s,
        )
        self.ended = False
        """Whether ``done`` or ``error`` has been written: nothing comes after."""

    def deliver(self, event: Event) -> list[bytes]:
        """Frames for an event. ``Flushed`` ends the response with ``done``, ``Failed`` with ``error``."""
        if self.ended:
            return []
        if isinstance(event, Audio):
            return [sse_frame(message, "chunk") for message in self._writer.write(event)]
        if isinstance(event, WordTimes):
            return [sse_frame(message, "timestamps") for message in self._writer.write(event)]
        if isinstance(event, PhonemeTimes):
            return [sse_frame(message, "phoneme_timestamps") for message in self._writer.write(event)]
        if isinstance(event, Flushed):
            self.ended = True
            return [sse_frame(self._writer.done(), "done")]
        if isinstance(event, Failed):
            return self.fail(event.error)
        return []

    def fail(self, error: AntiphonError) -> list[bytes]:
        """The response has begun, so its status is spent: say it in a message."""
        if self.ended:
            return []
        self.ended = True
        message = error_message(error, self._version, self._request_id, self._context_id)
        return [sse_frame(encode_server_message(msgspec.structs.replace(message, done=True)), "error")]


class Grants(msgspec.Struct, frozen=True, omit_defaults=True):
    tts: bool | None = None
    stt: bool | None = None
    agent: bool | None = None


class TokenRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """``POST /access-token``."""

    expires_in: int | None = None
    grants: Grants | None = None


class TokenReply(msgspec.Struct, frozen=True):
    token: str


@dataclass(frozen=True, slots=True)
class TokenOrder:
    """What a token shall allow (of ``tts``, ``stt``, ``agent``), and for how long."""

    expires_in_s: int
    grants: frozenset[str]


_token = msgspec.json.Decoder(TokenRequest)


def read_token_request(body: bytes) -> TokenOrder:
    """An absent lifetime is the longest, absent grants are speech both ways. Raises ``InvalidInput``."""
    request = decode_json(body or b"{}", _token)
    expires_in_s = MAX_TOKEN_S if request.expires_in is None else request.expires_in
    if not 1 <= expires_in_s <= MAX_TOKEN_S:
        raise InvalidInput(f"expires_in: must be between 1 and {MAX_TOKEN_S} seconds, not {expires_in_s}", "expires_in")
    asked = Grants(tts=True, stt=True) if request.grants is None else request.grants
    return TokenOrder(expires_in_s, frozenset(name for name in asked.__struct_fields__ if getattr(asked, name)))


class StatusReply(msgspec.Struct, frozen=True):
    """``GET /``."""

    ok: bool
    version: str


UNSUPPORTED: dict[str, tuple[tuple[str, str], ...]] = {
    "infill": (("POST", "/infill/bytes"), ("POST", "/infill/sse")),
    "voice changer": (("POST", "/voice-changer/bytes"), ("POST", "/voice-changer/sse")),
    "voice cloning": (("POST", "/voices/clone"), ("POST", "/voices/clone/clip")),
    "voice localization": (("POST", "/voices/localize"),),
    "making, changing and deleting voices": (
        ("POST", "/voices"),
        ("POST", "/voices/create"),
        ("POST", "/voices/mix"),
        ("PATCH", "/voices/{id}"),
        ("DELETE", "/voices/{id}"),
    ),
    "accents": (("GET", "/accents"), ("PATCH", "/voices/{id}/accents"), ("DELETE", "/voices/{id}/accents/{accent_id}")),
    "datasets": tuple(
        (method, path)
        for path in ("/datasets", "/datasets/{id}", "/datasets/{id}/files", "/datasets/{id}/files/{file_id}")
        for method in ("GET", "POST", "PATCH", "DELETE")
    ),
    "fine-tunes": tuple(
        (method, path)
        for path in ("/fine-tunes", "/fine-tunes/{id}", "/fine-tunes/{id}/voices")
        for method in ("GET", "POST", "DELETE")
    ),
    "hosted agents": tuple(
        (method, path)
        for path in ("/agents", "/agents/{path:path}")
        for method in ("GET", "POST", "PATCH", "PUT", "DELETE")
    ),
    "usage figures": (("GET", "/usage/credits"),),
}
"""Documented routes that this server answers with 501: feature -> (method, path)."""


def not_supported(feature: str) -> NotSupported:
    """The refusal for a feature of :data:`UNSUPPORTED`."""
    return NotSupported(f"this server does not offer {feature}")
