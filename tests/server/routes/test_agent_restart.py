"""Sessions that outlive their server: one server leaves (or dies), the next takes them up."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta, ToolCall
from antiphon.core.clock import unix_time_s
from antiphon.server.agent import SessionKeeper
from antiphon.server.routes.agent import SOCKET
from antiphon.store.sessions import SessionStore

from ..support import ScriptedEngine, Served, run, serving, until
from .test_agent import Book, closed_with, messages_until, quiet, start, tell
from .test_realtime import with_key


class Teller:
    """Books once for each question; its answers say what it was told."""

    name = "teller"

    def __init__(self) -> None:
        self.requests: list[BrainRequest] = []

    async def stream(self, request: BrainRequest) -> Any:
        self.requests.append(request)
        latest = request.messages[-1]
        said: list[BrainEvent] = [TextDelta(f"I heard {latest.content}.")]
        if latest.role == "user" and latest.content.startswith("Book"):
            said = [ToolCall("c", "book", '{"day":"friday"}')]
        for event in [*said, BrainDone()]:
            yield event


def keeper(folder: Path, always: bool = False) -> SessionKeeper:
    return SessionKeeper(
        SessionStore(folder / "sessions.db", unix_time_s), 30.0, unix_time_s, lambda line: None, always=always
    )


@asynccontextmanager
async def server(
    keeps: SessionKeeper, brain: Teller, book: Book | None = None, **sections: Any
) -> AsyncIterator[Served]:
    given = quiet(**sections)
    async with serving(
        ScriptedEngine(answers=True),
        given,
        brain=brain,
        tools=book or Book(),
        keeper=keeps,  # type: ignore[arg-type]
    ) as served:
        yield served


async def answered(socket: ClientConnection) -> str:
    """The next reply's text; all of it is reported as heard."""
    messages = await messages_until(socket, "reply.end")
    end = messages[-1]
    await tell(socket, "played", reply_id=end["reply_id"], sample=end["samples"])
    await socket.send("{")
    await messages_until(socket, "error")  # the report has been read
    return "".join(message["delta"] for message in messages if message["type"] == "reply.text")


def told(brain: Teller) -> list[str]:
    return [f"{message.role}: {message.content}" for message in brain.requests[-1].messages if message.content]


def test_a_planned_restart_keeps_the_history_and_repeats_neither_greeting_nor_write(tmp_path: Path) -> None:
    async def test() -> None:
        brain, book, other = Teller(), Book(), Book()
        book.let_go.set()
        hello = {"greeting": "Hello.", "instructions": "Be kind."}
        first = keeper(tmp_path)
        async with server(first, brain, book) as served, served.socket(path=SOCKET) as socket:
            ready = await start(socket, agent=hello)
            assert await answered(socket) == "Hello."
            await tell(socket, "text", text="Book Friday.")
            assert await answered(socket) == "I heard booked."
            leaving = asyncio.create_task(served.app.hub.lifecycle.drain(5.0))
            assert (await messages_until(socket, "closed"))[-1]["reason"] == "restart"
            assert await closed_with(socket) == 1012
            await leaving
        assert first.close()
        second = keeper(tmp_path)
        async with server(second, brain, other) as served:
            async with served.socket(path=SOCKET) as socket:
                again = await start(socket, resume=ready["resume_token"])
                assert (again["resumed"], again["session_id"]) == (True, ready["session_id"])
                await tell(socket, "text", text="What is booked?")
                assert await answered(socket) == "I heard What is booked?."
                assert told(brain) == [
                    "system: Be kind.", "assistant: Hello.", "user: Book Friday.", "tool: booked",
                    "assistant: I heard booked.", "user: What is booked?",
                ]  # fmt: skip
                assert (book.done, other.calls) == (1, [])
                await tell(socket, "close")
                assert await closed_with(socket) == 1000
            async with served.socket(path=SOCKET) as socket:
                assert (await start(socket, resume=again["resume_token"]))["resumed"] is False, "it is over"
        assert second.close()

    run(test())


def test_a_write_under_way_is_waited_for_and_its_result_is_told_by_the_next_server(tmp_path: Path) -> None:
    async def test() -> None:
        brain, book, other = Teller(), Book(), Book()
        first, second = keeper(tmp_path), keeper(tmp_path)
        async with server(first, brain, book) as old, server(second, brain, other) as new:
            async with old.socket(path=SOCKET) as socket:
                ready = await start(socket)
                await tell(socket, "text", text="Book Friday.")
                await until(lambda: book.calls)
                socket.transport.abort()
            await until(lambda: old.app.hub.admission.connections == 0)
            leaving = asyncio.create_task(old.app.hub.lifecycle.drain(5.0))
            while True:  # it is announced on a thread of the keeper's
                async with new.socket(path=SOCKET) as socket:
                    early = await start(socket, resume=ready["resume_token"])
                    if early["type"] == "error":
                        assert (early["code"], await closed_with(socket)) == ("at_capacity", 1013)
                        break
            book.let_go.set()
            await leaving
            async with new.socket(path=SOCKET) as socket:
                assert (await start(socket, resume=ready["resume_token"]))["resumed"] is True
                assert await answered(socket) == "I heard booked."
            assert (book.done, other.calls) == (1, [])
        assert first.close()
        assert second.close()

    run(test())


def test_only_its_owner_finds_a_session_again(tmp_path: Path) -> None:
    async def test() -> None:
        keys = {"server": {"api_keys": {"alice": {"key": "sk-alice"}, "bob": {"key": "sk-bob"}}}}
        brain, first, second = Teller(), keeper(tmp_path), keeper(tmp_path)
        async with server(first, brain, **keys) as served, served.socket(path=SOCKET, **with_key("sk-alice")) as socket:
            ready = await start(socket)
            await served.app.hub.lifecycle.drain(5.0)
        assert first.close()
        async with server(second, brain, **keys) as served:
            for key, resumed in (("sk-bob", False), ("sk-alice", True), ("sk-alice", False)):
                async with served.socket(path=SOCKET, **with_key(key)) as socket:
                    again = await start(socket, resume=ready["resume_token"])
                    assert again["resumed"] is resumed
                    if resumed:
                        await tell(socket, "close")
                        await closed_with(socket)
        assert second.close()

    run(test())


class Watched(SessionKeeper):
    """Says when it is asked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(SessionStore(folder / "sessions.db", unix_time_s), 30.0, unix_time_s, lambda line: None)
        self.asked = threading.Event()

    def take(self, token: str, accept: Callable[[bytes], bool]) -> bytes | None:
        self.asked.set()
        return super().take(token, accept)


async def left_behind(folder: Path) -> str:
    """The token of a session whose server has gone."""
    first = keeper(folder)
    async with server(first, Teller()) as served, served.socket(path=SOCKET) as socket:
        ready = await start(socket)
        await served.app.hub.lifecycle.drain(5.0)
    assert first.close()
    return str(ready["resume_token"])


def test_while_a_locked_file_is_waited_for_others_are_served(tmp_path: Path) -> None:
    async def test() -> None:
        token, second = await left_behind(tmp_path), Watched(tmp_path)
        async with server(second, Teller()) as served, served.socket(path=SOCKET) as waiting:
            with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as base:
                base.execute("BEGIN IMMEDIATE")
                resumed = asyncio.create_task(start(waiting, resume=token))
                await until(second.asked.is_set)
                async with served.socket(path=SOCKET) as other:
                    assert (await start(other, resume="bogus"))["resumed"] is False
                    await tell(other, "text", text="What is booked?")
                    assert await answered(other) == "I heard What is booked?."
                assert not resumed.done()
            assert (await resumed)["resumed"] is True
        assert second.close()

    run(test())


async def came(served: Served, token: str, stack: AsyncExitStack) -> bool | None:
    """Whether it was resumed; None: another client took over before that was said."""
    socket = await stack.enter_async_context(served.socket(path=SOCKET))
    try:
        return bool((await start(socket, resume=token))["resumed"])
    except ConnectionClosed:
        return None


def test_of_clients_that_present_one_token_at_once_one_has_the_session(tmp_path: Path) -> None:
    async def test() -> None:
        token, keepers = await left_behind(tmp_path), [keeper(tmp_path), keeper(tmp_path)]
        async with AsyncExitStack() as stack:
            servers = [await stack.enter_async_context(server(each, Teller())) for each in keepers]
            async with asyncio.TaskGroup() as group:
                asked = [[group.create_task(came(served, token, stack)) for _ in range(3)] for served in servers]
            # In one process, whoever comes last takes over; in the other one it is not to be had.
            await until(lambda: sorted(served.app.hub.admission.connections for served in servers) == [1, 3])
            other, home = sorted([[task.result() for task in tasks] for tasks in asked], key=any)
            assert other == [False, False, False]
            assert True in home
            assert False not in home
        assert all(each.close() for each in keepers)

    run(test())


def test_a_client_that_leaves_while_its_session_is_looked_for_finds_it_later(tmp_path: Path) -> None:
    async def test() -> None:
        token, second = await left_behind(tmp_path), Watched(tmp_path)
        async with server(second, Teller()) as served:
            with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as base:
                base.execute("BEGIN IMMEDIATE")
                async with served.socket(path=SOCKET) as socket:
                    await tell(socket, "start", resume=token)
                    await until(second.asked.is_set)
                    socket.transport.abort()
            async with served.socket(path=SOCKET) as socket:
                assert (await start(socket, resume=token))["resumed"] is True
        assert second.close()

    run(test())


def test_a_server_in_a_hurry_keeps_what_it_was_saying(tmp_path: Path) -> None:
    async def test() -> None:
        brain, first, second = Teller(), keeper(tmp_path), keeper(tmp_path)
        async with server(first, brain) as served, served.socket(path=SOCKET) as socket:
            ready = await start(socket)
            await tell(socket, "text", text="one two three")
            begun = (await messages_until(socket, "reply.text"))[-1]
            await tell(socket, "played", reply_id=begun["reply_id"], sample=0)
            await socket.send("{")
            await messages_until(socket, "error")  # the report has been read
            await served.app.hub.lifecycle.drain(0.0)
            assert await closed_with(socket) == 1012
        assert first.close()
        async with server(second, brain) as served, served.socket(path=SOCKET) as socket:
            assert (await start(socket, resume=ready["resume_token"]))["resumed"] is True
            assert await answered(socket) == "I heard one two three."
        assert second.close()

    run(test())


@pytest.mark.parametrize("always", [True, False])
def test_after_a_crash_there_is_what_was_kept_at_the_last_turn(tmp_path: Path, always: bool) -> None:
    async def test() -> None:
        brain, book, other = Teller(), Book(), Book()
        book.let_go.set()
        first, second = keeper(tmp_path, always), keeper(tmp_path)
        async with server(first, brain, book) as served, served.socket(path=SOCKET) as socket:
            ready = await start(socket)
            await tell(socket, "text", text="Book Friday.")
            assert await answered(socket) == "I heard booked."
            assert first.close()  # from here on nothing is kept any more, as if it had died
            async with server(second, brain, other) as new, new.socket(path=SOCKET) as socket_again:
                again = await start(socket_again, resume=ready["resume_token"])
                assert again["resumed"] is always
                await tell(socket_again, "text", text="What is booked?")
                while "What" not in (text := await answered(socket_again)):
                    assert text == "I heard booked."  # that it was heard was not known yet
                assert ("tool: booked" in told(brain)) is always
                assert (book.done, other.calls) == (1, [])
        assert second.close()

    run(test())


def test_without_a_keeper_a_session_ends_with_its_server(tmp_path: Path) -> None:
    async def test() -> None:
        brain = Teller()
        async with serving(ScriptedEngine(), quiet(), brain=brain) as served, served.socket(path=SOCKET) as socket:
            ready = await start(socket)
            await served.app.hub.lifecycle.drain(5.0)
        second = keeper(tmp_path)
        async with server(second, brain) as served, served.socket(path=SOCKET) as socket:
            assert (await start(socket, resume=ready["resume_token"]))["resumed"] is False
        assert second.close()

    run(test())
    assert not list(tmp_path.iterdir())
