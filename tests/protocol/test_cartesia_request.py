"""What clients ask for, in every form the API ever had, and what becomes of it."""

import json
from typing import Any

import msgspec
import pytest

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import Prosody
from antiphon.protocol.cartesia_http import read_bytes_request, read_sse_request
from antiphon.protocol.cartesia_request import (
    BytesRequest,
    CancelRequest,
    GenerationRequest,
    OutputFormat,
    SpeechFields,
    VoiceSpecifier,
    encode_request,
    prosody_of,
    voice_id,
)
from antiphon.protocol.cartesia_tts import decode_client_message
from antiphon.protocol.http import RequestLimits, TooLarge

LIMITS = RequestLimits()
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
BASE = {"model_id": "sonic-3", "transcript": "Hello.", "voice": {"mode": "id", "id": "v"}, "output_format": RAW}


def body(**fields: Any) -> bytes:
    return json.dumps({**BASE, **fields}).encode()


def read_voice(voice: object) -> str | VoiceSpecifier:
    return msgspec.json.decode(json.dumps(voice), type=str | VoiceSpecifier)


@pytest.mark.parametrize("voice", ["v", {"id": "v"}, {"mode": "id", "id": "v"}, {"id": "v", "new": 1}, {"id": " v "}])
def test_F22_forms_of_a_voice(voice: object) -> None:
    assert voice_id(read_voice(voice)) == "v"


@pytest.mark.parametrize("voice", ["", " ", {}, {"mode": "id"}, {"mode": "embedding", "embedding": [0.5] * 192}])
def test_what_is_no_voice_is_refused(voice: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        voice_id(read_voice(voice))
    assert caught.value.param == "voice"


@pytest.mark.parametrize(
    ("fields", "prosody"),
    [
        ({}, Prosody()),
        ({"speed": "slow"}, Prosody(speed=0.8)),
        ({"speed": "normal"}, Prosody(speed=1.0)),
        ({"speed": "fast"}, Prosody(speed=1.25)),
        ({"speed": "fast", "generation_config": {"speed": 0.6}}, Prosody(speed=0.6)),
        ({"generation_config": {"volume": 2, "emotion": "Happy"}}, Prosody(volume=2.0, emotion="happy")),
        ({"generation_config": {"emotion": ["Sad", "angry"]}}, Prosody(emotion="sad")),
    ],
)
def test_speed_volume_and_emotion(fields: dict[str, Any], prosody: Prosody) -> None:
    assert prosody_of(msgspec.convert(fields, SpeechFields), "v") == prosody


@pytest.mark.parametrize(
    ("controls", "prosody"),
    [
        ({"speed": "slowest", "emotion": ["anger:high", "sadness"]}, Prosody(speed=0.6, emotion="angry")),
        ({"speed": -1}, Prosody(speed=0.6)),
        ({"speed": 0}, Prosody(speed=1.0)),
        ({"speed": 1.0}, Prosody(speed=1.5)),
        ({"emotion": ["positivity"]}, Prosody(emotion="happy")),
        ({"emotion": []}, Prosody()),
    ],
)
def test_controls_of_old_versions(controls: dict[str, Any], prosody: Prosody) -> None:
    voice = read_voice({"mode": "id", "id": "v", "__experimental_controls": controls})
    assert prosody_of(SpeechFields(), voice) == prosody


@pytest.mark.parametrize(
    "fields",
    [
        {"speed": "warp"},
        {"generation_config": {"speed": 0.1}},
        {"generation_config": {"volume": 2.5}},
        {"voice": {"id": "v", "__experimental_controls": {"speed": 2}}},
        {"voice": {"id": "v", "__experimental_controls": {"speed": "warp"}}},
    ],
)
def test_prosody_out_of_bounds_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        read_bytes_request(body(**fields), LIMITS)


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 24000, 44100, 48000])
@pytest.mark.parametrize("encoding", ["pcm_f32le", "pcm_s16le", "pcm_mulaw", "pcm_alaw"])
@pytest.mark.parametrize("container", ["raw", "wav"])
def test_F20_every_documented_format_is_asked_for_exactly(container: str, encoding: str, rate: int) -> None:
    asked = {"container": container, "encoding": encoding, "sample_rate": rate}
    order = read_bytes_request(body(output_format=asked), LIMITS)
    assert order.config.format == AudioFormat(container, encoding, rate)


@pytest.mark.parametrize("bit_rate", [32000, 64000, 96000, 128000, 192000])
def test_mp3(bit_rate: int) -> None:
    asked = {"container": "mp3", "sample_rate": 44100, "bit_rate": bit_rate, "encoding": "mp3"}
    wanted = read_bytes_request(body(output_format=asked), LIMITS).config.format
    assert (wanted.container, wanted.sample_rate_hz, wanted.bit_rate_bps) == ("mp3", 44100, bit_rate)


@pytest.mark.parametrize(
    ("asked", "param", "says"),
    [
        ({"container": "ogg"}, "container", "raw, wav or mp3"),
        ({"container": "mp3", "sample_rate": 44100}, "bit_rate", "32000, 64000, 96000, 128000, 192000"),
        ({"container": "mp3", "sample_rate": 44100, "bit_rate": 1}, "bit_rate", "not 1"),
        ({"container": "wav", "sample_rate": 44100}, "encoding", "this field is required"),
        ({"container": "raw", "encoding": "pcm_s16le"}, "sample_rate", "this field is required"),
        ({"container": "raw", "encoding": "x" * 500, "sample_rate": 8000}, "encoding", "pcm_f32le"),
        ({"container": "raw", "encoding": "pcm_s16le", "sample_rate": 11025}, "sample_rate", "not 11025"),
        ({"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000.5}, "sample_rate", "expected int"),
    ],
)
def test_a_format_that_cannot_be_made_is_explained(asked: dict[str, Any], param: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_bytes_request(body(output_format=asked), LIMITS)
    assert caught.value.param == f"output_format.{param}"
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("container", ["wav", "mp3"])
def test_sse_is_raw_only(container: str) -> None:
    with pytest.raises(InvalidInput, match='only "raw"'):
        read_sse_request(body(output_format={**RAW, "container": container, "bit_rate": 128000}), LIMITS)


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ({}, ""),
        ({"language": None}, ""),
        ({"language": "fr"}, "fr"),
        ({"language": "en-GB"}, "en-GB"),
        ({"locale": "pt-BR"}, "pt-BR"),
        ({"locale": "es-MX", "language": None}, "es-MX"),
    ],
)
def test_language(fields: dict[str, Any], language: str) -> None:
    assert read_bytes_request(body(**fields), LIMITS).config.language == language


@pytest.mark.parametrize("fields", [{"language": "en", "locale": "en-GB"}, {"language": "english please"}])
def test_language_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        read_bytes_request(body(**fields), LIMITS)


@pytest.mark.parametrize(
    ("value", "on"), [(None, True), ("auto", True), ("en-IN", True), ("off", False), ("OFF", False)]
)
def test_normalization(value: str | None, on: bool) -> None:
    assert read_bytes_request(body(normalization=value), LIMITS).config.normalize is on


def test_sse_asks_for_times_and_a_context() -> None:
    order = read_sse_request(
        body(context_id="c", add_timestamps=True, add_phoneme_timestamps=None, use_normalized_timestamps=True), LIMITS
    )
    assert (order.context_id, order.config.words, order.config.phonemes, order.normalized) == ("c", True, False, True)
    assert read_sse_request(body(), LIMITS).context_id is None


@pytest.mark.parametrize(("asked", "dictionary"), [("pdict_1", "pdict_1"), (None, ""), ("", "")])
def test_a_dictionary_is_named_for_whoever_keeps_them(asked: str | None, dictionary: str) -> None:
    assert read_bytes_request(body(pronunciation_dict_id=asked), LIMITS).config.dictionary == dictionary
    assert read_sse_request(body(pronunciation_dict_id=asked), LIMITS).config.dictionary == dictionary


@pytest.mark.parametrize("missing", ["model_id", "transcript", "voice", "output_format"])
def test_required_fields(missing: str) -> None:
    fields = {name: value for name, value in BASE.items() if name != missing}
    with pytest.raises(InvalidInput) as caught:
        read_bytes_request(json.dumps(fields).encode(), LIMITS)
    assert caught.value.param == missing


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_to_speak(text: str) -> None:
    with pytest.raises(InvalidInput, match="nothing to speak"):
        read_bytes_request(body(transcript=text), LIMITS)


def test_limits() -> None:
    with pytest.raises(TooLarge):
        read_bytes_request(body(), RequestLimits(max_body_bytes=10))
    with pytest.raises(TooLarge):
        read_sse_request(body(transcript="12345678901"), RequestLimits(max_text_chars=10))


def test_clients_encode_with_the_same_structs() -> None:
    output = OutputFormat("raw", "pcm_s16le", 24_000)
    request = GenerationRequest(
        context_id="c", model_id="m", transcript="Hi.", voice="v", output_format=output, continue_=True
    )
    frame = encode_request(request).decode()
    assert json.loads(frame)["continue"] is True
    assert decode_client_message(frame) == request
    assert decode_client_message(encode_request(CancelRequest("c")).decode()) == CancelRequest("c")
    order = read_bytes_request(
        encode_request(BytesRequest(model_id="m", transcript="Hi.", voice="v", output_format=output)), LIMITS
    )
    assert order.text == "Hi."
