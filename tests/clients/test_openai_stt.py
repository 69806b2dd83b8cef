"""`openai` (Python): transcriptions in every shape, as a stream, and errors."""

from collections.abc import Iterator
from typing import Any

import pytest

from .required import required
from .running import Server, strict
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, assert_words_in_time, pcm, wav

openai = required("openai")


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    with strict(openai.OpenAI, server.openai, server.key) as made:
        yield made


@pytest.fixture(scope="module")
def recording(server: Server) -> tuple[str, bytes]:
    return "speech.wav", wav(pcm(server, QUESTION, WISH))


def test_json(client: Any, recording: tuple[str, bytes]) -> None:
    answer = client.audio.transcriptions.create(file=recording, model="gpt-4o-mini-transcribe")
    assert_understood(answer.text, QUESTION, WISH)


def test_verbose_json_with_words(client: Any, recording: tuple[str, bytes]) -> None:
    answer = client.audio.transcriptions.create(
        file=recording,
        model="whisper-1",
        language="en",
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
    )
    seconds = (len(recording[1]) - 44) / 2 / RATE_HZ
    assert_understood(answer.text, QUESTION, WISH)
    assert answer.language == "english"
    assert float(answer.duration) == pytest.approx(seconds, abs=0.1)
    assert_words_in_time([(word.word, word.start, word.end) for word in answer.words], answer.text, seconds)
    assert_understood("".join(segment.text for segment in answer.segments), QUESTION, WISH)


def test_subtitles_and_text(client: Any, recording: tuple[str, bytes]) -> None:
    def ask(kind: str) -> str:
        return str(client.audio.transcriptions.create(file=recording, model="whisper-1", response_format=kind))

    srt = ask("srt")
    assert srt.startswith("1\n00:00:0")
    assert_understood(" ".join(line for line in srt.splitlines() if line and line[0].isalpha()), QUESTION, WISH)
    assert ask("vtt").startswith("WEBVTT\n\n00:00:0")
    assert_understood(ask("text").strip(), QUESTION, WISH)


def test_stream(client: Any, recording: tuple[str, bytes]) -> None:
    events = list(client.audio.transcriptions.create(file=recording, model="gpt-4o-transcribe", stream=True))
    *deltas, done = events
    assert done.type == "transcript.text.done"
    assert_understood(done.text, QUESTION, WISH)
    assert {event.type for event in deltas} == {"transcript.text.delta"}
    assert "".join(event.delta for event in deltas) == done.text


def test_errors_say_what_is_wrong(client: Any, recording: tuple[str, bytes]) -> None:
    with pytest.raises(openai.BadRequestError, match="recording"):
        client.audio.transcriptions.create(file=("speech.mp3", b"no audio"), model="whisper-1")
    with pytest.raises(openai.BadRequestError, match="diarized"):
        client.audio.transcriptions.create(file=recording, model="whisper-1", response_format="diarized_json")
    with pytest.raises(openai.APIStatusError, match="translate") as raised, pytest.deprecated_call():
        client.audio.translations.create(file=recording, model="whisper-1")
    assert raised.value.status_code == 501
