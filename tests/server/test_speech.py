"""One-shot speech over HTTP: the status tells the truth, and so does the way a body ends."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Failed, Flushed, Timed, WordTimes
from antiphon.server.journal import Crashed, RequestEnded, StreamEnded, StreamOpened

from .support import ORDER, RATE_HZ, ScriptedEngine, audio, in_process, run, serving, settings, until

BYTES = {**ORDER, "transcript": "Hello."}
OPENAI = {"model": "tts-1", "input": "Hello.", "voice": "alloy", "response_format": "pcm"}


def frames(text: str) -> list[dict[str, object]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def test_bytes_are_the_streams_bytes() -> None:
    async def test() -> None:
        engine = ScriptedEngine(answers=True)
        async with in_process(engine) as (client, app, diary):
            answer = await client.post("/tts/bytes", json=BYTES)
            assert answer.status_code == 200
            assert answer.content == b"Hello.".ljust(960, b"\0")
            assert engine.streams[0].pushed == ["Hello."]
            assert engine.streams[0].flushes[-1][1] is True
            assert "cartesia-file-id" not in answer.headers
            for name in ("queue", "synthesis", "first-audio"):
                assert f"{name};dur=" in answer.headers["server-timing"]
            (opened,) = diary.of(StreamOpened)
            assert opened.request_id == answer.headers["x-request-id"]
            assert app.hub.admission.streams == 0
            assert engine.streams[0].closed

    run(test())


def test_save_names_a_file() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True)) as (client, _, _):
            answer = await client.post("/tts/bytes", json={**BYTES, "save": True})
            assert answer.headers["cartesia-file-id"]

    run(test())


def test_a_body_is_json_whatever_its_content_type_says() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True)) as (client, _, _):
            for kind in ("text/plain", "application/octet-stream", ""):
                answer = await client.post("/tts/bytes", content=json.dumps(BYTES), headers={"Content-Type": kind})
                assert answer.status_code == 200

    run(test())


@pytest.mark.parametrize("path", ["/tts/bytes", "/tts/sse", "/v1/audio/speech"])
@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"transcript": 5}', b"\xff\xfe", b'"' + b"\\ud800" + b'"'])
def test_what_is_not_an_order_is_400(path: str, body: bytes) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, app, _):
            assert (await client.post(path, content=body)).status_code == 400
            assert app.hub.admission.streams == 0

    run(test())


def test_bodies_and_texts_over_the_limit_are_refused() -> None:
    async def test() -> None:
        given = settings(server={"body_limit_bytes": 2048}, tts={"max_text_chars": 100})
        async with serving(ScriptedEngine(), given) as served, served.client() as client:
            declared = await client.post("/tts/bytes", content=b"x" * 4000)
            assert declared.status_code == 413

            async def chunked() -> AsyncIterator[bytes]:
                for _ in range(20):
                    yield b"x" * 1000

            assert (await client.post("/v1/audio/speech", content=chunked())).status_code == 413
            long = await client.post("/tts/bytes", json={**BYTES, "transcript": "a" * 101})
            assert long.status_code == 413
            assert "101" in long.json()["message"]

    run(test())


@pytest.mark.parametrize(
    ("refusal", "status"), [(AtCapacity("full", 2.5), 429), (InvalidInput("no such format"), 400)]
)
def test_refusals_have_their_status(refusal: Exception, status: int) -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        engine.refuse = refusal
        async with in_process(engine) as (client, app, _):
            for path, order in (("/tts/bytes", BYTES), ("/v1/audio/speech", OPENAI)):
                answer = await client.post(path, json=order)
                assert answer.status_code == status
                assert ("retry-after" in answer.headers) == (status == 429)
            assert app.hub.admission.streams == 0

    run(test())


def test_streams_over_the_limit_are_429_with_retry_after() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine, settings(server={"max_streams": 1})) as served, served.client() as client:
            first = asyncio.create_task(client.post("/tts/bytes", json=BYTES))
            await until(lambda: engine.streams)
            refused = await client.post("/tts/bytes", json=BYTES)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            engine.streams[0].say(audio(), Flushed("end"))
            assert (await first).status_code == 200
            second = asyncio.create_task(client.post("/tts/bytes", json=BYTES))
            await until(lambda: len(engine.streams) == 2)
            engine.streams[1].say(audio(), Flushed("end"))
            assert (await second).status_code == 200

    run(test())


@pytest.mark.parametrize(("path", "order"), [("/tts/bytes", BYTES), ("/tts/sse", BYTES), ("/v1/audio/speech", OPENAI)])
def test_a_failure_before_the_first_audio_has_its_own_status(path: str, order: dict[str, object]) -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with in_process(engine) as (client, app, diary):
            asked = asyncio.create_task(client.post(path, json=order))
            await until(lambda: engine.streams)
            engine.streams[0].say(Failed("the model fell over"))
            answer = await asked
            assert answer.status_code == 500
            assert "the model fell over" in answer.text
            assert diary.of(StreamEnded)[0].outcome == "failed"
            assert app.hub.admission.streams == 0

    run(test())


@pytest.mark.parametrize(("path", "order"), [("/tts/bytes", BYTES), ("/v1/audio/speech", OPENAI)])
def test_a_failure_later_breaks_the_body_off(path: str, order: dict[str, object]) -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.client() as client:

            async def ask() -> None:
                async with client.stream("POST", path, json=order) as answer:
                    chunks = answer.aiter_raw()
                    assert len(await anext(chunks)) == 960
                    engine.streams[0].say(Failed("the model fell over"))
                    with pytest.raises(httpx.RemoteProtocolError):
                        await anext(chunks)

            asking = asyncio.create_task(ask())
            await until(lambda: engine.streams)
            engine.streams[0].say(audio())
            await asking
            assert served.diary.of(StreamEnded)[0].outcome == "failed"
            assert not served.diary.of(Crashed)

    run(test())


def test_a_failure_later_is_told_in_the_stream_of_events() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with in_process(engine) as (client, _, _):
            asked = asyncio.create_task(client.post("/tts/sse", json={**BYTES, "context_id": "c"}))
            await until(lambda: engine.streams)
            engine.streams[0].say(audio(), Failed("the model fell over"))
            answer = await asked
            assert answer.status_code == 200
            assert [frame["type"] for frame in frames(answer.text)] == ["chunk", "error"]
            assert frames(answer.text)[-1]["message"] == "the model fell over"

    run(test())


def test_cartesia_events() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with in_process(engine) as (client, _, _):
            asked = asyncio.create_task(
                client.post("/tts/sse", json={**BYTES, "context_id": "c", "add_timestamps": True})
            )
            await until(lambda: engine.streams)
            hello = (Timed("Hello.", 0, RATE_HZ),)
            engine.streams[0].say(WordTimes(hello, hello, RATE_HZ), audio(b"\1\0"), Flushed("end"))
            answer = await asked
            assert answer.headers["content-type"].startswith("text/event-stream")
            told = frames(answer.text)
            assert [frame["type"] for frame in told] == ["timestamps", "chunk", "done"]
            assert base64.b64decode(str(told[1]["data"])) == b"\1\0"
            assert {frame["context_id"] for frame in told} == {"c"}

    run(test())


def test_openai_events() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True)) as (client, _, _):
            answer = await client.post("/v1/audio/speech", json={**OPENAI, "stream_format": "sse"})
            told = frames(answer.text)
            assert [frame["type"] for frame in told] == ["speech.audio.delta", "speech.audio.done"]

    run(test())


def test_a_text_without_sound_is_an_empty_body() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with in_process(engine) as (client, _, _):
            asked = asyncio.create_task(client.post("/tts/bytes", json={**BYTES, "transcript": "..."}))
            await until(lambda: engine.streams)
            engine.streams[0].say(Flushed("end"))
            answer = await asked
            assert (answer.status_code, answer.content) == (200, b"")

    run(test())


def test_C10_a_caller_who_leaves_frees_the_place_at_once() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served:
            for n in range(20):
                async with served.client() as client:
                    asked = asyncio.create_task(client.post("/tts/bytes", json=BYTES))
                    await until(lambda n=n: len(engine.streams) == n + 1)
                    if n % 2:  # half of them leave in the middle of the body
                        engine.streams[-1].say(audio())
                        await until(lambda: not engine.streams[-1].waiting)
                    asked.cancel()
                await until(lambda: engine.streams[-1].closed)
            assert served.app.hub.admission.streams == 0
            assert served.app.hub.lifecycle.guests == 0
            assert {entry.outcome for entry in served.diary.of(StreamEnded)} == {"dropped"}
            await served.diary.until(RequestEnded, 20)
            assert {entry.status for entry in served.diary.of(RequestEnded)} == {499}
            engine.answers = True
            async with served.client() as client:
                assert (await client.post("/tts/bytes", json=BYTES)).status_code == 200

    run(test())


def test_A13_the_body_is_streamed_and_ends_only_after_the_last_audio() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.client() as client:
            heard: list[bytes] = []

            async def ask() -> None:
                async with client.stream("POST", "/tts/bytes", json=BYTES) as answer:
                    assert "content-length" not in answer.headers
                    async for chunk in answer.aiter_raw():
                        heard.append(chunk)

            asking = asyncio.create_task(ask())
            await until(lambda: engine.streams)
            for n in range(3):
                engine.streams[0].say(audio(bytes([n]) * 100))
                await until(lambda n=n: len(heard) == n + 1)
            assert not asking.done()
            engine.streams[0].say(audio(b"last"), Flushed("end"))
            await asking
            assert heard[-1].endswith(b"last")

    run(test())
