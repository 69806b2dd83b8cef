"""Cartesia's batch transcription, checked against the public SDK's own types."""

from typing import Any

import msgspec
import pytest
from cartesia.types.stt_transcribe_response import STTTranscribeResponse

from antiphon.core.errors import InvalidInput
from antiphon.core.hearing import HearingConfig
from antiphon.protocol.cartesia_stt_batch import read_stt_request, stt_reply
from antiphon.protocol.transcription import Transcript, TranscriptDraft, missing_file

from .ear_shell import final


def transcript() -> Transcript:
    draft = TranscriptDraft()
    draft.add(final(" Hello there.", 0.5, 1.5))
    draft.add(final(" Bye", 2, 2.5))
    return draft.finish(3.25)


def reply(fields: list[tuple[str, str]], heard: Transcript) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(stt_reply(read_stt_request(fields, []), heard, "r")))
    STTTranscribeResponse.model_validate(body, strict=True)
    assert None not in body.values()
    return body


def test_defaults() -> None:
    request = read_stt_request([("model", "ink-whisper")], [])
    assert request.config == HearingConfig("ink-whisper", "en", interim=False)
    assert (request.raw, request.words) == (False, False)
    assert read_stt_request([], []).config.model == ""


def test_raw_samples_are_described_by_the_query() -> None:
    query = [("encoding", "pcm_mulaw"), ("sample_rate", "8000")]
    request = read_stt_request([("model", "m"), ("language", "fr")], query)
    assert request.raw
    config = request.config
    assert (config.encoding, config.sample_rate_hz, config.language) == ("pcm_mulaw", 8000, "fr")
    assert not read_stt_request([], [("sample_rate", "8000")]).raw


@pytest.mark.parametrize("name", ["timestamp_granularities[]", "timestamp_granularities", "timestamp_granularities[0]"])
def test_words_are_given_if_asked_for(name: str) -> None:
    body = reply([("model", "m"), (name, "word")], transcript())
    assert body == {
        "type": "transcript",
        "request_id": "r",
        "text": "Hello there. Bye",
        "is_final": True,
        "duration": 3.25,
        "language": "en",
        "words": [
            {"word": "Hello", "start": 0.5, "end": 1.0},
            {"word": "there.", "start": 1.0, "end": 1.5},
            {"word": "Bye", "start": 2.0, "end": 2.5},
        ],
    }
    assert "words" not in reply([("model", "m")], transcript())


def test_silence_is_an_empty_text() -> None:
    body = reply([("language", "de")], TranscriptDraft().finish(1.0))
    assert (body["text"], body["language"]) == ("", "de")


def test_the_openai_form_is_taken_and_its_other_fields_have_no_effect() -> None:
    fields = [("prompt", "x"), ("temperature", "0.5"), ("response_format", "srt"), ("language", "German")]
    assert read_stt_request(fields, []) == read_stt_request([("language", "de")], [])


@pytest.mark.parametrize(
    ("fields", "query", "param"),
    [
        ([], [("encoding", "opus"), ("sample_rate", "16000")], "encoding"),
        ([], [("encoding", "pcm_s16le")], "sample_rate"),
        ([], [("encoding", "pcm_s16le"), ("sample_rate", "1e4")], "sample_rate"),
        ([], [("encoding", "pcm_s16le"), ("sample_rate", "1")], "sample_rate"),
        ([], [("encoding", "pcm_s16le"), ("sample_rate", "9" * 5000)], "sample_rate"),
        ([("language", "not a language")], [], "language"),
        ([("timestamp_granularities[]", "phoneme")], [], "timestamp_granularities"),
    ],
)
def test_odd_requests_name_the_field(fields: list[tuple[str, str]], query: list[tuple[str, str]], param: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_stt_request(fields, query)
    assert caught.value.param == param
    assert param in str(caught.value)


def test_a_missing_file_is_named() -> None:
    assert missing_file().param == "file"
