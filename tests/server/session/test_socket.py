"""The socket shell over a real uvicorn: what leaves, in which order, and what is left behind."""

import asyncio
import base64
import json
import socket as sockets
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput
from antiphon.core.event import Failed, Warned
from antiphon.protocol.actions import AgentAction
from antiphon.server.auth import Principal
from antiphon.server.journal import (
    AudioSent,
    Crashed,
    Refused,
    StreamEnded,
    StreamOpened,
    StreamWarned,
)
from antiphon.server.journal import (
    ConnectionClosed as SocketClosed,
)
from antiphon.server.session import SpeechSocket

from ..support import (
    ORDER,
    ScriptedEngine,
    Served,
    audio,
    cancel,
    make_app,
    receive,
    receive_until,
    run,
    send,
    serving,
    settings,
    until,
)


def nothing_is_held(served: Served) -> bool:
    admission = served.app.hub.admission
    return not (admission.streams or admission.connections or served.engine.open or served.app.hub.lifecycle.guests)


def test_a_message_is_spoken_and_done() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True)) as served, served.socket() as socket:
            await send(socket, "c", "Hello.")
            chunk, done = await receive(socket), await receive(socket)
            assert (chunk["type"], chunk["context_id"]) == ("chunk", "c")
            assert base64.b64decode(chunk["data"]).startswith(b"Hello.")
            assert done["type"] == "done"
            assert served.app.hub.admission.streams == 0
            assert not served.engine.open

    run(test())


def test_the_upgrade_carries_the_request_id() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True)) as served, served.socket() as socket:
            assert socket.response is not None
            request_id = socket.response.headers["x-request-id"]
            await send(socket, "c", "Hello.")
            await receive_until(socket, "done")
            assert served.diary.of(StreamOpened)[0].request_id == request_id

    run(test())


def test_no_compression_is_negotiated() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            assert socket.response is not None
            assert "sec-websocket-extensions" not in socket.response.headers

    run(test())


def test_after_a_cancel_was_read_nothing_of_that_context_leaves() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await send(socket, "a", "First.", **{"continue": True})
            await until(lambda: served.engine.streams)
            first = served.engine.streams[0]
            first.say(audio())
            assert (await receive(socket))["context_id"] == "a"
            await cancel(socket, "a")
            await served.diary.until(StreamEnded)
            first.say(*[audio()] * 50)
            await send(socket, "b", "Second.")
            await until(lambda: len(served.engine.streams) == 2)
            second = served.engine.streams[1]
            second.say(audio())
            second.end()
            heard = await receive_until(socket, "done")
            assert {message["context_id"] for message in heard} == {"b"}
            assert served.diary.of(StreamEnded)[0].outcome == "cancelled"

    run(test())


def test_C3_audio_made_before_the_cancel_but_not_taken_is_gone() -> None:
    """A reader that is behind: everything it has not been sent belongs to the cancelled context."""

    async def test() -> None:
        async with serving(ScriptedEngine()) as served:
            reader, writer = await raw_socket(served)
            writer.write(frame(json_order("a", "Long.", more=True)))
            await until(lambda: served.engine.streams)
            stream = served.engine.streams[0]
            stream.say(*[audio(b"\1\0" * 24_000)] * 2000)  # far more than kernel buffers hold
            await until_still(lambda: stream.taken)
            assert stream.waiting > 0
            writer.write(frame(b'{"context_id": "a", "cancel": true}'))
            await served.diary.until(StreamEnded)
            taken = stream.taken
            writer.write(frame(json_order("b", "", more=False)))
            received = await read_until(reader, b'"context_id":"b"')
            assert stream.taken == taken
            assert received.count(b'"context_id":"a"') <= taken * 5  # 1 s pieces leave as five messages
            writer.close()

    run(test())


def test_C5_a_slow_reader_holds_back_only_its_own_streams() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as quick:
            _, writer = await raw_socket(served)
            writer.write(frame(json_order("slow", "Long.", more=True)))
            await until(lambda: served.engine.streams)
            slow = served.engine.streams[0]
            slow.say(*[audio(b"\1\0" * 24_000)] * 2000)
            await until_still(lambda: slow.taken)
            assert slow.waiting > 0
            await send(quick, "q", "Quick.")
            await until(lambda: len(served.engine.streams) == 2)
            served.engine.streams[1].say(audio())
            served.engine.streams[1].end()
            assert [m["type"] for m in await receive_until(quick, "done")] == ["chunk", "done"]
            assert slow.waiting > 0
            writer.close()
            await until(lambda: slow.closed)

    run(test())


def test_a_reader_that_takes_nothing_is_cut_off() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(server={"stall_timeout_s": 0.05})) as served:
            _, writer = await raw_socket(served)
            writer.write(frame(json_order("slow", "Long.", more=True)))
            await until(lambda: served.engine.streams)
            served.engine.streams[0].say(*[audio(b"\1\0" * 24_000)] * 2000)
            (ended,) = await served.diary.until(StreamEnded)
            assert ended.outcome == "dropped"
            await served.diary.until(SocketClosed)
            assert nothing_is_held(served)
            assert not served.diary.of(Crashed)
            writer.close()

    run(test())


def test_C4_contexts_take_turns_and_keep_their_own_order() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            for name in ("a", "b", "c"):
                await send(socket, name, "Text.")
            await until(lambda: len(served.engine.streams) == 3)
            for stream in served.engine.streams:
                stream.say(*[audio(bytes([n, 0]) * 10) for n in range(4)])
                stream.end()
            heard = [await receive(socket) for _ in range(15)]
            for name in ("a", "b", "c"):
                own = [m for m in heard if m["context_id"] == name]
                assert [base64.b64decode(m["data"])[0] for m in own[:-1]] == [0, 1, 2, 3]
                assert own[-1]["type"] == "done"
            assert [m["context_id"] for m in heard[:6]] == ["a", "b", "c"] * 2

    run(test())


def test_an_event_from_another_thread_wakes_the_socket() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await send(socket, "c", "Text.")
            await until(lambda: served.engine.streams and served.engine.streams[0].flushes)
            stream = served.engine.streams[0]
            await asyncio.to_thread(stream.say, audio())
            assert (await receive(socket))["type"] == "chunk"
            await asyncio.to_thread(stream.end)
            assert (await receive(socket))["type"] == "done"

    run(test())


def test_a_failed_stream_ends_its_context_and_nothing_else() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await send(socket, "bad", "Text.")
            await send(socket, "good", "Text.")
            await until(lambda: len(served.engine.streams) == 2)
            bad, good = served.engine.streams
            bad.say(Failed("the model fell over"))
            error = await receive(socket)
            assert (error["type"], error["context_id"], error["status_code"]) == ("error", "bad", 500)
            assert bad.closed
            good.say(audio())
            good.end()
            assert [m["context_id"] for m in await receive_until(socket, "done")] == ["good", "good"]
            outcomes = [entry.outcome for entry in served.diary.of(StreamEnded)]
            assert outcomes == ["failed", "done"]

    run(test())


@pytest.mark.parametrize("refusal", [AtCapacity("all full"), InvalidInput("no such thing")])
def test_a_refused_stream_is_an_error_on_its_context(refusal: Exception) -> None:
    async def test() -> None:
        engine = ScriptedEngine(answers=True)
        engine.refuse = refusal
        async with serving(engine) as served, served.socket() as socket:
            await send(socket, "c", "Text.", **{"continue": True})
            error = await receive(socket)
            assert (error["type"], error["context_id"]) == ("error", "c")
            assert error["status_code"] == (429 if isinstance(refusal, AtCapacity) else 400)
            assert served.app.hub.admission.streams == 0
            assert len(served.diary.of(Refused)) == 1
            engine.refuse = None
            await send(socket, "d", "Text.")
            assert (await receive_until(socket, "done"))[-1]["context_id"] == "d"

    run(test())


def test_a_stream_that_takes_no_more_text_ends_its_context() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.socket() as socket:
            engine.choke = InvalidInput("too much waits")
            await send(socket, "c", "Text.", **{"continue": True})
            assert (await receive(socket))["status_code"] == 400
            assert served.app.hub.admission.streams == 0

    run(test())


def test_streams_over_the_limit_are_429_on_their_context_and_the_socket_lives() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(server={"max_streams": 1})) as served, served.socket() as socket:
            await send(socket, "a", "Text.")
            await send(socket, "b", "Text.")
            error = await receive(socket)
            assert (error["context_id"], error["status_code"]) == ("b", 429)
            served.engine.streams[0].end()
            assert (await receive(socket))["type"] == "done"
            await send(socket, "b2", "Text.")
            await until(lambda: len(served.engine.streams) == 2)

    run(test())


def test_a_keys_streams_are_limited_over_all_its_sockets() -> None:
    async def test() -> None:
        keys = {"alice": {"key": "ka", "max_streams": 1}, "bob": "kb"}
        async with (
            serving(ScriptedEngine(), settings(server={"api_keys": keys})) as served,
            served.socket(additional_headers={"X-API-Key": "ka"}) as one,
            served.socket(additional_headers={"X-API-Key": "ka"}) as two,
            served.socket(additional_headers={"X-API-Key": "kb"}) as other,
        ):
            await send(one, "a", "Text.")
            await until(lambda: served.engine.streams)
            await send(two, "b", "Text.")
            assert (await receive(two))["status_code"] == 429
            await send(other, "c", "Text.")
            await until(lambda: len(served.engine.streams) == 2)
            assert [stream.config.owner for stream in served.engine.streams] == ["alice", "bob"]

    run(test())


def test_C10_dropped_sockets_leave_nothing_behind() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served:
            for n in range(20):
                socket = await served.socket()
                for name in ("a", "b", "c"):
                    await send(socket, name, "Text.", **{"continue": True})
                await until(lambda n=n: len(served.engine.streams) == 3 * (n + 1))
                for stream in served.engine.streams[-3:]:
                    stream.say(*[audio()] * 5)
                socket.transport.abort()
            await served.diary.until(SocketClosed, 20)
            assert nothing_is_held(served)
            assert len(served.diary.of(StreamEnded)) == 60
            assert {entry.outcome for entry in served.diary.of(StreamEnded)} == {"dropped"}
            async with served.socket() as again:
                served.engine.answers = True
                await send(again, "c", "Text.")
                assert (await receive_until(again, "done"))[-1]["type"] == "done"

    run(test())


def test_cancelled_contexts_leave_nothing_behind() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            for n in range(100):
                await send(socket, f"c{n}", "Text.", **{"continue": True})
                await cancel(socket, f"c{n}")
            await served.diary.until(StreamEnded, 100)
            assert served.app.hub.admission.streams == 0
            assert not served.engine.open

    run(test())


def test_waiting_text_goes_when_its_time_has_come() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await send(socket, "c", "Text", **{"continue": True})
            await until(lambda: served.engine.streams and served.engine.streams[0].ticks)
            stream = served.engine.streams[0]
            before = stream.ticks
            stream.due_s = served.app.hub.clock.now_s()
            await send(socket, "c", " more", **{"continue": True})
            await until(lambda: stream.ticks > before + 1)
            stream.due_s = None

    run(test())


def test_bad_frames_are_answered_and_the_socket_lives() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True)) as served, served.socket() as socket:
            for bad in ("{", "[]", '{"context_id": 7}', b"\0\1"):
                await socket.send(bad)
                assert (await receive(socket))["status_code"] == 400
            await send(socket, "c", "Text.")
            assert (await receive_until(socket, "done"))[-1]["type"] == "done"

    run(test())


def test_a_client_that_floods_errors_without_reading_is_not_read_for_ever() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served:
            _, writer = await raw_socket(served)
            writer.write(frame(b"{" * 4000) * 4000)  # 16 MB: more than all kernel buffers on the way
            written = writer.transport.get_write_buffer_size
            await until_still(written)
            assert written() > 0
            writer.transport.abort()
            await served.diary.until(SocketClosed)

    run(test())


def test_a_fault_of_ours_ends_the_socket_with_a_last_word_for_each_context() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served, served.socket() as socket:
            await send(socket, "a", "Text.", **{"continue": True})
            await until(lambda: engine.streams)
            engine.refuse = RuntimeError("secret detail")
            await send(socket, "b", "Text.", **{"continue": True})
            errors = [await receive(socket), await receive(socket)]
            assert {error["context_id"] for error in errors} == {"a", "b"}
            assert all(error["status_code"] == 500 and "secret" not in error["message"] for error in errors)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1011
            (crash,) = await served.diary.until(Crashed)
            assert "secret detail" in crash.trace
            await served.diary.until(SocketClosed)
            assert nothing_is_held(served)

    run(test())


def test_what_a_voice_cannot_do_is_journaled() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket:
            await send(socket, "c", "Text.")
            await until(lambda: served.engine.streams and served.engine.streams[0].flushes)
            served.engine.streams[0].say(Warned("no such emotion"), audio())
            await receive(socket)
            assert served.diary.of(StreamWarned)[0].message == "no such emotion"
            assert served.diary.of(AudioSent)[0].audio_s == pytest.approx(480 / 24_000)

    run(test())


def test_C7_an_idle_socket_is_closed_in_order_and_a_speaking_one_is_not() -> None:
    async def test() -> None:
        given = settings()
        # Below what settings allow, so that a test can wait for it.
        hasty = given.model_copy(update={"server": given.server.model_copy(update={"idle_timeout_s": 0.05})})
        async with serving(ScriptedEngine(), hasty) as served, served.socket() as idle, served.socket() as speaking:
            await send(speaking, "c", "Text.")
            with pytest.raises(ConnectionClosed) as closed:
                await idle.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1000
            served.engine.streams[0].say(audio())
            served.engine.streams[0].end()
            assert [m["type"] for m in await receive_until(speaking, "done")] == ["chunk", "done"]

    run(test())


def test_C12_a_quiet_socket_is_pinged_so_that_proxies_keep_it() -> None:
    async def test() -> None:
        assert settings().server.ping_interval_s <= 25
        hasty = settings(server={"ping_interval_s": 0.05})
        async with serving(ScriptedEngine(), hasty) as served:
            reader, writer = await raw_socket(served)
            async with asyncio.timeout(5):
                assert await reader.readexactly(2) == b"\x89\x04"
            writer.close()

    run(test())


# A client that reads only when told to: a library would read in the background.


async def raw_socket(served: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    sock = sockets.socket()
    sock.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 8192)
    sock.setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDBUF, 8192)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", served.port))
    reader, writer = await asyncio.open_connection(sock=sock, limit=4096)
    writer.write(
        b"GET /tts/websocket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def frame(payload: bytes) -> bytes:
    """One masked text frame (mask 0) of a client."""
    size = len(payload)
    head = bytes([0x81, 0x80 | size]) if size < 126 else bytes([0x81, 0x80 | 126]) + size.to_bytes(2, "big")
    return head + b"\0\0\0\0" + payload


def json_order(context_id: str, transcript: str, *, more: bool) -> bytes:
    return json.dumps({**ORDER, "context_id": context_id, "transcript": transcript, "continue": more}).encode()


async def read_until(reader: asyncio.StreamReader, mark: bytes) -> bytes:
    data = b""
    async with asyncio.timeout(10):
        while mark not in data:
            piece = await reader.read(65_536)
            assert piece, "the server closed the socket"
            data += piece
    return data


async def until_still(value: Callable[[], int]) -> None:
    """Let the loop turn until ``value()`` has not changed for many turns: everything that can move has moved."""
    last, same = -1, 0
    async with asyncio.timeout(10):
        while same < 300:
            await asyncio.sleep(0)
            now = value()
            same = same + 1 if now == last else 0
            last = now


class Gone:
    """A socket whose client has left."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {}

    async def receive(self) -> dict[str, Any]:
        return {"type": "websocket.disconnect", "code": 1000}


class Asked:
    """A machine that keeps what the shell asks of it."""

    due_s = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def drain(self, now_s: float) -> list[AgentAction]:
        self.asked.append("drain")
        return []

    def close(self, reason: AntiphonError) -> list[AgentAction]:
        self.asked.append("close")
        return []


def test_a_server_that_stops_while_a_client_leaves_is_not_why_it_left() -> None:
    async def test() -> None:
        app, diary = make_app(ScriptedEngine())
        machine = Asked()
        socket: Any = SpeechSocket(app.hub, Gone(), machine, Principal("me"), "r", "/")  # type: ignore[arg-type]

        async def stopped_meanwhile() -> None:
            assert app.hub.lifecycle.guests == 1
            socket.drain()
            socket.cut()

        socket._channels.gone = stopped_meanwhile  # what is awaited between the client's leaving and the socket's end
        await socket.run()
        assert machine.asked == []
        assert diary.of(SocketClosed)[0].code == 1000

    run(test())
