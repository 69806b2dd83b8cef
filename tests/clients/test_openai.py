"""`openai` (Python): speech in every format, as a stream and as events; models; errors."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from .heard import ANSWER, SHORT, Wave, assert_speech, file_wave, likeness, raw_wave
from .required import required
from .running import Server, strict

openai = required("openai")

MODEL = "gpt-4o-mini-tts"
RATE_HZ = 24000


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    with strict(openai.OpenAI, server.openai, server.key) as made:
        yield made


@pytest.fixture(scope="module")
def reference(client: Any) -> Wave:
    body = client.audio.speech.create(model=MODEL, voice="alloy", input=ANSWER, response_format="pcm").read()
    wave = raw_wave(body, "pcm_s16le", RATE_HZ)
    assert_speech(wave, RATE_HZ, ANSWER)
    return wave


FORMATS = [
    ("mp3", "audio/mpeg", "MP3/MPEG_LAYER_III"),
    ("wav", "audio/wav", "WAV/PCM_16"),
    ("flac", "audio/flac", "FLAC/PCM_16"),
    ("opus", "audio/opus", "OGG/OPUS"),
    ("pcm", "audio/pcm", None),
]


def decoded(body: bytes, kind: str | None) -> tuple[Wave, int]:
    if kind is None:
        return raw_wave(body, "pcm_s16le", RATE_HZ), RATE_HZ
    wave, rate_hz, found = file_wave(body)
    assert found == kind
    return wave, rate_hz


def assert_same_speech(wave: Wave, rate_hz: int, reference: Wave) -> None:
    assert_speech(wave, rate_hz, ANSWER)
    assert len(wave) / rate_hz == pytest.approx(len(reference) / RATE_HZ, abs=0.15)
    assert likeness(wave, rate_hz, reference, RATE_HZ) > 0.95


@pytest.mark.parametrize(("name", "media_type", "kind"), FORMATS)
def test_formats_stream_the_same_speech(
    client: Any, reference: Wave, name: str, media_type: str, kind: str | None
) -> None:
    with client.audio.speech.with_streaming_response.create(
        model=MODEL, voice="nova", input=ANSWER, response_format=name
    ) as response:
        assert response.headers["content-type"].split(";")[0] == media_type
        assert "content-length" not in response.headers
        pieces = list(response.iter_bytes())
    assert len(pieces) > 3, "not streamed"
    assert_same_speech(*decoded(b"".join(pieces), kind), reference)


def test_mp3_is_what_comes_unasked(client: Any) -> None:
    body = client.audio.speech.create(model="tts-1", voice="alloy", input=SHORT).read()
    wave, rate_hz, kind = file_wave(body)
    assert kind == "MP3/MPEG_LAYER_III"
    assert_speech(wave, rate_hz, SHORT)


@pytest.mark.parametrize(("name", "media_type", "kind"), FORMATS)
def test_events_hold_slices_of_the_same_stream(
    client: Any, reference: Wave, name: str, media_type: str, kind: str | None
) -> None:
    events = []
    with client.audio.speech.with_streaming_response.create(
        model=MODEL, voice="alloy", input=ANSWER, response_format=name, stream_format="sse"
    ) as response:
        assert response.headers["content-type"].split(";")[0] == "text/event-stream"
        for line in response.iter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
    *deltas, done = events
    assert len(deltas) > 1
    assert {event["type"] for event in deltas} == {"speech.audio.delta"}
    assert done["type"] == "speech.audio.done"
    usage = done["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    assert_same_speech(*decoded(b"".join(base64.b64decode(event["audio"]) for event in deltas), kind), reference)


def test_voice_as_an_object_instructions_and_speed(client: Any, reference: Wave) -> None:
    body = client.audio.speech.create(
        model="tts-1-hd",
        voice={"id": "marin"},
        input=ANSWER,
        instructions="Speak kindly.",
        speed=1.5,
        response_format="pcm",
    ).read()
    wave = raw_wave(body, "pcm_s16le", RATE_HZ)
    assert_speech(wave, RATE_HZ, ANSWER)
    assert len(reference) / len(wave) == pytest.approx(1.5, rel=0.15)


def test_leaving_early_leaves_the_server_well(client: Any) -> None:
    with client.audio.speech.with_streaming_response.create(
        model=MODEL, voice="alloy", input=ANSWER * 10, response_format="pcm"
    ) as response:
        assert next(response.iter_bytes())
    body = client.audio.speech.create(model=MODEL, voice="alloy", input=SHORT, response_format="pcm").read()
    assert_speech(raw_wave(body, "pcm_s16le", RATE_HZ), RATE_HZ, SHORT)


def test_models_are_listed_and_found(client: Any) -> None:
    models = list(client.models.list())
    assert {"tts-1", "tts-1-hd", "gpt-4o-mini-tts"} <= {model.id for model in models}
    for model in models:
        assert model.object == "model"
        assert client.models.retrieve(model.id) == model
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("no-such-model")


@pytest.mark.parametrize(
    ("fault", "error", "param"),
    [
        ({"input": ""}, "BadRequestError", "input"),
        ({"input": "a " * 2049}, "BadRequestError", "input"),
        ({"response_format": "tape"}, "BadRequestError", "response_format"),
        ({"stream_format": "carrier pigeon"}, "BadRequestError", "stream_format"),
        ({"speed": 9.0}, "BadRequestError", "speed"),
        ({"voice": "no-such-voice"}, "APIStatusError", "voice"),
    ],
)
def test_faults_raise_the_sdk_error_that_says_why(client: Any, fault: dict[str, Any], error: str, param: str) -> None:
    asked = {"model": MODEL, "voice": "alloy", "input": SHORT, **fault}
    with pytest.raises(getattr(openai, error)) as raised:
        client.audio.speech.create(**asked)
    assert raised.value.status_code in (400, 404)
    assert raised.value.type == "invalid_request_error"
    assert raised.value.param == param
    assert raised.value.body["message"]
    assert raised.value.request_id


def test_wrong_key_is_an_authentication_error(secured: Server) -> None:
    with httpx.Client(verify=secured.trust, trust_env=False) as http_client:
        stranger = openai.OpenAI(api_key="wrong", base_url=secured.openai, http_client=http_client, max_retries=0)
        with pytest.raises(openai.AuthenticationError) as raised:
            stranger.audio.speech.create(model=MODEL, voice="alloy", input=SHORT)
        assert raised.value.code == "invalid_api_key"
        friend = stranger.with_options(api_key=secured.key)
        body = friend.audio.speech.create(model=MODEL, voice="alloy", input=SHORT, response_format="pcm").read()
    wave = raw_wave(body, "pcm_s16le", RATE_HZ)
    assert np.any(wave)
    assert_speech(wave, RATE_HZ, SHORT)
