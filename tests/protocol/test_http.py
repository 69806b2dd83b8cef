"""What all HTTP dialects share."""

from typing import Literal

import msgspec
import pytest

from antiphon.core.errors import AtCapacity, EngineFailed, InvalidInput, ModelUnavailable, NotFound
from antiphon.core.frame import AudioFormat
from antiphon.protocol.http import (
    Forbidden,
    NotSupported,
    TooLarge,
    Unauthenticated,
    content_type,
    credentials,
    decode_json,
    retry_headers,
    sse_frame,
    status_of,
)


@pytest.mark.parametrize(
    ("headers", "query", "found"),
    [
        ({"Authorization": "Bearer k1"}, {}, "k1"),
        ({"authorization": "bearer  k1 "}, {}, "k1"),
        ({"X-API-Key": "k2"}, {}, "k2"),
        ({"x-api-key": " k2"}, {}, "k2"),
        ({}, {"api_key": "k3"}, "k3"),
        ({}, {"access_token": "t4"}, "t4"),
        ({"Authorization": "Bearer k1", "X-API-Key": "k2"}, {"api_key": "k3"}, "k1"),
        ({"Authorization": "Basic abc", "X-API-Key": "k2"}, {}, "k2"),
        ({"Authorization": "Bearer "}, {"api_key": "k3"}, "k3"),
        ({"Authorization": "k1"}, {}, None),
        ({"X-API-Key": ""}, {"api_key": " "}, None),
        ({}, {}, None),
    ],
)
def test_F3_credentials_in_all_their_places(
    headers: dict[str, str], query: dict[str, str], found: str | None
) -> None:
    assert credentials(headers, query) == found


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput("x"), 400),
        (Unauthenticated("x"), 401),
        (Forbidden("x"), 403),
        (NotFound("x"), 404),
        (TooLarge("x"), 413),
        (AtCapacity("x"), 429),
        (EngineFailed("x"), 500),
        (NotSupported("x"), 501),
        (ModelUnavailable("x"), 503),
    ],
)
def test_status(error: Exception, status: int) -> None:
    assert status_of(error) == status  # type: ignore[arg-type]


def test_F36_clients_are_told_what_to_try_again() -> None:
    assert retry_headers(AtCapacity("x", 2.4)) == {"retry-after": "3", "retry-after-ms": "2400"}
    assert retry_headers(AtCapacity("x", 0.2)) == {"retry-after": "1", "retry-after-ms": "200"}
    assert retry_headers(NotSupported("x")) == {"x-should-retry": "false"}
    assert retry_headers(InvalidInput("x")) == {}


class Inner(msgspec.Struct):
    rate: int


class Outer(msgspec.Struct):
    text: str
    inner: Inner | None = None
    kind: Literal["mp3", "wav"] | None = None
    extras: list[Literal["word", "segment"]] = []


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        (b'{"text": 1}', "text", "text: expected str, got int"),
        (b"{}", "text", "text: this field is required"),
        (b'{"text": "", "inner": {}}', "inner.rate", "inner.rate: this field is required"),
        (b'{"text": "", "inner": {"rate": "x"}}', "inner.rate", "inner.rate: expected int, got str"),
        (b'{"text": "", "kind": "ogg"}', "kind", "kind: invalid enum value 'ogg'; valid values are mp3, wav"),
        (
            b'{"text": "", "extras": ["word", "x"]}',
            "extras[1]",
            "extras[1]: invalid enum value 'x'; valid values are segment, word",
        ),
        (b"[]", None, "the message is not what was expected: expected object, got array"),
    ],
)
def test_decoding_names_the_field_at_fault(body: bytes, param: str | None, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_json(body, msgspec.json.Decoder(Outer))
    assert caught.value.param == param
    assert str(caught.value) == message


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"text": "\xff"}', b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_no_json_is_invalid_input(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        decode_json(body, msgspec.json.Decoder(Outer))


def test_F37_sse_frames() -> None:
    assert sse_frame(b'{"a":1}') == b'data: {"a":1}\n\n'
    assert sse_frame(b"{}", "done") == b"event: done\ndata: {}\n\n"


def test_content_types() -> None:
    kinds = {name: content_type(AudioFormat(name)) for name in ("raw", "wav", "mp3", "opus", "flac", "aac")}
    assert kinds == {
        "raw": "audio/pcm",
        "wav": "audio/wav",
        "mp3": "audio/mpeg",
        "opus": "audio/opus",
        "flac": "audio/flac",
        "aac": "audio/aac",
    }
