"""``/v1/audio/transcriptions``, checked against the public SDK's own types."""

import json
import math
from typing import Any

import pytest
from openai.types.audio import (
    Transcription,
    TranscriptionStreamEvent,
    TranscriptionTextDoneEvent,
    TranscriptionVerbose,
)
from pydantic import TypeAdapter

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Failed, Flushed
from antiphon.core.hearing import Heard, HearingConfig, Listened
from antiphon.protocol.http import status_of
from antiphon.protocol.openai_http import error_reply
from antiphon.protocol.openai_transcription import (
    SseTranscription,
    decode_transcription_event,
    read_transcription_request,
    reply_type,
    transcription_reply,
    translations_refusal,
)
from antiphon.protocol.transcription import Transcript, TranscriptDraft

from .ear_shell import final, heard, s


def form(**fields: str) -> list[tuple[str, str]]:
    return [("model", "gpt-4o-transcribe"), *fields.items()]


def transcript() -> Transcript:
    draft = TranscriptDraft()
    draft.add(final(" Hello there.", 0.5, 1.5))
    draft.add(final(" Bye", 2, 2.5))
    return draft.finish(3.25)


def body(fields: list[tuple[str, str]], heard: Transcript | None = None) -> tuple[str, str]:
    reply = transcription_reply(read_transcription_request(fields), heard or transcript())
    assert reply.status == 200
    return reply.content_type, reply.body.decode()


def test_defaults() -> None:
    order = read_transcription_request(form())
    assert order.request.config == HearingConfig("gpt-4o-transcribe", "", interim=False)
    assert (order.format, order.sse, order.segments, order.logprobs, order.request.words) == (
        "json", False, True, False, False,
    )  # fmt: skip


def test_json() -> None:
    kind, text = body(form())
    assert kind == "application/json"
    assert json.loads(text) == {
        "text": "Hello there. Bye",
        "languages": [{"code": "en"}],
        "usage": {"type": "duration", "seconds": 3.25},
    }
    Transcription.model_validate_json(text, strict=True)


def test_log_probabilities_if_asked_for() -> None:
    _, text = body([*form(), ("include[]", "logprobs")])
    found = Transcription.model_validate_json(text).logprobs
    assert found is not None
    assert "".join(one.token or "" for one in found) == " Hello there. Bye"
    assert found[0].bytes == list(b" Hello")
    assert found[0].logprob == pytest.approx(math.log(0.9), abs=1e-6)


def test_text() -> None:
    assert body(form(response_format="text")) == ("text/plain; charset=utf-8", "Hello there. Bye\n")


def test_subtitles() -> None:
    assert body(form(response_format="srt"))[1] == (
        "1\n00:00:00,500 --> 00:00:02,500\nHello there. Bye\n\n"
    )
    kind, text = body(form(response_format="vtt"))
    assert kind.startswith("text/vtt")
    assert text == "WEBVTT\n\n00:00:00.500 --> 00:00:02.500\nHello there. Bye\n\n"


def verbose(*granularities: str) -> TranscriptionVerbose:
    fields = [*form(response_format="verbose_json"), *(("timestamp_granularities[]", one) for one in granularities)]
    _, text = body(fields)
    assert "null" not in text
    return TranscriptionVerbose.model_validate_json(text, strict=True)


def test_verbose_json() -> None:
    said = verbose()
    assert (said.language, said.duration, said.text) == ("english", 3.25, "Hello there. Bye")
    assert said.words is None
    assert said.segments is not None
    assert [(one.id, one.start, one.end, one.text) for one in said.segments] == [
        (0, 0.5, 1.5, " Hello there."),
        (1, 2.0, 2.5, " Bye"),
    ]
    assert said.segments[0].avg_logprob == pytest.approx(math.log(0.9), abs=1e-5)
    assert said.usage is not None
    assert said.usage.seconds == 3.25


def test_granularities() -> None:
    words = verbose("word")
    assert words.segments is None
    assert [(one.word, one.start, one.end) for one in words.words or []] == [
        ("Hello", 0.5, 1.0),
        ("there.", 1.0, 1.5),
        ("Bye", 2.0, 2.5),
    ]
    both = verbose("word", "segment")
    assert both.words
    assert both.segments
    assert verbose("segment").words is None


@pytest.mark.parametrize("name", ["json", "text", "srt", "verbose_json", "vtt"])
def test_the_media_type_is_known_before_the_text(name: str) -> None:
    order = read_transcription_request(form(response_format=name))
    assert reply_type(order) == transcription_reply(order, transcript()).content_type
    assert reply_type(read_transcription_request(form(stream="true"))) == "text/event-stream"


def test_silence_in_every_format() -> None:
    silence = TranscriptDraft().finish(2.0)
    assert json.loads(body(form(), silence)[1]) == {"text": "", "usage": {"type": "duration", "seconds": 2.0}}
    assert body(form(response_format="text"), silence)[1] == "\n"
    assert body(form(response_format="srt"), silence)[1] == ""
    assert body(form(response_format="vtt"), silence)[1] == "WEBVTT\n\n"
    said = json.loads(body(form(response_format="verbose_json", language="de"), silence)[1])
    assert (said["language"], said["segments"]) == ("german", [])


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ([("language", "de")], "de"),
        ([("language", "German")], "de"),
        ([("languages[]", "fr")], "fr"),
        ([("languages[]", "fr"), ("languages[]", "de")], ""),
        ([("language", "")], ""),
        ([("language", "auto")], ""),
    ],
)
def test_language_hints(fields: list[tuple[str, str]], language: str) -> None:
    assert read_transcription_request(fields).request.config.language == language


def test_what_has_no_effect_is_accepted() -> None:
    plain = read_transcription_request(form())
    for fields in (
        [("prompt", "Acme"), ("temperature", "0")],
        [("chunking_strategy", "auto")],
        [("chunking_strategy[type]", "server_vad"), ("chunking_strategy[threshold]", "0.5")],
        [("known_speaker_names[]", "Ann"), ("unknown", "x"), ("stream", "false")],
    ):
        assert read_transcription_request([*form(), *fields]) == plain
    assert read_transcription_request([*form(), ("keywords[]", "Acme Corp")]).request.config.keyterms == ("Acme Corp",)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": "diarized_json"}, "response_format"),
        ({"response_format": "docx"}, "response_format"),
        ({"timestamp_granularities[]": "syllable"}, "timestamp_granularities"),
        ({"include[]": "everything"}, "include"),
        ({"stream": "maybe"}, "stream"),
        ({"stream": "true", "response_format": "srt"}, "stream"),
        ({"language": "e"}, "language"),
    ],
)
def test_what_cannot_be_done_is_refused_in_openais_shape(fields: dict[str, str], param: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_transcription_request(form(**fields))
    reply = error_reply(caught.value)
    error = json.loads(reply.body)["error"]
    assert (reply.status, error["param"], error["type"]) == (400, param, "invalid_request_error")
    assert param in error["message"]


def test_translations_are_refused_for_good() -> None:
    refusal = translations_refusal()
    reply = error_reply(refusal)
    assert reply.status == status_of(refusal) == 501
    assert reply.headers["x-should-retry"] == "false"
    assert "/v1/audio/transcriptions" in json.loads(reply.body)["error"]["message"]


EVENTS: TypeAdapter[Any] = TypeAdapter(TranscriptionStreamEvent)


def streamed(writer: SseTranscription, *events: Any) -> list[dict[str, Any]]:
    found = []
    for event in events:
        for frame in writer.deliver(event):
            assert frame.startswith(b"data: ")
            assert frame.endswith(b"\n\n")
            assert frame.count(b"\n") == 2
            decode_transcription_event(frame[6:])
            found.append(json.loads(frame[6:]))
            if found[-1]["type"] != "error":
                EVENTS.validate_python(found[-1])
    return found


def stable(text: str, chars: int) -> Heard:
    return Heard(text, chars, False, (), 0, s(1))


def test_stream() -> None:
    order = read_transcription_request(form(stream="true"))
    assert order.sse
    assert order.request.config.interim is True
    found = streamed(
        SseTranscription(order),
        stable(" Hello", 0),
        stable(" Hello there", 6),
        stable(" Hello there old", 6),
        final(" Hello there, friend.", 0, 1),
        stable(" \nBye", 2),
        final(" \nBye ", 1, 2),
        final(" ", 2, 2.5),
        Listened(s(4.0), speech=False),
        Flushed("end"),
        final("late", 5, 6),
    )
    deltas = [event["delta"] for event in found[:-1]]
    assert deltas == ["Hello", " there, friend.", " \nBye"]
    assert found[-1] == {
        "type": "transcript.text.done",
        "text": "Hello there, friend. \nBye",
        "languages": [{"code": "en"}],
        "usage": {"type": "tokens", "input_tokens": 40, "output_tokens": 7, "total_tokens": 47},
    }
    assert found[-1]["text"] == "".join(deltas)
    TranscriptionTextDoneEvent.model_validate(found[-1], strict=True)


def test_stream_with_log_probabilities() -> None:
    order = read_transcription_request([*form(stream="true"), ("include[]", "logprobs")])
    found = streamed(SseTranscription(order), stable(" Hi", 3), final(" Hi you", 0, 1), Flushed("end"))
    assert "logprobs" not in found[0]
    assert [one["token"] for one in found[-1]["logprobs"]] == [" Hi", " you"]


def test_a_stream_of_silence_is_only_its_end() -> None:
    found = streamed(SseTranscription(read_transcription_request(form(stream="true"))), final("", 0, 1), Flushed("end"))
    assert [(event["type"], event["text"]) for event in found] == [("transcript.text.done", "")]


def test_a_failure_in_a_stream_is_its_last_event() -> None:
    writer = SseTranscription(read_transcription_request(form(stream="true")))
    found = streamed(writer, heard("a", 0, 1), Failed("broken"), Flushed("end"))
    assert [event["type"] for event in found] == ["error"]
    assert found[0]["error"]["message"] == "broken"
    assert writer.fail(AtCapacity("x")) == []
    assert writer.finish() == []


def test_whisper_1_ignores_stream() -> None:
    assert read_transcription_request([("model", "whisper-1"), ("stream", "true")]).sse is False
