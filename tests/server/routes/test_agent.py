"""The agent socket over a real uvicorn: who may come in, what outlives a socket, what a leaving server does."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta, ToolCall, ToolSpec
from antiphon.core.errors import AtCapacity
from antiphon.server.journal import Crashed
from antiphon.server.routes.agent import SOCKET
from antiphon.server.tools import ToolContext, ToolOutcome

from ..support import ScriptedEngine, Served, receive, receive_until, run, serving, settings, until
from .test_realtime import Brain, with_key


class Book:
    """A write that takes until it is let go."""

    targets: Mapping[str, tuple[str, ...]] = {}
    fillers: Mapping[str, tuple[str | None, float | None]] = {}

    def __init__(self) -> None:
        self.let_go = asyncio.Event()
        self.calls: list[tuple[str, dict[str, Any], str, str]] = []
        self.done = 0
        self.told: list[Mapping[str, Any]] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("book", "Books", effect="write"),)

    async def call(self, name: str, arguments: Mapping[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        self.calls.append((name, dict(arguments), key, context.conversation_id))
        await self.let_go.wait()
        self.done += 1
        return ToolOutcome(True, "booked")

    async def handover(self, payload: Mapping[str, Any]) -> bool:
        self.told.append(payload)
        return True


class Booker:
    name = "booker"

    async def stream(self, request: BrainRequest) -> Any:
        said: list[BrainEvent] = [TextDelta("Done.")]
        if request.messages[-1].role != "tool":
            said = [ToolCall("c", "book", '{"day":"friday"}')]
        for event in [*said, BrainDone()]:
            yield event


async def start(socket: ClientConnection, **fields: Any) -> dict[str, Any]:
    await socket.send(json.dumps({"type": "start", **fields}))
    return await receive(socket)


async def tell(socket: ClientConnection, kind: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": kind, **fields}))


async def messages_until(socket: ClientConnection, kind: str) -> list[dict[str, Any]]:
    """JSON messages up to the first of a kind; audio is left out."""
    out: list[dict[str, Any]] = []
    async with asyncio.timeout(5):
        while not out or out[-1]["type"] != kind:
            frame = await socket.recv()
            if isinstance(frame, str):
                out.append(json.loads(frame))
    return out


async def closed_with(socket: ClientConnection) -> int:
    async with asyncio.timeout(5):
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.recv()
    assert socket.close_code is not None
    return socket.close_code


def quiet(**more: Any) -> Any:
    return settings(agent={"greeting": "", **more.pop("agent", {})}, **more)


def nothing_is_held(served: Served) -> bool:
    admission = served.app.hub.admission
    return not (admission.streams or admission.connections or served.engine.open or served.app.hub.lifecycle.guests)


def test_a_spoken_turn_is_heard_and_answered() -> None:
    async def test() -> None:
        engine, brain = ScriptedEngine(answers=True, hears=["what time is it"]), Brain("It is", " noon.")
        async with serving(engine, quiet(), brain=brain) as served:
            async with served.socket(path=SOCKET) as socket:
                assert (await start(socket))["resumed"] is False
                for _ in range(12):
                    await socket.send(b"\1" + bytes(16_000))
                messages = await messages_until(socket, "reply.end")
                kinds = [message["type"] for message in messages]
                assert kinds[0] == "turn.start"
                assert "".join(m["delta"] for m in messages if m["type"] == "reply.text") == "It is noon."
                assert engine.streams[0].config.lead_s == 3.0
                assert engine.streams[0].config.words
                await tell(socket, "close")
                assert await closed_with(socket) == 1000
            await until(lambda: nothing_is_held(served))
            assert not served.diary.of(Crashed)

    run(test())


def test_a_frame_of_half_a_minute_is_listened_to_in_pieces() -> None:
    async def test() -> None:
        engine = ScriptedEngine(answers=True, hears=["one two three"])
        async with serving(engine, quiet(), brain=Brain("Yes.")) as served, served.socket(path=SOCKET) as socket:
            await start(socket)
            await socket.send(b"\1" + bytes(960_000))
            await messages_until(socket, "reply.end")
            await until(lambda: engine.ear.streams[0].pushed_bytes == 960_000)

    run(test())


def test_who_may_come_in() -> None:
    async def test() -> None:
        keys = {"server": {"api_keys": {"alice": {"key": "sk-alice"}}}}
        async with serving(ScriptedEngine(), quiet(**keys)) as served:
            with pytest.raises(InvalidStatus) as refused:
                await served.socket(path=SOCKET)
            assert refused.value.response.status_code == 401
            async with served.socket(path=SOCKET, **with_key("sk-alice")) as socket:
                assert (await start(socket))["type"] == "ready"

    run(test())


@pytest.mark.parametrize(
    ("fields", "param"),
    [({"voice": "nobody"}, "voice"), ({"language": "de"}, "language"), ({"version": 3}, "version")],
)
def test_what_can_never_be_served_is_said_and_closed(fields: dict[str, Any], param: str) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), quiet()) as served:
            async with served.socket(path=SOCKET) as socket:
                error = await start(socket, **fields)
                assert (error["type"], error["fatal"], error["param"]) == ("error", True, param)
                assert await closed_with(socket) == 1008
            await until(lambda: nothing_is_held(served))

    run(test())


def test_a_full_server_says_so_on_the_socket() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        async with serving(engine, quiet(server={"max_connections": 1})) as served:
            async with served.socket(path=SOCKET) as first:
                await start(first)
                async with served.socket(path=SOCKET) as second:
                    error = await receive(second)
                    assert (error["code"], error["fatal"]) == ("at_capacity", True)
                    assert await closed_with(second) == 1013
            await until(lambda: nothing_is_held(served) or True)
            engine.refuse = AtCapacity("no place to listen")
            async with served.socket(path=SOCKET) as third:
                error = await start(third)
                assert (error["code"], error["fatal"]) == ("at_capacity", True)
                assert await closed_with(third) == 1013

    run(test())


def test_a_lost_socket_is_resumed_by_its_token_and_its_owner_only() -> None:
    async def test() -> None:
        keys = {"server": {"api_keys": {"alice": {"key": "sk-alice"}, "bob": {"key": "sk-bob"}}}}
        given = quiet(agent={"greeting": "Hello."}, **keys)
        async with serving(ScriptedEngine(answers=True), given, brain=Brain("Yes.")) as served:
            async with served.socket(path=SOCKET, **with_key("sk-alice")) as socket:
                ready = await start(socket)
                end = (await messages_until(socket, "reply.end"))[-1]
                await tell(socket, "played", reply_id=end["reply_id"], sample=end["samples"])
                await socket.send("{")
                await messages_until(socket, "error")  # the report has been read
                socket.transport.abort()
            await until(lambda: not served.engine.open)
            async with served.socket(path=SOCKET, **with_key("sk-bob")) as thief:
                stolen = await start(thief, resume=ready["resume_token"], agent={"greeting": ""})
                assert (stolen["resumed"], stolen["session_id"] == ready["session_id"]) == (False, False)
            async with served.socket(path=SOCKET, **with_key("sk-alice")) as socket:
                again = await start(socket, resume=ready["resume_token"])
                assert (again["resumed"], again["session_id"]) == (True, ready["session_id"])
                await tell(socket, "text", text="Are you there?")
                texts = [m["delta"] for m in await messages_until(socket, "reply.end") if m["type"] == "reply.text"]
                assert texts == ["Yes."], "no second greeting"
                await tell(socket, "close")
                assert await closed_with(socket) == 1000
            async with served.socket(path=SOCKET, **with_key("sk-alice")) as socket:
                assert (await start(socket, resume=again["resume_token"]))["resumed"] is False

    run(test())


def test_a_resume_takes_a_half_dead_socket_over() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True), quiet(), brain=Brain("Yes.")) as served:
            async with served.socket(path=SOCKET) as old:
                ready = await start(old)
                async with served.socket(path=SOCKET) as new:
                    assert (await start(new, resume=ready["resume_token"]))["resumed"] is True
                    assert await closed_with(old) == 1006
                    await tell(new, "text", text="Hello?")
                    await messages_until(new, "reply.end")
            await until(lambda: served.app.hub.admission.connections == 0)

    run(test())


def test_sessions_that_wait_are_bounded_and_end_with_their_window() -> None:
    async def test() -> None:
        given = quiet(agent={"max_waiting": 2, "resume_window_s": 2.0})
        async with serving(ScriptedEngine(), given) as served:
            readies = []
            for _ in range(3):
                async with served.socket(path=SOCKET) as socket:
                    readies.append(await start(socket))
                    socket.transport.abort()
                await until(lambda: served.app.hub.admission.connections == 0)
            lifecycle = served.app.hub.lifecycle
            assert lifecycle.guests == 2
            async with served.socket(path=SOCKET) as socket:
                assert (await start(socket, resume=readies[0]["resume_token"]))["resumed"] is False, "pushed out"
                await tell(socket, "close")
                await closed_with(socket)
            await until(lambda: lifecycle.guests == 0)

    run(test())


def test_a_write_comes_to_its_end_after_the_client_hung_up() -> None:
    async def test() -> None:
        book = Book()
        async with serving(ScriptedEngine(answers=True), quiet(), brain=Booker(), tools=book) as served:  # type: ignore[arg-type]
            async with served.socket(path=SOCKET) as socket:
                ready = await start(socket)
                await tell(socket, "text", text="Book Friday.")
                await until(lambda: book.calls)
                await tell(socket, "close")
                assert await closed_with(socket) == 1000
            name, arguments, key, session_id = book.calls[0]
            assert (name, arguments, session_id) == ("book", {"day": "friday"}, ready["session_id"])
            assert key
            await until(lambda: served.app.hub.admission.connections == 0)
            assert served.app.hub.lifecycle.guests == 1, "the write is still on its way"
            book.let_go.set()
            await until(lambda: nothing_is_held(served))
            assert book.done == 1

    run(test())


def test_a_leaving_server_says_goodbye_with_1012_and_waits_for_writes() -> None:
    async def test() -> None:
        book = Book()
        async with serving(ScriptedEngine(answers=True), quiet(), brain=Booker(), tools=book) as served:  # type: ignore[arg-type]
            async with served.socket(path=SOCKET) as idle, served.socket(path=SOCKET) as busy:
                await start(idle)
                await start(busy)
                await tell(busy, "text", text="Book Friday.")
                await until(lambda: book.calls)
                leaving = asyncio.create_task(served.app.hub.lifecycle.drain(5.0))
                assert (await messages_until(idle, "closed"))[-1]["reason"] == "restart"
                assert await closed_with(idle) == 1012
                book.let_go.set()
                texts = [m["delta"] for m in await messages_until(busy, "closed") if m["type"] == "reply.text"]
                assert texts == ["Done."]
                assert await closed_with(busy) == 1012
                await leaving
            assert book.done == 1
            assert served.app.hub.lifecycle.phase == "stopped"

    run(test())


def test_a_server_in_a_hurry_cuts() -> None:
    async def test() -> None:
        brain = Brain("A long", " story.", stays=True)
        async with serving(ScriptedEngine(answers=True), quiet(), brain=brain) as served:
            async with served.socket(path=SOCKET) as socket:
                await start(socket)
                await tell(socket, "text", text="Tell me.")
                await messages_until(socket, "reply.text")
                await served.app.hub.lifecycle.drain(0.0)
                assert await closed_with(socket) == 1012
            await until(lambda: nothing_is_held(served) and not brain.held)

    run(test())


def test_nonsense_is_answered_and_hurts_nobody() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True), quiet(), brain=Brain("Yes.")) as served:
            async with served.socket(path=SOCKET) as socket:
                await start(socket)
                for frame in ("{", '{"type":"fly"}', b"\2\0", '{"type":"start"}', '{"type":"played","reply_id":"x"}'):
                    await socket.send(frame)
                    assert (await receive_until(socket, "error"))[-1]["fatal"] is False
                await tell(socket, "played", reply_id="unknown", sample=5)
                await tell(socket, "tool.result", call_id="unknown", content="x")
                await tell(socket, "text", text="Still there?")
                await messages_until(socket, "reply.end")
            assert not served.diary.of(Crashed)

    run(test())
