"""`cartesia` (Python) over HTTP: bytes, server-sent events, voices, tokens, errors."""

import base64
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from .heard import (
    ANSWER,
    SHORT,
    Said,
    Wave,
    assert_said,
    assert_speech,
    file_wave,
    likeness,
    raw_wave,
)
from .required import required
from .running import Server, strict

cartesia = required("cartesia")

MODEL = "sonic-3"


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    with strict(cartesia.Cartesia, server.http, server.key) as made:
        yield made


@pytest.fixture(scope="module")
def voice(client: Any) -> str:
    return str(client.voices.list(limit=1).data[0].id)


@pytest.fixture(scope="module")
def reference(client: Any, voice: str) -> Wave:
    """The answer as 24 kHz floats."""
    asked = {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 24000}
    body = client.tts.generate(model_id=MODEL, transcript=ANSWER, voice=voice, output_format=asked).read()
    wave = raw_wave(body, "pcm_f32le", 24000)
    assert_speech(wave, 24000, ANSWER)
    return wave


@pytest.mark.parametrize(
    ("encoding", "rate_hz"),
    [
        ("pcm_f32le", 44100),
        ("pcm_s16le", 22050),
        ("pcm_s16le", 48000),
        ("pcm_s16le", 16000),
        ("pcm_mulaw", 8000),
        ("pcm_alaw", 8000),
    ],
)
def test_raw_bytes_are_exactly_what_was_asked(
    client: Any, voice: str, reference: Wave, encoding: str, rate_hz: int
) -> None:
    asked = {"container": "raw", "encoding": encoding, "sample_rate": rate_hz}
    response = client.tts.with_raw_response.generate(
        model_id=MODEL, transcript=ANSWER, voice=voice, output_format=asked, language="en"
    )
    assert response.status_code == 200
    assert response.headers["content-type"].split(";")[0].startswith("audio/")
    assert response.headers["x-request-id"]
    body = response.read()
    assert body[:4] != b"RIFF"
    wave = raw_wave(body, encoding, rate_hz)
    assert_speech(wave, rate_hz, ANSWER)
    assert len(wave) / rate_hz == pytest.approx(len(reference) / 24000, abs=0.01)
    assert likeness(wave, rate_hz, reference, 24000) > 0.97


@pytest.mark.parametrize(
    ("asked", "media_type", "kind"),
    [
        ({"container": "wav", "encoding": "pcm_s16le", "sample_rate": 44100}, "audio/wav", "WAV/PCM_16"),
        ({"container": "wav", "encoding": "pcm_f32le", "sample_rate": 24000}, "audio/wav", "WAV/FLOAT"),
        ({"container": "wav", "encoding": "pcm_mulaw", "sample_rate": 8000}, "audio/wav", "WAV/ULAW"),
        ({"container": "mp3", "sample_rate": 44100, "bit_rate": 128000}, "audio/mpeg", "MP3/MPEG_LAYER_III"),
        ({"container": "mp3", "sample_rate": 24000, "bit_rate": 64000}, "audio/mpeg", "MP3/MPEG_LAYER_III"),
    ],
)
def test_files_hold_the_same_speech(
    client: Any, voice: str, reference: Wave, asked: dict[str, Any], media_type: str, kind: str
) -> None:
    with client.tts.with_streaming_response.generate(
        model_id=MODEL, transcript=ANSWER, voice={"id": voice}, output_format=asked
    ) as response:
        assert response.headers["content-type"].split(";")[0] == media_type
        body = b"".join(response.iter_bytes())
    wave, rate_hz, found = file_wave(body)
    assert (rate_hz, found) == (asked["sample_rate"], kind)
    assert_speech(wave, rate_hz, ANSWER)
    assert len(wave) / rate_hz == pytest.approx(len(reference) / 24000, abs=0.15)
    assert likeness(wave, rate_hz, reference, 24000) > 0.95
    if asked["container"] == "wav":
        assert body.count(b"RIFF") == 1, "a header in the middle"


def test_bytes_arrive_while_they_are_made(client: Any, voice: str) -> None:
    asked = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
    with client.tts.with_streaming_response.generate(
        model_id=MODEL, transcript=ANSWER, voice=voice, output_format=asked
    ) as response:
        assert "content-length" not in response.headers
        pieces = list(response.iter_bytes())
    assert len(pieces) > 3


@pytest.mark.parametrize("context_id", [None, "mine"])
def test_events_carry_speech_and_word_times(client: Any, voice: str, context_id: str | None) -> None:
    asked = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 16000}
    given = {"context_id": context_id} if context_id else {}
    stream = client.tts.generate_sse(
        model_id=MODEL, transcript=ANSWER, voice=voice, output_format=asked, add_timestamps=True, **given
    )
    assert stream.response.headers["content-type"].split(";")[0] == "text/event-stream"
    said = Said()
    for event in stream:
        said.types.append(event.type)
        assert event.context_id == context_id
        assert event.done is (event.type == "done")
        if event.type == "chunk":
            said.audio += base64.b64decode(event.data)
        elif event.type == "timestamps":
            times = event.word_timestamps
            said.add_words(times.words, times.start, times.end)
    assert said.types[-1] == "done"
    assert set(said.types) == {"chunk", "timestamps", "done"}
    assert_said(said, "pcm_s16le", 16000, ANSWER)


def test_voices_list_ends_and_every_voice_can_be_fetched(client: Any) -> None:
    voices = []
    for voice in client.voices.list(limit=2):
        voices.append(voice)
        assert len(voices) < 1000, "the pages never end"
    ids = [voice.id for voice in voices]
    assert ids
    assert len(set(ids)) == len(ids)
    for voice in voices:
        assert voice.name
        assert voice.language
        assert client.voices.get(voice.id) == voice
    assert ids[0] in [voice.id for voice in client.voices.list(q=voices[0].name)]
    assert list(client.voices.list(q="nobody is called this")) == []


def test_status_names_the_version(client: Any) -> None:
    status = client.get_status()
    assert status.ok is True
    assert status.version


GOOD = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"voice": "no-such-voice"}, "NotFoundError"),
        ({"output_format": {**GOOD, "sample_rate": 12345}}, "BadRequestError"),
        ({"output_format": {**GOOD, "encoding": "pcm_s99"}}, "BadRequestError"),
        ({"output_format": {**GOOD, "container": "ogg"}}, "BadRequestError"),
        ({"output_format": {"container": "mp3", "sample_rate": 44100, "bit_rate": 1}}, "BadRequestError"),
        ({"language": "en", "locale": "en-GB"}, "BadRequestError"),
        ({"generation_config": {"speed": 99.0}}, "BadRequestError"),
        ({"voice": {"mode": "embedding", "embedding": [0.0] * 192}}, "BadRequestError"),
        ({"pronunciation_dict_id": "no-such-dictionary"}, "NotFoundError"),
    ],
)
def test_faults_raise_the_sdk_error_that_says_why(client: Any, voice: str, fault: dict[str, Any], error: str) -> None:
    asked = {"model_id": MODEL, "transcript": SHORT, "voice": voice, "output_format": GOOD, **fault}
    with pytest.raises(getattr(cartesia, error)) as raised:
        client.tts.generate(**asked)
    body = raised.value.body
    assert {"error_code", "title", "message", "request_id"} <= set(body)
    assert body["message"]
    assert body["request_id"] == raised.value.response.headers["x-request-id"]


def test_events_are_raw_only(client: Any, voice: str) -> None:
    asked = {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 24000}
    with pytest.raises(cartesia.BadRequestError):
        client.tts.generate_sse(model_id=MODEL, transcript=SHORT, voice=voice, output_format=asked)


def test_unknown_voice_is_not_found(client: Any) -> None:
    with pytest.raises(cartesia.NotFoundError):
        client.voices.get("no-such-voice")


def test_keys_and_tokens(secured: Server) -> None:
    """A token speaks and does nothing else; a wrong key is refused at the door, also at that of the socket."""

    def client(**credentials: Any) -> Any:
        http_client = httpx.Client(verify=secured.trust, trust_env=False)
        return cartesia.Cartesia(base_url=secured.http, http_client=http_client, max_retries=0, **credentials)

    def speak(made: Any, voice: str) -> bytes:
        options = {"ssl": secured.trust}
        with made.tts.websocket_connect(websocket_connection_options=options) as socket:
            context = socket.context(voice=voice, output_format=GOOD, timeout=30)
            context.push(SHORT)
            context.no_more_inputs()
            return b"".join(event.audio for event in context.receive() if event.type == "chunk")

    with client(api_key=secured.key) as owner:
        voice = owner.voices.list(limit=1).data[0].id
        token = owner.access_token.create(expires_in=60, grants={"tts": True}).token
        deaf = owner.access_token.create(grants={"stt": True}).token
        with pytest.raises(cartesia.BadRequestError):
            owner.access_token.create(expires_in=3601)
    with client(token=token) as guest:
        assert_speech(raw_wave(speak(guest, voice), "pcm_s16le", 24000), 24000, SHORT)
        body = guest.tts.generate(model_id=MODEL, transcript=SHORT, voice=voice, output_format=GOOD).read()
        assert_speech(raw_wave(body, "pcm_s16le", 24000), 24000, SHORT)
        for forbidden in (guest.access_token.create, lambda: guest.voices.list()):
            with pytest.raises(cartesia.PermissionDeniedError):
                forbidden()
    with client(token=deaf) as listener, pytest.raises(cartesia.PermissionDeniedError):
        listener.tts.generate(model_id=MODEL, transcript=SHORT, voice=voice, output_format=GOOD)
    websockets = required("websockets")
    with client(api_key="wrong") as stranger:
        with pytest.raises(cartesia.AuthenticationError):
            stranger.voices.list()
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            speak(stranger, voice)
        assert refused.value.response.status_code == 401
