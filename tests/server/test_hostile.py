"""Callers who are careless or hostile: each gets an answer, none gets a traceback or keeps a place."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError

from antiphon.server.binding import config
from antiphon.server.journal import ConnectionClosed, Crashed, StreamEnded
from antiphon.server.observe.log_lines import LineFormat

from .support import (
    ORDER,
    ScriptedEngine,
    Served,
    audio,
    in_process,
    receive,
    receive_until,
    run,
    send,
    serving,
    settings,
    until,
)

UPGRADE = (
    b"GET /tts/websocket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
)
POST = b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{"


@asynccontextmanager
async def raw(served: Served) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer(served: Served, *sent: bytes) -> bytes:
    """All that comes until the server closes the connection."""
    async with raw(served) as (reader, writer):
        writer.write(b"".join(sent))
        async with asyncio.timeout(5):
            return await reader.read()


def status(reply: bytes) -> int:
    return int(reply.split()[1])


@pytest.mark.parametrize("path", [b"/tts/bytes", b"/tts/sse", b"/v1/audio/speech", b"/access-token"])
def test_a_body_that_does_not_come_is_408_in_the_protocols_shape(path: bytes) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(server={"body_timeout_s": 0.05})) as served:
            reply = await answer(served, POST % path)
            assert status(reply) == 408
            body = json.loads(reply.partition(b"\r\n\r\n")[2])
            assert "0.05 s" in (body["error"]["message"] if path.startswith(b"/v1/") else body["message"])

    run(test())


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost: x\r\n", b"\r\n"])
def test_a_head_that_does_not_come_ends_the_connection(sent: bytes) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(server={"body_timeout_s": 0.05})) as served:
            assert status(await answer(served, sent)) == 408

    run(test())


def test_a_second_head_that_comes_by_the_byte_ends_the_connection() -> None:
    async def test() -> None:
        async with (
            serving(ScriptedEngine(), settings(server={"body_timeout_s": 0.2})) as served,
            raw(served) as (reader, writer),
        ):
            writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            assert status(await reader.readuntil(b"alive")) == 200
            rest = asyncio.get_running_loop().create_task(reader.read())
            for _ in range(100):
                if rest.done():
                    break
                writer.write(b"G" if not rest.done() else b"")
                writer.write(b"ET / HTTP/1.1\r\na: " if _ == 0 else b"x")
                await asyncio.wait([rest], timeout=0.02)
            assert b"408" in await rest

    run(test())


def test_a_socket_and_a_long_answer_outlive_the_time_for_heads() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with (
            serving(engine, settings(server={"body_timeout_s": 0.05})) as served,
            served.socket() as socket,
            served.client() as client,
        ):
            request = asyncio.create_task(client.post("/tts/bytes", json={**ORDER, "transcript": "Hello."}))
            await send(socket, "c", "Hello.")
            await until(lambda: len(engine.open) == 2 and all(stream.flushes for stream in engine.open))
            _, waiting = await asyncio.wait({request}, timeout=0.2)
            assert waiting
            for stream in list(engine.open):
                stream.say(audio())
                stream.end()
            assert [message["type"] for message in await receive_until(socket, "done")] == ["chunk", "done"]
            assert (await request).status_code == 200

    run(test())


def test_requests_in_a_row_whose_caller_leaves_are_all_let_go() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine) as served:
            body = json.dumps({**ORDER, "transcript": "Hello."}).encode()
            one = b"POST /tts/bytes HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body
            async with raw(served) as (_, writer):
                writer.write(one * 3)
                await until(lambda: engine.open)
            await until(lambda: not engine.open)
            await served.diary.until(StreamEnded)
            assert served.diary.of(Crashed) == []

    run(test())


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50_000 + b"\r\n",
        b"GET / HTTP/1.1\r\na: " + b"b" * 1_000_000,
        b"POST /tts/bytes HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 50_000 + b"\r\n",
    ],
    ids=["many headers", "one header without an end", "trailers"],
)
def test_a_head_without_an_end_is_431(head: bytes) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served:
            assert b" 431 " in await answer(served, head)

    run(test())


def test_a_large_body_and_the_next_request_behind_it_are_no_large_head() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True)) as served:
            body = json.dumps({**ORDER, "transcript": "Hello.", "padding": "x" * 200_000}).encode()
            head = b"POST /tts/bytes HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
            last = b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
            reply = await answer(served, head, body, last)
            assert status(reply) == 200
            assert reply.endswith(b'{"status":"alive"}')

    run(test())


@pytest.mark.parametrize(
    "head", [UPGRADE + b"a: b\r\n" * 300, UPGRADE + b"a: " + b"b" * 20_000 + b"\r\n"], ids=["many", "long"]
)
def test_a_handshake_beyond_the_parsers_limits_is_answered(head: bytes) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served:
            assert status(await answer(served, head, b"\r\n")) == 400

    run(test())


def test_a_peer_that_never_reads_is_dropped_also_while_its_socket_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(*given: Any) -> Any:
        wire = config(*given)
        wire.stall_timeout_s = 0.1
        return wire

    monkeypatch.setattr("tests.server.support.config", impatient)

    async def test() -> None:
        async with serving(ScriptedEngine()) as served, raw(served) as (_, writer):
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            connections = served.server.server_state.connections
            writer.write(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 2_000)
            await until(lambda: connections)
            await until(lambda: not connections)

    run(test())


def test_a_peer_that_floods_pings_is_dropped() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, raw(served) as (reader, writer):
            writer.write(UPGRADE + b"\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.write((b"\x89\xfd\0\0\0\0" + b"p" * 125) * 2_000)
            await served.diary.until(ConnectionClosed)
            assert served.diary.of(Crashed) == []

    run(test())


def test_pings_of_a_peer_that_never_reads_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphon.server.transport._MOST_PINGS", 10**9)

    async def test() -> None:
        async with serving(ScriptedEngine()) as served, raw(served) as (reader, writer):
            writer.write(UPGRADE + b"\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            (protocol,) = served.server.server_state.connections
            ping = b"\x89\xfd\0\0\0\0" + b"p" * 125
            for _ in range(300):
                writer.write(ping * 500)
                async with asyncio.timeout(5):
                    await writer.drain()
            assert protocol.transport.get_write_buffer_size() < 1_000_000

    run(test())


def test_who_is_still_asking_when_the_server_leaves_is_told() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, raw(served) as (reader, writer):
            writer.write(POST % b"/tts/bytes")
            await until(lambda: served.server.server_state.tasks)
            (protocol,) = served.server.server_state.connections
            await until(lambda: not protocol.cycle.body)  # what came of it has been taken
            await served.app.hub.lifecycle.drain(0)
            for task in served.server.server_state.tasks:
                task.cancel()
            async with asyncio.timeout(5):
                head = await reader.readuntil(b"\r\n\r\n")
            assert status(head) == 503
            assert served.diary.of(Crashed) == []

    run(test())


def test_bytes_that_are_no_text_close_the_socket_and_are_no_fault_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served:
            async with served.socket() as socket:
                await socket.send(b"\xff\xfe", text=True)
                with pytest.raises(ConnectionClosedError) as closed:
                    await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1007
            await served.diary.until(ConnectionClosed)
            assert served.diary.of(Crashed) == []

    run(test())


def test_a_protocol_error_while_audio_waits_is_no_fault_of_ours() -> None:
    async def test() -> None:
        engine = ScriptedEngine(answers=True)
        async with serving(engine) as served, raw(served) as (reader, writer):
            writer.write(UPGRADE + b"\r\n")
            await reader.readuntil(b"\r\n\r\n")
            order = json.dumps({**ORDER, "context_id": "c", "transcript": "Hello."}).encode()
            mask = b"\x81\xfe" + len(order).to_bytes(2) + b"\0\0\0\0"
            writer.write((mask + order) * 50 + b"\x83\x80\0\0\0\0")
            await reader.read()
            await served.diary.until(ConnectionClosed)
            assert served.diary.of(Crashed) == []
            assert engine.open == []

    run(test())


def test_many_frames_at_once_do_not_keep_the_loop() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True)) as served, served.socket() as busy, served.socket() as other:
            await send(other, "warm", "Hello.")
            await receive_until(other, "done")
            for n in range(200):
                await send(busy, f"b{n}", "", flush=True)
            await send(other, "o", "Hello.")
            await receive_until(other, "done")
            assert (await receive(busy))["type"] == "flush_done"

    run(test())


@pytest.mark.parametrize("limit", ["9" * 5_000, "0" * 5_000, "-1", "", "1e3", "٣", "\0"])
def test_an_odd_limit_is_refused_or_ignored(limit: str) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, diary):
            reply = await client.get("/voices", params={"limit": limit})
            assert reply.status_code == (400 if limit.strip("\0") or limit else 200)
            assert diary.of(Crashed) == []

    run(test())


NOVEL = "x" * 50_000


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/{NOVEL}", None),
        ("PUT", f"/voices/{NOVEL}", None),
        ("GET", f"/v1/models/{NOVEL}", None),
        ("POST", "/v1/audio/speech", {"model": "m", "input": "a", "voice": "alloy", "response_format": NOVEL}),
        ("POST", "/tts/bytes", {**ORDER, "transcript": "a", "speed": NOVEL}),
        ("POST", "/tts/bytes", {**ORDER, "transcript": "a", "language": NOVEL}),
    ],
)
def test_what_a_client_sent_is_not_repeated_at_length(method: str, path: str, body: dict[str, Any] | None) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            reply = await client.request(method, path, json=body)
            assert 400 <= reply.status_code < 500
            assert len(reply.content) < 1_000

    run(test())


def test_names_in_log_lines_cannot_forge_lines_or_move_the_cursor() -> None:
    record = logging.makeLogRecord({"msg": "refused", "values": {"voice": "a\rb\x1b[2K\u2028c"}})
    line = LineFormat(as_json=False).format(record)
    assert line.isprintable()


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080", 200),
        ("localhost:8080", "http://localhost:8080", 200),
        ("[::1]:8080", "http://[::1]:8080", 200),
        ("rebound.example:8080", "http://rebound.example:8080", 403),
        ("127.0.0.1:8080", "http://elsewhere.example", 403),
        ("127.0.0.1.rebound.example", "http://127.0.0.1.rebound.example", 403),
    ],
)
def test_a_page_whose_name_was_bent_to_this_machine_is_strange(host: str, origin: str, expected: int) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True)) as (client, _, _):
            headers = {"host": host, "origin": origin}
            reply = await client.post("/tts/bytes", json={**ORDER, "transcript": "Hello."}, headers=headers)
            assert reply.status_code == expected

    run(test())
