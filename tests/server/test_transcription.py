"""A recording in, its text out: both dialects, every shape of the answer, and what is refused."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile

from antiphon.core.errors import AtCapacity
from antiphon.core.event import Failed
from antiphon.core.hearing import Listened
from antiphon.server.journal import AudioTaken, Crashed, RequestEnded, StreamEnded
from antiphon.server.lines import CLOGGED_S

from .support import ScriptedEngine, in_process, run, serving, settings, until

CARTESIA = ("/stt", "/audio/transcriptions")
OPENAI = "/v1/audio/transcriptions"
SCRIPT = ("what time is it", "thank you")
TEXT = "what time is it thank you"
FORM = {"model": "whisper-1"}


def hearing() -> ScriptedEngine:
    return ScriptedEngine(hears=SCRIPT)


def recording(seconds: float = 5.0, rate_hz: int = 16_000, kind: str = "WAV") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, np.zeros(round(seconds * rate_hz), np.float32), rate_hz, format=kind)
    return file.getvalue()


def part(data: bytes) -> dict[str, tuple[str, bytes]]:
    return {"file": ("speech.wav", data)}


@pytest.mark.parametrize("path", CARTESIA)
def test_cartesias_answer(path: str) -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, app, diary):
            answer = await client.post(path, files=part(recording()), data={"model": "ink-whisper"})
            assert answer.status_code == 200
            body = answer.json()
            assert (body["type"], body["text"], body["is_final"]) == ("transcript", TEXT, True)
            assert body["duration"] == pytest.approx(5.0)
            assert "words" not in body
            assert body["request_id"] == answer.headers["x-request-id"]
            form = {"model": "ink-whisper", "timestamp_granularities[]": "word"}
            timed = (await client.post(path, files=part(recording()), data=form)).json()
            assert timed["words"][1] == {"word": "time", "start": 0.5, "end": 1.0}
            assert sum(taken.audio_s for taken in diary.of(AudioTaken)) == pytest.approx(10.0)
            assert app.hub.admission.streams == app.hub.admission.uploads == 0

    run(test())


@pytest.mark.parametrize(
    ("format_", "content_type", "begins"),
    [
        ("json", "application/json", '{"text":"what time'),
        ("text", "text/plain", "what time is it thank you\n"),
        ("srt", "text/plain", "1\n00:00:00,000 --> 00:00:02,000\nwhat time is it\n\n2\n00:00:03,000"),
        ("vtt", "text/vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nwhat"),
        ("verbose_json", "application/json", '{"task":"transcribe","language":"english","duration":5.0'),
    ],
)
def test_openais_answers(format_: str, content_type: str, begins: str) -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, _, _):
            answer = await client.post(OPENAI, files=part(recording()), data={**FORM, "response_format": format_})
            assert answer.status_code == 200
            assert answer.headers["content-type"].split(";")[0] == content_type
            assert answer.text.startswith(begins)
            assert "recognition;dur=" in answer.headers["server-timing"]

    run(test())


def test_openais_events() -> None:
    async def test() -> None:
        form = {"model": "gpt-4o-transcribe", "stream": "true"}
        async with in_process(hearing()) as (client, _, _):
            answer = await client.post(OPENAI, files=part(recording()), data=form)
            assert answer.headers["content-type"] == "text/event-stream"
            events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
            assert events[-1]["type"] == "transcript.text.done"
            assert events[-1]["text"] == TEXT
            assert "".join(event["delta"] for event in events[:-1]) == TEXT
            assert len(events) > 3

    run(test())


@pytest.mark.parametrize("kind", ["WAV", "FLAC", "OGG", "MP3"])
@pytest.mark.parametrize("rate_hz", [8_000, 44_100])
def test_containers_of_any_rate_are_heard_at_16_khz(kind: str, rate_hz: int) -> None:
    async def test() -> None:
        engine = hearing()
        async with in_process(engine) as (client, _, _):
            answer = await client.post(OPENAI, files=part(recording(2.0, rate_hz, kind)), data=FORM)
            assert answer.json()["usage"]["seconds"] == pytest.approx(2.0, abs=0.1)
            (ear,) = engine.ear.streams
            assert (ear.config.encoding, ear.config.sample_rate_hz) == ("pcm_f32le", 16_000)
            assert ear.pushed_bytes / 4 / 16_000 == pytest.approx(2.0, abs=0.1)

    run(test())


def test_raw_samples_are_described_by_the_query() -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, _, _):
            raw = {"encoding": "pcm_mulaw", "sample_rate": "8000"}
            answer = await client.post("/stt", params=raw, files=part(b"\xff" * 40_000), data=FORM)
            assert answer.json()["text"] == TEXT
            assert answer.json()["duration"] == 5.0
            half = await client.post("/stt", params={"encoding": "pcm_s16le"}, files=part(b"\0\0"), data=FORM)
            assert half.status_code == 400
            assert "sample_rate" in half.json()["message"]

    run(test())


@pytest.mark.parametrize("path", [*CARTESIA, OPENAI])
def test_what_is_no_recording_is_400(path: str) -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, app, diary):
            for files in (part(b""), part(b"hello " * 100), part(b"RIFF"), {"other": ("a.wav", recording())}):
                answer = await client.post(path, files=files, data=FORM)
                assert answer.status_code == 400
                assert "file" in answer.text
                assert "object at" not in answer.text
            for body, kind in ((b"{}", "application/json"), (b"--x", "multipart/form-data; boundary=x"),
                               (b"x", "multipart/form-data"), (b"", "")):  # fmt: skip
                answer = await client.post(path, content=body, headers={"content-type": kind})
                assert answer.status_code == 400
            assert app.hub.admission.streams == app.hub.admission.uploads == 0
            assert not diary.of(Crashed)

    run(test())


def test_a_field_that_cannot_be_is_400_and_named() -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, _, _):
            for form in ({"response_format": "mp3"}, {"stream": "perhaps"}, {"timestamp_granularities[]": "phoneme"}):
                answer = await client.post(OPENAI, files=part(recording()), data={**FORM, **form})
                assert answer.status_code == 400
                assert next(iter(form)).removesuffix("[]") in answer.json()["error"]["message"]

    run(test())


def test_translations_are_refused_clearly() -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, _, _):
            answer = await client.post("/v1/audio/translations", files=part(recording()), data=FORM)
            assert answer.status_code == 501
            assert "does not translate" in answer.json()["error"]["message"]

    run(test())


def test_who_may_transcribe() -> None:
    async def test() -> None:
        given = settings(server={"api_keys": {"alice": {"key": "sk-alice"}}})
        async with in_process(hearing(), given) as (client, _, _):
            made = await client.post("/access-token", json={"grants": {"tts": True}}, headers={"X-API-Key": "sk-alice"})
            speaks = {"Authorization": f"Bearer {made.json()['token']}"}
            for path in (*CARTESIA, OPENAI, "/v1/audio/translations"):
                assert (await client.post(path, files=part(recording()), data=FORM)).status_code == 401
                assert (await client.post(path, files=part(recording()), data=FORM, headers=speaks)).status_code == 403
            alice = {"Authorization": "Bearer sk-alice"}
            assert (await client.post(OPENAI, files=part(recording()), data=FORM, headers=alice)).status_code == 200

    run(test())


def test_no_place_is_429_and_a_failure_of_the_ear_500() -> None:
    async def test() -> None:
        engine = hearing()
        async with in_process(engine) as (client, app, _):
            engine.refuse = AtCapacity("all places of the ear are in use", 2.0)
            answer = await client.post(OPENAI, files=part(recording()), data=FORM)
            assert answer.status_code == 429
            assert answer.headers["retry-after"] == "2"
            engine.refuse = None
            open_stream = engine.ear.open_stream

            def failing(config: Any, wake: Any) -> Any:
                stream = open_stream(config, wake)
                stream.say(Failed("the ear failed on this piece"))
                return stream

            engine.ear.open_stream = failing  # type: ignore[method-assign]
            answer = await client.post(OPENAI, files=part(recording()), data=FORM)
            assert answer.status_code == 500
            assert not engine.open
            assert app.hub.admission.streams == 0

    run(test())


def test_recordings_over_the_limit_are_refused_while_json_bodies_have_their_own() -> None:
    async def test() -> None:
        given = settings(server={"body_limit_bytes": 2048}, stt={"file_limit_bytes": 200_000})
        async with serving(hearing(), given) as served, served.client() as client:
            assert (await client.post(OPENAI, files=part(recording(5.0)), data=FORM)).status_code == 200
            answer = await client.post(OPENAI, files=part(bytes(3 << 20)), data=FORM)
            assert answer.status_code == 413
            assert "200000" in answer.json()["error"]["message"]
            assert (await client.post("/tts/bytes", content=b"x" * 4000)).status_code == 413

    run(test())


def test_only_so_many_recordings_come_in_at_once() -> None:
    async def test() -> None:
        async with serving(hearing(), settings(stt={"max_uploads": 1})) as served, served.client() as client:
            more = asyncio.Event()
            whole = httpx.Request("POST", f"{served.url}{OPENAI}", files=part(recording()), data=FORM)
            body = whole.read()

            async def slowly() -> AsyncIterator[bytes]:
                yield body[:100]
                await more.wait()
                yield body[100:]

            kind = {"content-type": whole.headers["content-type"]}
            slow = asyncio.create_task(client.post(OPENAI, content=slowly(), headers=kind))
            await until(lambda: served.app.hub.admission.uploads)
            assert (await client.post(OPENAI, files=part(recording()), data=FORM)).status_code == 429
            more.set()
            assert (await slow).json()["text"] == TEXT

    run(test())


def clog(engine: ScriptedEngine) -> None:
    """From here on its ear has more to hear than it may."""
    open_stream = engine.ear.open_stream

    def clogged(config: Any, wake: Any) -> Any:
        stream = open_stream(config, wake)
        stream.backlog_s = CLOGGED_S + 1
        return stream

    engine.ear.open_stream = clogged  # type: ignore[method-assign]


def test_a_caller_who_leaves_while_sending_or_while_waiting_frees_everything() -> None:
    async def test() -> None:
        engine = hearing()
        async with serving(engine) as served:
            hub = served.app.hub
            whole = httpx.Request("POST", f"{served.url}{OPENAI}", files=part(recording()), data=FORM)
            body, kind = whole.read(), whole.headers["content-type"]
            head = f"POST {OPENAI} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            _, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(head.encode() + body[: len(body) // 2])
            await until(lambda: hub.admission.uploads)
            writer.transport.abort()
            await served.diary.until(RequestEnded)
            assert hub.admission.uploads == 0
            assert not engine.ear.streams

            clog(engine)
            _, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(head.encode() + body)
            await until(lambda: engine.ear.streams)
            writer.transport.abort()
            (ended,) = await served.diary.until(StreamEnded)
            assert ended.outcome == "dropped"
            await until(lambda: not hub.lifecycle.guests)
            assert [request.status for request in await served.diary.until(RequestEnded, 2)] == [499, 499]
            assert not engine.open
            assert not served.diary.of(Crashed)

    run(test())


def test_a_long_file_is_decoded_no_faster_than_it_is_heard() -> None:
    async def test() -> None:
        engine = hearing()
        clog(engine)
        async with serving(engine) as served, served.client() as client:
            asking = asyncio.create_task(client.post(OPENAI, files=part(recording(600.0, 8_000)), data=FORM))
            await until(lambda: engine.ear.streams)
            ear = engine.ear.streams[0]
            for second in range(3):
                # One sign of life lets in one look at the backlog, and nothing comes while it is too long.
                ear.say(Listened(second, False))
                for _ in range(50):
                    await asyncio.sleep(0)
                assert ear.pushed_bytes == 0
            ear.backlog_s = 0.0
            ear.say(Listened(4, False))
            answer = await asking
            assert answer.json()["usage"]["seconds"] == pytest.approx(600.0)
            assert answer.json()["text"] == TEXT

    run(test())


def test_a_server_that_leaves_finishes_a_transcription_or_says_that_it_cannot() -> None:
    async def test() -> None:
        engine = hearing()
        async with serving(engine) as served, served.client() as client:
            clog(engine)
            asking = asyncio.create_task(client.post(OPENAI, files=part(recording()), data=FORM))
            await until(lambda: engine.ear.streams)
            await served.app.hub.lifecycle.drain(0.05)
            answer = await asking
            assert answer.status_code == 503
            assert served.diary.of(StreamEnded)[0].outcome == "cut"

    run(test())


def test_models_name_the_ear_and_what_clients_call_it() -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, _, _):
            names = [card["id"] for card in (await client.get("/v1/models")).json()["data"]]
            assert {"fake-ear", "whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "tts-1"} <= set(names)

    run(test())


def test_the_page_describes_the_listening_routes() -> None:
    async def test() -> None:
        async with in_process(hearing()) as (client, _, _):
            paths = (await client.get("/openapi.json")).json()["paths"]
            assert "multipart/form-data" in paths["/stt"]["post"]["requestBody"]["content"]
            assert "multipart/form-data" in paths[OPENAI]["post"]["requestBody"]["content"]
            assert paths["/stt/turns/websocket"]["get"]["x-websocket"]["sends"]

    run(test())
