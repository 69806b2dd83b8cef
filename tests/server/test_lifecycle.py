"""Leaving: what is under way is finished, or told that it is cut; sockets close with a code that clients understand."""

import asyncio

import pytest
from websockets.exceptions import ConnectionClosed

from antiphon.server.journal import PhaseChanged, StreamEnded
from antiphon.server.run import _Server

from .support import ORDER, ScriptedEngine, audio, receive, receive_until, run, send, serving, until

BYTES = {**ORDER, "transcript": "Hello."}


def test_an_idle_server_drains_at_once_and_its_sockets_are_told() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await until(lambda: served.app.hub.lifecycle.guests)
            await served.app.hub.lifecycle.drain(60)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
            assert [entry.phase for entry in served.diary.of(PhaseChanged)] == ["ready", "draining", "stopped"]

    run(test())


def test_speech_under_way_is_finished_before_the_socket_closes() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await send(socket, "c", "Text.", **{"continue": True})
            await until(lambda: served.engine.streams)
            draining = asyncio.create_task(served.app.hub.lifecycle.drain(60))
            await until(lambda: served.app.hub.lifecycle.phase == "draining")
            await send(socket, "new", "Text.")
            refused = await receive(socket)
            assert (refused["context_id"], refused["status_code"]) == ("new", 503)
            await send(socket, "c", " More.", **{"continue": False})
            await until(lambda: served.engine.streams[0].flushes)
            assert not draining.done()
            served.engine.streams[0].say(audio())
            served.engine.streams[0].end()
            assert [m["type"] for m in await receive_until(socket, "done")] == ["chunk", "done"]
            with pytest.raises(ConnectionClosed):
                await socket.recv()
            await draining
            assert served.diary.of(StreamEnded)[0].outcome == "done"

    run(test())


def test_what_does_not_finish_in_time_is_told_and_cut() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket, served.client() as client:
            for name in ("a", "b"):
                await send(socket, name, "Text.", **{"continue": True})
            early = asyncio.create_task(client.post("/tts/bytes", json=BYTES))
            await until(lambda: len(served.engine.streams) == 3)
            await served.app.hub.lifecycle.drain(0)
            errors = [await receive(socket), await receive(socket)]
            assert {error["context_id"] for error in errors} == {"a", "b"}
            assert {error["status_code"] for error in errors} == {503}
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
            assert (await early).status_code == 503
            assert {entry.outcome for entry in served.diary.of(StreamEnded)} == {"cut"}
            assert served.app.hub.admission.streams == 0

    run(test())


def test_a_socket_that_comes_while_draining_is_refused_or_shown_out() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as busy:
            await send(busy, "c", "Text.", **{"continue": True})
            await until(lambda: served.engine.streams)
            draining = asyncio.create_task(served.app.hub.lifecycle.drain(60))
            await until(lambda: served.app.hub.lifecycle.phase == "draining")
            async with served.client() as client:
                assert (await client.post("/tts/bytes", json=BYTES)).status_code == 503
                assert (await client.get("/ready")).status_code == 503
            served.engine.streams[0].say(audio())
            await receive(busy)
            await busy.close()
            await draining

    run(test())


def test_uvicorn_takes_no_signals_from_us() -> None:
    import signal

    before = signal.getsignal(signal.SIGTERM)
    server = object.__new__(_Server)
    with server.capture_signals():
        assert signal.getsignal(signal.SIGTERM) is before


def test_whoever_asks_twice_does_not_wait() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            lifecycle = served.app.hub.lifecycle
            await send(socket, "c", "Text.", **{"continue": True})
            await until(lambda: served.engine.streams)
            lifecycle.hurry()  # nobody has asked to leave yet
            draining = asyncio.create_task(lifecycle.drain(60))
            await until(lambda: lifecycle.phase == "draining")
            lifecycle.hurry()
            assert (await receive(socket))["status_code"] == 503
            with pytest.raises(ConnectionClosed):
                await socket.recv()
            await draining
            assert served.diary.of(StreamEnded)[0].outcome == "cut"

    run(test())
