"""Cartesia's error shapes: one description of a fault, written as HTTP body or as a message, by version."""

from dataclasses import dataclass

import msgspec

from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput, ModelUnavailable, NotFound
from antiphon.protocol.http import (
    JSON,
    TEXT,
    Forbidden,
    NotSupported,
    Reply,
    TooLarge,
    TooSlow,
    Unauthenticated,
    retry_headers,
    status_of,
)
from antiphon.protocol.versions import has_structured_errors


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """HTTP error body since 2026-03-01."""

    error_code: str | None
    title: str
    message: str
    request_id: str
    doc_url: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as Cartesia's clients know it. ``status`` is what they branch on."""

    status: int
    code: str
    title: str
    message: str

    @property
    def text(self) -> str:
        """The flat form of older versions."""
        return f"{self.title}: {self.message}"


_MODEL_FIELDS = ("model", "model_id")


def describe(error: AntiphonError) -> Fault:
    """The fault that an error amounts to. A bad model is 400 (documented so), other unknown things are 404."""
    status = status_of(error)
    code, title = _name(error)
    if isinstance(error, NotFound) and error.param in _MODEL_FIELDS:
        status = 400
    return Fault(status, code, title, str(error) or title)


def _name(error: AntiphonError) -> tuple[str, str]:
    if isinstance(error, NotFound):
        what = (error.param or "resource").split(".")[0].removesuffix("_id")
        return f"{what}_not_found", f"{what.replace('_', ' ').capitalize()} not found"
    for kind, code, title in (
        (Unauthenticated, "unauthorized", "Invalid API key"),
        (Forbidden, "forbidden", "Not allowed"),
        (TooLarge, "too_large", "Request too large"),
        (NotSupported, "not_implemented", "Not supported"),
        (InvalidInput, "invalid_request", "Invalid request"),
        (TooSlow, "request_timeout", "Request timed out"),
        (AtCapacity, "concurrency_limited", "Too many requests"),
        (ModelUnavailable, "model_unavailable", "Model unavailable"),
    ):
        if isinstance(error, kind):
            return code, title
    return "generation_failed", "Generation failed"


def error_reply(error: AntiphonError, version: str, request_id: str) -> Reply:
    """The HTTP response for an error, in the shape of the client's version."""
    fault = describe(error)
    headers = retry_headers(error)
    if not has_structured_errors(version):
        return Reply(fault.status, TEXT, fault.text.encode(), headers)
    body = ErrorBody(error_code=fault.code, title=fault.title, message=fault.message, request_id=request_id)
    return Reply(fault.status, JSON, msgspec.json.encode(body), headers)
