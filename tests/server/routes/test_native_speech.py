"""The native speech socket over a real wire: places, back-pressure, cancel and disconnect, streams that move."""

import asyncio
import json
from typing import Any

from websockets.asyncio.client import ClientConnection

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Saved, Timed, Unsaved, WordTimes
from antiphon.server.journal import StreamEnded, StreamOpened
from antiphon.settings import Settings

from ..movable import MovableEngine
from ..support import RATE_HZ, ScriptedEngine, Served, audio, run, serving, settings, until

PATH = "/speech/websocket"
KEY = "a key of the whole fleet"


async def put(socket: ClientConnection, kind: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": kind, **fields}))


async def take(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(5):
        frame = await socket.recv()
    return {"type": frame[:1], "data": frame[1:]} if isinstance(frame, bytes) else dict(json.loads(frame))


async def begun(served: Served, socket: ClientConnection, **start: Any) -> Any:
    await put(socket, "start", voice="v", **start)
    assert (await take(socket))["type"] == "ready"
    return served.engine.streams[-1]


async def saved(socket: ClientConnection, stream: Any) -> tuple[dict[str, Any], bytes]:
    await put(socket, "save")
    await until(lambda: stream.saves)
    stream.say(Saved("v", b"the rest"))
    told, frame, done = [await take(socket) for _ in range(3)]
    assert done["reason"] == "saved"
    return told, frame["data"]


def fleet(**tts: Any) -> Settings:
    return settings(tts={"snapshot_key": KEY, **tts})


def test_text_in_audio_and_words_out() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.socket(path=PATH) as socket:
            stream = await begun(served, socket)
            assert served.app.hub.admission.streams == 1
            await put(socket, "text", text="Hello")
            await put(socket, "end")
            await until(lambda: stream.flushes)
            assert stream.pushed == ["Hello"]
            stream.say(WordTimes((Timed("Hello", 0, 480),), (), RATE_HZ), audio())
            stream.end()
            words, sound, done = [await take(socket) for _ in range(3)]
            assert words["words"][0]["end_sample"] == 480
            assert (sound["type"], sound["data"]) == (b"\1", b"\1\0" * 480)
            assert (done["samples"], done["reason"]) == (480, "completed")
            assert (stream.closed, served.app.hub.admission.streams) == (True, 0)
            opened, ended = await served.diary.until(StreamOpened), await served.diary.until(StreamEnded)
            assert (opened[0].route, ended[0].outcome) == (PATH, "done")
            await begun(served, socket)

    run(test())


def test_a_stream_without_a_place_is_refused_before_it_is_ready_and_the_socket_lives() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with (
            serving(engine, settings(server={"max_streams": 1})) as served,
            served.socket(path=PATH) as socket,
            served.socket(path=PATH) as other,
        ):
            stream = await begun(served, socket)
            await put(other, "start", voice="v")
            assert (await take(other))["code"] == "at_capacity"
            await put(other, "start", voice="nobody")
            assert (await take(other))["code"] == "invalid_message"
            await put(socket, "cancel")
            assert (await take(socket))["reason"] == "cancelled"
            assert stream.closed
            engine.refuse = AtCapacity("the engine is full")
            await put(other, "start", voice="v")
            assert (await take(other))["message"] == "the engine is full"
            engine.refuse = None
            await begun(served, other)

    run(test())


def test_a_full_server_says_so_on_the_socket_and_closes_it() -> None:
    async def test() -> None:
        async with (
            serving(ScriptedEngine(), settings(server={"max_connections": 1})) as served,
            served.socket(path=PATH),
            served.socket(path=PATH) as other,
        ):
            told = await take(other)
            assert (told["code"], told["fatal"]) == ("at_capacity", True)
            await other.wait_closed()
            assert other.close_code == 1013

    run(test())


def test_a_cancel_takes_back_what_has_not_left_and_a_client_who_leaves_frees_the_place() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served:
            async with served.socket(path=PATH) as socket:
                stream = await begun(served, socket)
                stream.say(*[audio(bytes(48_000))] * 40)
                await take(socket)
                await put(socket, "cancel")
                while (frame := await take(socket))["type"] != "done":
                    assert frame["type"] == b"\1"
                assert frame["reason"] == "cancelled"
                assert stream.closed
                other = await begun(served, socket)
            await until(lambda: other.closed)
            assert served.app.hub.admission.streams == 0

    run(test())


def test_who_does_not_read_is_not_read_ahead_for() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.socket(path=PATH, max_queue=1) as socket:
            stream = await begun(served, socket)
            stream.say(*[audio(bytes(48_000))] * 400)
            await until(lambda: stream.taken)
            for _ in range(200):
                await asyncio.sleep(0)
            assert stream.waiting > 100

    run(test())


def test_a_stream_moves_to_another_server_of_the_fleet() -> None:
    async def test() -> None:
        here, there = MovableEngine(), MovableEngine()
        async with (
            serving(here, fleet()) as first,
            serving(there, settings(tts={"snapshot_key": KEY}, engine={"lead_s": 2.0})) as second,
            first.socket(path=PATH) as socket,
            second.socket(path=PATH) as other,
        ):
            stream = await begun(first, socket)
            stream.say(audio())
            await take(socket)
            told, sealed = await saved(socket, stream)
            assert (told["sample"], told["size_bytes"]) == (480, len(sealed))
            assert stream.closed
            assert first.app.hub.admission.streams == 0
            await other.send(b"\2" + sealed)
            ready = await take(other)
            assert (ready["sample"], ready["resumed"]) == (480, True)
            assert there.resumed == [(b"the rest", "", 2.0)]
            await put(other, "text", text="More.")
            await until(lambda: there.streams[-1].pushed == ["More."])

    run(test())


def test_who_may_not_resume() -> None:
    """Other keys, other engines, other weights; each is said, and the socket lives."""

    async def test() -> None:
        async with (
            serving(MovableEngine(), fleet()) as first,
            serving(MovableEngine()) as stranger,
            serving(ScriptedEngine(), fleet()) as simple,
            first.socket(path=PATH) as socket,
            stranger.socket(path=PATH) as unknown,
            simple.socket(path=PATH) as unable,
        ):
            _, sealed = await saved(socket, await begun(first, socket))
            await unknown.send(b"\2" + sealed)
            told = await take(unknown)
            assert (told["code"], "tts.snapshot_key" in told["message"]) == ("bad_snapshot", True)
            await unable.send(b"\2" + sealed)
            told = await take(unable)
            assert (told["code"], "cannot go on" in told["message"]) == ("bad_snapshot", True)
            first.engine.refuse = InvalidInput("the snapshot is of a voice with other weights", "snapshot")
            await socket.send(b"\2" + sealed)
            assert "other weights" in (await take(socket))["message"]
            first.engine.refuse = None
            await socket.send(b"\2" + sealed)
            assert (await take(socket))["type"] == "ready"
            assert [served.app.hub.admission.streams for served in (first, stranger, simple)] == [1, 0, 0]

    run(test())


def test_a_voice_that_cannot_be_saved_goes_on() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.socket(path=PATH) as socket:
            stream = await begun(served, socket)
            await put(socket, "save")
            told = await take(socket)
            assert (told["code"], "cannot save" in told["message"]) == ("not_saved", True)
            await put(socket, "end")
            await until(lambda: stream.flushes)
            stream.say(audio())
            stream.end()
            assert [(await take(socket))["type"] for _ in range(2)] == [b"\1", "done"]
            (ended,) = await served.diary.until(StreamEnded)
            assert ended.outcome == "done"
        movable = MovableEngine()
        async with serving(movable) as served, served.socket(path=PATH) as socket:
            stream = await begun(served, socket)
            await put(socket, "save")
            await until(lambda: stream.saves)
            stream.say(Unsaved("too much text waits"), audio())
            assert (await take(socket))["code"] == "not_saved"
            assert (await take(socket))["type"] == b"\1"

    run(test())


def test_a_server_that_leaves_lets_its_streams_be_moved() -> None:
    async def test() -> None:
        engine = MovableEngine()
        async with serving(engine, fleet()) as served, served.socket(path=PATH) as socket:
            stream = await begun(served, socket)
            draining = asyncio.create_task(served.app.hub.lifecycle.drain(5.0))
            assert (await take(socket))["type"] == "leaving"
            await saved(socket, stream)
            await socket.wait_closed()
            assert socket.close_code == 1012
            await draining

    run(test())


def test_frames_as_large_as_a_snapshot_come_in_also_where_others_may_not() -> None:
    async def test() -> None:
        small = settings(server={"frame_limit_bytes": 1024}, tts={"snapshot_key": KEY})
        async with serving(MovableEngine(), small) as served, served.socket(path=PATH) as socket:
            await socket.send(b"\2" + bytes(1 << 20))
            assert (await take(socket))["code"] == "bad_snapshot"
            await put(socket, "start", voice="v" * 1100)
            assert "1024" in (await take(socket))["message"]

    run(test())


def test_the_route_is_described_and_wants_a_key() -> None:
    async def test() -> None:
        keyed = settings(server={"api_keys": {"alice": {"key": "k"}}}, tts={"snapshot_key": KEY})
        async with serving(MovableEngine(), keyed) as served:
            async with served.client() as client:
                paths = (await client.get("/openapi.json")).json()["paths"]
                assert paths[PATH]["get"]["x-websocket"]["sends"]
                assert (await client.get(PATH)).status_code == 426
            async with served.socket(path=PATH, query="?api_key=k") as socket:
                stream = await begun(served, socket)
                assert stream.config.owner == "alice"

    run(test())
