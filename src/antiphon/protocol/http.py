"""What all HTTP dialects share: credentials, refusals and their status, replies, JSON bodies, server-sent events."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from antiphon.core.errors import (
    AntiphonError,
    AtCapacity,
    InvalidInput,
    ModelUnavailable,
    NotFound,
)
from antiphon.core.frame import AudioFormat

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
EVENT_STREAM = "text/event-stream"

Body = TypeVar("Body")


class Unauthenticated(AntiphonError):
    """No credential, or one that is not known (401)."""


class Forbidden(AntiphonError):
    """A credential that does not allow this (403)."""


class TooLarge(InvalidInput):
    """A body, frame or text beyond the limit (413)."""


class TooSlow(AntiphonError):
    """A body that did not come in time (408, which clients may try again)."""


class NotSupported(InvalidInput):
    """A documented route that this server does not offer (501)."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bounds of one HTTP request."""

    max_body_bytes: int = 1 << 20
    max_text_chars: int = 50_000


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP response that needs no stream."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def status_of(error: AntiphonError) -> int:
    """HTTP status of an error. Faults that stay are never 408, 409, 429 or 5xx, which clients retry (501 excepted)."""
    for kind, status in (
        (Unauthenticated, 401),
        (Forbidden, 403),
        (NotFound, 404),
        (TooLarge, 413),
        (NotSupported, 501),
        (InvalidInput, 400),
        (TooSlow, 408),
        (AtCapacity, 429),
        (ModelUnavailable, 503),
    ):
        if isinstance(error, kind):
            return status
    return 500


def retry_headers(error: AntiphonError) -> dict[str, str]:
    """Headers that tell the public SDKs whether and when to try again."""
    if isinstance(error, AtCapacity):
        wait_s = max(error.retry_after_s, 0.0)
        return {"retry-after": str(max(1, math.ceil(wait_s))), "retry-after-ms": str(round(wait_s * 1000))}
    if isinstance(error, NotSupported):
        return {"x-should-retry": "false"}
    return {}


def credentials(headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
    """The key or token that a request carries, from the first of these that is not empty:

    ``Authorization: Bearer``, ``X-API-Key``, and (for browsers, which cannot set headers on WebSockets) the query's
    ``api_key`` or ``access_token``. Header names in any case; None when there is none.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    scheme, _, token = lowered.get("authorization", "").strip().partition(" ")
    candidates = (
        token if scheme.lower() == "bearer" else "",
        lowered.get("x-api-key", ""),
        query.get("api_key", ""),
        query.get("access_token", ""),
    )
    return next((found for candidate in candidates if (found := candidate.strip())), None)


def shown(text: str, most_chars: int = 200) -> str:
    """For a message: cut if the client sent a novel, which would else be paid for in the answer and in the log."""
    return text if len(text) <= most_chars else text[: most_chars - 3] + "..."


def explain(error: msgspec.ValidationError, wanted: Any = None) -> InvalidInput:
    """A decoder's complaint in words that name the field: ``transcript: expected str, got int``.

    ``wanted``: the type that was decoded, which knows the valid values of a choice.
    """
    what, _, path = str(error).partition(" - at `$")
    param = path.rstrip("`").removeprefix(".") or None
    what = what.replace("`", "")
    if what.startswith("Object missing required field "):
        missing = what.removeprefix("Object missing required field ")
        param = f"{param}.{missing}" if param else missing
        return InvalidInput(f"{param}: this field is required", param)
    what = shown(what[:1].lower() + what[1:])
    if what.startswith("invalid enum value") and (choices := _choices(wanted, param or "")):
        what += f"; valid values are {', '.join(choices)}"
    return InvalidInput(f"{param}: {what}" if param else f"the message is not what was expected: {what}", param)


def _choices(wanted: Any, path: str) -> list[str]:
    """The values that the field at ``path`` may have, if its type is a choice of strings."""
    level = _members(inspect.type_info(wanted))
    for name in re.sub(r"\[[^]]*\]", "", path).split("."):
        fields = [field for kind in level if isinstance(kind, inspect.StructType) for field in kind.fields]
        level = [kind for field in fields if field.encode_name == name for kind in _members(field.type)]
    return [str(value) for kind in level if isinstance(kind, inspect.LiteralType) for value in kind.values]


def _members(kind: inspect.Type) -> list[inspect.Type]:
    if isinstance(kind, inspect.UnionType):
        return [member for part in kind.types for member in _members(part)]
    return _members(kind.item_type) if isinstance(kind, inspect.ListType) else [kind]


def decode_json(body: bytes | str, decoder: "msgspec.json.Decoder[Body]") -> Body:
    """Decode and validate. Raises ``InvalidInput`` for anything that does not fit, however odd."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise explain(error, decoder.type) from error
    except RecursionError as error:
        raise InvalidInput("the JSON is nested too deeply") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise InvalidInput(f"the body is not valid JSON: {error}") from error


def sse_frame(data: bytes, event: str | None = None) -> bytes:
    """One server-sent event. ``data`` is JSON on one line."""
    head = b"" if event is None else b"event: " + event.encode() + b"\n"
    return head + b"data: " + data + b"\n\n"


_CONTENT_TYPES = {
    "raw": "audio/pcm",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "flac": "audio/flac",
    "aac": "audio/aac",
}


def content_type(audio: AudioFormat) -> str:
    """Media type of a body in this format."""
    return _CONTENT_TYPES[audio.container]
