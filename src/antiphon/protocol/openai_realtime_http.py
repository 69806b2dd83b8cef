"""What surrounds OpenAI's Realtime socket: its URL, its sub-protocols, and ``POST /v1/realtime/client_secrets``."""

from collections.abc import Sequence
from typing import Final, Literal
from urllib.parse import parse_qs

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.protocol.http import NotSupported, decode_json
from antiphon.protocol.openai_realtime_patch import SessionPatch, changed
from antiphon.protocol.openai_realtime_session import RealtimeSession, Settings, TranscriptionSession

SUBPROTOCOL: Final = "realtime"
_KEY_PREFIX: Final = "openai-insecure-api-key."

SECRET_PREFIX: Final = "ek_"
_LIFETIME_S: Final = (10, 7200)


def session_at(query: str, settings: Settings) -> Settings:
    """The session that a URL asks for (``?model=``, ``?intent=transcription``), beginning from ``settings``.

    Raises ``InvalidInput``, and ``NotSupported`` for ``call_id``.
    """
    asked = {name: values[-1] for name, values in parse_qs(query).items()}
    if "call_id" in asked:
        raise NotSupported("call_id: calls by WebRTC and SIP are not served here", "call_id")
    intent = asked.get("intent", "")
    if intent not in ("", "conversation", "transcription"):
        raise InvalidInput("intent: only 'transcription' is known", "intent")
    kind: Literal["realtime", "transcription"] = "transcription" if intent == "transcription" else settings.kind
    model = asked.get("model", "")[:200] or settings.model
    return msgspec.structs.replace(settings, kind=kind, model=model)


def key_in(subprotocols: Sequence[str]) -> str | None:
    """The key that a browser, which cannot set headers, hides among its sub-protocols. Answer :data:`SUBPROTOCOL`."""
    return next((name[len(_KEY_PREFIX) :] for name in subprotocols if name.startswith(_KEY_PREFIX)), None)


class ExpiresAfter(msgspec.Struct, frozen=True):
    anchor: Literal["created_at"] = "created_at"
    seconds: int = 600


class SecretRequest(msgspec.Struct, frozen=True):
    """Body of ``POST /v1/realtime/client_secrets``. ``session`` is what a socket opened with the secret begins as."""

    expires_after: ExpiresAfter | None = None
    session: SessionPatch | None = None


class SecretReply(msgspec.Struct, frozen=True):
    """``value`` stands in for a key when the socket is opened, until ``expires_at`` (Unix seconds)."""

    value: str
    expires_at: int
    session: RealtimeSession | TranscriptionSession


_requests = msgspec.json.Decoder(SecretRequest)


def read_secret_request(body: bytes, settings: Settings) -> tuple[Settings, int]:
    """The session asked for and the secret's life in seconds. Raises ``InvalidInput``."""
    request = decode_json(body, _requests) if body.strip() else SecretRequest()
    lifetime_s = (request.expires_after or ExpiresAfter()).seconds
    low, high = _LIFETIME_S
    if not low <= lifetime_s <= high:
        raise InvalidInput(f"expires_after.seconds must be from {low} to {high}", "expires_after.seconds")
    patch = request.session or SessionPatch()
    if patch.type:
        settings = msgspec.structs.replace(settings, kind=patch.type)
    if patch.model:
        settings = msgspec.structs.replace(settings, model=patch.model)
    return changed(settings, patch), lifetime_s
