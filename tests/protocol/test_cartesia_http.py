"""SSE, tokens, error bodies by version, and the routes not offered."""

import json

import msgspec
import pytest
from cartesia.types import AccessTokenCreateResponse, GetStatusResponse

from antiphon.core.errors import AntiphonError, AtCapacity, EngineFailed, InvalidInput, ModelUnavailable, NotFound
from antiphon.core.event import Audio, Event, Failed, Flushed, Timed, Warned, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.protocol.cartesia_errors import error_reply
from antiphon.protocol.cartesia_http import (
    UNSUPPORTED,
    SpeechOrder,
    SseSpeech,
    StatusReply,
    TokenReply,
    not_supported,
    read_token_request,
)

AUDIO = Audio(b"\1\0" * 480, 0, 480, 24_000, 0.001)


def speech(context_id: str | None = None, version: str = "2026-08-14") -> SseSpeech:
    config = SpeechConfig("v", format=AudioFormat("raw", "pcm_s16le", 24_000), words=True)
    return SseSpeech(SpeechOrder(config, "Hi.", context_id), version, "r")


def data(frame: bytes) -> dict[str, object]:
    lines = frame.decode().split("\n")
    assert lines[-2:] == ["", ""]
    assert len(lines) == 4
    message = json.loads(lines[1].removeprefix("data: "))
    assert lines[0] == f"event: {message['type']}"
    return message


def test_F37_a_response_from_first_to_last_frame() -> None:
    events: list[Event] = [WordTimes((Timed("Hi.", 0, 9),), (), 24_000), Warned("x"), AUDIO, Flushed("end"), AUDIO]
    out = speech("c")
    frames = [data(frame) for event in events for frame in out.deliver(event)]
    assert [frame["type"] for frame in frames] == ["timestamps", "chunk", "done"]
    assert all(frame["context_id"] == "c" for frame in frames)
    assert out.ended


def test_the_context_is_echoed_only_if_there_was_one() -> None:
    assert "context_id" not in data(speech().deliver(AUDIO)[0])


@pytest.mark.parametrize("version", ["2025-04-16", "2026-08-14"])
def test_an_error_in_the_stream_ends_it(version: str) -> None:
    out = speech(version=version)
    out.deliver(AUDIO)
    [frame] = out.deliver(Failed("it broke"))
    error = data(frame)
    assert {key: error[key] for key in ("type", "done", "status_code", "title", "message", "request_id")} == {
        "type": "error",
        "done": True,
        "status_code": 500,
        "title": "Generation failed",
        "message": "it broke",
        "request_id": "r",
    }
    assert out.deliver(Flushed("end")) == out.fail(EngineFailed("again")) == []


ERRORS: list[tuple[AntiphonError, int, str]] = [
    (InvalidInput("speed: no", "speed"), 400, "invalid_request"),
    (NotFound("no voice", "voice"), 404, "voice_not_found"),
    (NotFound("no model", "model_id"), 400, "model_not_found"),
    (NotFound("no dict", "pronunciation_dict_id"), 404, "pronunciation_dict_not_found"),
    (AtCapacity("full", 3.0), 429, "concurrency_limited"),
    (EngineFailed("broke"), 500, "generation_failed"),
    (ModelUnavailable("gone"), 503, "model_unavailable"),
]


@pytest.mark.parametrize(("error", "status", "code"), ERRORS)
def test_F36_errors_since_2026_are_json(error: AntiphonError, status: int, code: str) -> None:
    reply = error_reply(error, "2026-03-01", "r1")
    body = json.loads(reply.body)
    assert (reply.status, reply.content_type) == (status, "application/json")
    assert (body["error_code"], body["message"], body["request_id"]) == (code, str(error), "r1")
    assert body["title"]


@pytest.mark.parametrize(("error", "status", "code"), ERRORS)
def test_errors_before_are_text(error: AntiphonError, status: int, code: str) -> None:
    reply = error_reply(error, "2025-04-16", "r1")
    assert (reply.status, reply.content_type) == (status, "text/plain; charset=utf-8")
    assert reply.body.decode().endswith(f": {error}")


def test_retry_after() -> None:
    assert error_reply(AtCapacity("full", 3.0), "2026-08-14", "r").headers["retry-after"] == "3"


@pytest.mark.parametrize(
    ("body", "seconds", "grants"),
    [
        (b"", 3600, {"tts", "stt"}),
        (b"{}", 3600, {"tts", "stt"}),
        (b'{"expires_in": null, "grants": null}', 3600, {"tts", "stt"}),
        (b'{"expires_in": 60, "grants": {"tts": true, "stt": false}}', 60, {"tts"}),
        (b'{"grants": {"stt": true, "agent": true, "tts": null}}', 3600, {"stt", "agent"}),
        (b'{"grants": {}}', 3600, set()),
    ],
)
def test_token_requests(body: bytes, seconds: int, grants: set[str]) -> None:
    order = read_token_request(body)
    assert (order.expires_in_s, order.grants) == (seconds, grants)


@pytest.mark.parametrize("body", [b'{"expires_in": 3601}', b'{"expires_in": 0}', b'{"expires_in": "x"}', b"[]", b"{"])
def test_token_requests_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_token_request(body)


def test_the_sdk_reads_token_and_status() -> None:
    assert AccessTokenCreateResponse.model_validate_json(msgspec.json.encode(TokenReply("t")), strict=True).token == "t"
    assert GetStatusResponse.model_validate_json(msgspec.json.encode(StatusReply(True, "0.1")), strict=True).ok


def test_routes_not_offered_are_told_so_and_not_tried_again() -> None:
    routes = [route for group in UNSUPPORTED.values() for route in group]
    assert len(routes) == len(set(routes))
    assert {("POST", "/infill/bytes"), ("POST", "/voices/clone"), ("GET", "/usage/credits")} <= set(routes)
    for feature in UNSUPPORTED:
        reply = error_reply(not_supported(feature), "2026-08-14", "r")
        assert reply.status == 501
        assert reply.headers["x-should-retry"] == "false"
        assert feature in json.loads(reply.body)["message"]
