"""The page that describes the routes, from the structs that serve them."""

import json
from typing import Any, Literal

import pytest

from antiphon.protocol.cartesia_errors import ErrorBody
from antiphon.protocol.cartesia_messages import Chunk, Done, ErrorMessage, FlushDone, PhonemeTimestamps, Timestamps
from antiphon.protocol.cartesia_request import BytesRequest, CancelRequest, GenerationRequest
from antiphon.protocol.cartesia_stt_batch import SttForm, SttReply
from antiphon.protocol.cartesia_stt_messages import CloseCommand, ConfigCommand, SttMessage, TurnsMessage
from antiphon.protocol.cartesia_voices import VoiceBody, VoicePage
from antiphon.protocol.openai_http import ErrorReply, SpeechRequest
from antiphon.protocol.openai_transcription import TranscriptionForm
from antiphon.protocol.openapi import Answer, Query, Route, Socket, document

SENDS = (Chunk, Timestamps, PhonemeTimestamps, FlushDone, Done, ErrorMessage)
PAGE = {200: Answer("A page", VoicePage)}
WAV = {200: Answer("Audio", content_type="audio/wav"), 400: Answer("What is wrong", ErrorBody)}
MP3 = {200: Answer("Audio", content_type="audio/mpeg"), 400: Answer("What is wrong", ErrorReply)}
ROUTES = (
    Route("POST", "/tts/bytes", "Speak", BytesRequest, WAV),
    Route("POST", "/v1/audio/speech", "Speak", SpeechRequest, MP3),
    Route("GET", "/voices", "Voices", responses=PAGE, query=(Query("limit", "1 to 100"),)),
    Route("GET", "/voices/{id}", "One voice", responses={200: Answer("The voice", VoiceBody)}, tag="voices"),
    Route("DELETE", "/voices/{id:path}", "Drop it", responses={204: Answer("Gone", content_type=None)}),
    Route("GET", "/health", "Alive", responses={200: Answer("Yes")}, secured=False),
    Route("GET", "/tts/websocket", "Contexts", socket=Socket((GenerationRequest, CancelRequest), SENDS)),
)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    return json.loads(document("Antiphon", "0.1.0", ROUTES))


def references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [ref for part in value.values() for ref in references(part)]
    if isinstance(value, list):
        return [ref for part in value for ref in references(part)]
    return []


def test_every_reference_leads_somewhere(page: dict[str, Any]) -> None:
    schemas = page["components"]["schemas"]
    found = references(page)
    assert len(found) > 10
    assert all(ref.removeprefix("#/components/schemas/") in schemas for ref in found)


def test_bodies_are_the_structs(page: dict[str, Any]) -> None:
    body = page["paths"]["/tts/bytes"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/BytesRequest"}
    schema = page["components"]["schemas"]["BytesRequest"]
    assert set(schema["required"]) == {"model_id", "transcript", "voice", "output_format"}
    socket = page["components"]["schemas"]["GenerationRequest"]["properties"]
    assert {"continue", "flush", "max_buffer_delay_ms"} <= set(socket)


def test_operations(page: dict[str, Any]) -> None:
    paths = page["paths"]
    assert paths["/voices"]["get"]["parameters"][0]["name"] == "limit"
    assert paths["/voices/{id}"]["get"]["parameters"][0] == {
        "name": "id", "in": "path", "required": True, "schema": {"type": "string"},
    }  # fmt: skip
    assert set(paths["/voices/{id}"]) == {"get", "delete"}
    assert "content" not in paths["/voices/{id}"]["delete"]["responses"]["204"]
    assert "security" not in paths["/health"]["get"]
    assert paths["/tts/bytes"]["post"]["responses"]["200"]["content"].keys() == {"audio/wav"}
    ids = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert len(ids) == len(set(ids))


def test_sockets_are_described(page: dict[str, Any]) -> None:
    operation = page["paths"]["/tts/websocket"]["get"]
    assert "101" in operation["responses"]
    assert {"$ref": "#/components/schemas/Chunk"} in operation["x-websocket"]["sends"]
    assert {"$ref": "#/components/schemas/CancelRequest"} in operation["x-websocket"]["receives"]


def test_a_route_described_twice_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="twice"):
        document("x", "1", (ROUTES[3], ROUTES[3]))


def test_listening_routes_are_described_too() -> None:
    form: Any = {"request_type": "multipart/form-data"}
    routes = (
        Route("POST", "/stt", "Batch", SttForm, {200: Answer("Text", SttReply)}, **form),
        Route("POST", "/v1/audio/transcriptions", "Batch", TranscriptionForm, **form),
        Route("GET", "/stt/websocket", "Finalize", socket=Socket((Literal["finalize", "close"],), (SttMessage,))),
        Route("GET", "/stt/turns/websocket", "Turns", socket=Socket((CloseCommand, ConfigCommand), (TurnsMessage,))),
        Route("GET", "/tts/websocket", "Contexts", socket=Socket((GenerationRequest,), SENDS)),
    )
    page = json.loads(document("Antiphon", "0.1.0", routes))
    schemas = page["components"]["schemas"]
    assert {"SttTranscript", "TurnEagerEnd", "Done", "SttDone"} <= set(schemas), "no name is taken twice"
    body = page["paths"]["/stt"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert body == {"$ref": "#/components/schemas/SttForm"}
    assert schemas["SttForm"]["properties"]["file"] == {"type": "string", "format": "binary"}
    assert schemas["SttForm"]["required"] == ["file"]
    assert schemas["TurnUpdate"]["required"] == ["type", "request_id", "transcript"]
