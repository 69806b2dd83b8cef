"""``/v1/audio/speech`` and ``/v1/models``, checked against the public SDK's own types."""

import base64
import json
from typing import Any

import msgspec
import pytest
from openai.types import Model

from antiphon.core.errors import AntiphonError, AtCapacity, EngineFailed, InvalidInput, NotFound
from antiphon.core.event import Audio, Failed, Flushed, Warned
from antiphon.core.frame import AudioFormat
from antiphon.protocol.http import RequestLimits, TooLarge, Unauthenticated
from antiphon.protocol.openai_http import (
    SpeechDone,
    SpeechFailed,
    SseSpeech,
    decode_speech_event,
    error_reply,
    find_model,
    list_models,
    read_speech_request,
)

LIMITS = RequestLimits()


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "gpt-4o-mini-tts", "input": "Hello.", "voice": "alloy", **fields}).encode()


def test_defaults() -> None:
    order = read_speech_request(body(), LIMITS)
    assert (order.text, order.sse) == ("Hello.", False)
    assert (order.config.voice, order.config.model, order.config.speed) == ("alloy", "gpt-4o-mini-tts", 1.0)
    assert order.config.format.container == "mp3"


@pytest.mark.parametrize("voice", ["nova", {"id": "nova"}, {"id": "nova", "more": 1}])
def test_forms_of_a_voice(voice: object) -> None:
    assert read_speech_request(body(voice=voice), LIMITS).config.voice == "nova"


def test_pcm_is_24_khz_s16_without_header() -> None:
    order = read_speech_request(body(response_format="pcm"), LIMITS)
    assert order.config.format == AudioFormat("raw", "pcm_s16le", 24_000)


@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav"])
def test_formats(name: str) -> None:
    assert read_speech_request(body(response_format=name), LIMITS).config.format.container == name


def test_options() -> None:
    order = read_speech_request(
        body(speed=4, stream_format="sse", instructions="Whisper.", response_format=None, unknown=1), LIMITS
    )
    assert (order.config.speed, order.sse) == (4.0, True)


@pytest.mark.parametrize(
    ("fields", "param", "says"),
    [
        ({"input": ""}, "input", "nothing to speak"),
        ({"input": "x" * 4097}, "input", "4096"),
        ({"input": 5}, "input", "expected str"),
        ({"speed": 0.2}, "speed", "0.25"),
        ({"speed": 4.1}, "speed", "between"),
        ({"speed": "fast"}, "speed", "expected"),
        ({"voice": ""}, "voice", "required"),
        ({"voice": {"name": "x"}}, "voice.id", "required"),
        ({"response_format": "ogg"}, "response_format", "ogg"),
        ({"stream_format": "x"}, "stream_format", "x"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_speech_request(body(**fields), LIMITS)
    assert caught.value.param == param
    assert says in str(caught.value)


@pytest.mark.parametrize("missing", ["model", "input", "voice"])
def test_required_fields(missing: str) -> None:
    fields = {name: value for name, value in json.loads(body()).items() if name != missing}
    with pytest.raises(InvalidInput) as caught:
        read_speech_request(json.dumps(fields).encode(), LIMITS)
    assert caught.value.param == missing


def test_body_limit() -> None:
    with pytest.raises(TooLarge):
        read_speech_request(body(), RequestLimits(max_body_bytes=10))


def test_events_hold_the_stream_and_end_with_usage() -> None:
    out = SseSpeech(read_speech_request(body(stream_format="sse"), LIMITS))
    events = (Audio(b"abc", 0, 12_000, 24_000), Warned("x"), Audio(b"", 0, 0, 24_000), Audio(b"de", 0, 12_000, 24_000))
    frames = [frame for event in (*events, Flushed("end"), *events) for frame in out.deliver(event)]
    assert all(frame.startswith(b"data: {") and frame.endswith(b"}\n\n") for frame in frames)
    messages = [json.loads(frame[6:]) for frame in frames]
    assert [message["type"] for message in messages] == ["speech.audio.delta"] * 2 + ["speech.audio.done"]
    assert b"".join(base64.b64decode(message["audio"]) for message in messages[:2]) == b"abcde"
    assert messages[2]["usage"] == {"input_tokens": 2, "output_tokens": 20, "total_tokens": 22}
    assert isinstance(decode_speech_event(frames[-1][6:].strip()), SpeechDone)


def test_a_failure_in_the_stream_is_an_error_event() -> None:
    out = SseSpeech(read_speech_request(body(), LIMITS))
    [frame] = out.deliver(Failed("it broke"))
    event = decode_speech_event(frame[6:].strip())
    assert isinstance(event, SpeechFailed)
    assert event.error.message == "it broke"
    assert out.deliver(Flushed("end")) == []


@pytest.mark.parametrize(
    ("error", "status", "kind", "param", "code"),
    [
        (InvalidInput("bad", "speed"), 400, "invalid_request_error", "speed", None),
        (NotFound("no", "model"), 404, "invalid_request_error", "model", "model_not_found"),
        (Unauthenticated("who?"), 401, "authentication_error", None, "invalid_api_key"),
        (AtCapacity("full"), 429, "rate_limit_error", None, "rate_limit_exceeded"),
        (EngineFailed("broke"), 500, "server_error", None, None),
    ],
)
def test_error_bodies(error: AntiphonError, status: int, kind: str, param: str | None, code: str | None) -> None:
    reply = error_reply(error)
    assert (reply.status, reply.content_type) == (status, "application/json")
    assert json.loads(reply.body) == {
        "error": {"message": str(error), "type": kind, "param": param, "code": code},
    }


def test_the_sdk_reads_models() -> None:
    listed = json.loads(msgspec.json.encode(list_models(["tts-1", "hibari"], 1_700_000_000)))
    assert listed["object"] == "list"
    assert [Model.model_validate(card, strict=True).id for card in listed["data"]] == ["tts-1", "hibari"]
    assert find_model(["tts-1"], "tts-1", 0).id == "tts-1"
    with pytest.raises(NotFound):
        find_model(["tts-1"], "whisper-1", 0)
