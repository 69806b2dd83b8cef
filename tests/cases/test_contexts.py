"""Contexts, cancel, ordering, sockets: what users of other voice stacks reported (docs/faults.md)."""

import asyncio
from typing import Any

import pytest
from starlette.websockets import WebSocketDisconnect

from antiphon.core.brain import BrainDone, BrainRequest, Message
from antiphon.core.clock import MonotonicClock
from antiphon.core.turns import TurnStarted, TurnUpdated
from antiphon.dialog.conversation_actions import CallTool
from antiphon.engine.llm import Llm
from antiphon.engine.llm_endpoint import LlmEndpoint
from antiphon.protocol.actions import Send
from antiphon.server.auth import Principal
from antiphon.server.journal import ConnectionClosed
from antiphon.server.session import SpeechSocket
from tests.dialog.talking import asks, tokens
from tests.dialog.world import World
from tests.engine.scripted_llm import words
from tests.server.agent.world import AgentWorld
from tests.server.support import ScriptedEngine, make_app, run, serving, settings


def test_c7_words_said_before_the_socket_was_lost_are_answered_when_it_is_back() -> None:
    world = World(lambda request: tokens("It left on Monday."))
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnUpdated("where is my parcel", 0))
    world.lose_client(2.0, 5.0)
    world.run()
    assert world.users == ["where is my parcel"]
    assert world.heard == world.recorded == "It left on Monday."
    assert world.sounds[0].begin_s >= 5.0


def test_c7_a_turn_that_a_lost_socket_cut_in_two_gets_one_answer() -> None:
    world = World(lambda request: tokens("It left on Monday."))
    world.first_token_s = 0.5
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnUpdated("where is my", 0))
    world.lose_client(2.0, 3.0)
    world.says(3.1, "parcel please", pace_s=0.1)
    world.run()
    assert world.users == ["where is my parcel please"]
    assert world.heard == world.recorded == "It left on Monday."


def test_c7_nothing_is_written_while_nobody_is_there() -> None:
    world = World(lambda request: asks("book") if request.messages[-1].role == "user" else tokens("It is booked."))
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnUpdated("book a table", 0))
    world.lose_client(2.0, 5.0)
    world.run()
    ((called_s, _),) = world.actions(CallTool)
    assert called_s >= 5.0
    assert len(world.executed) == 1
    assert world.heard == "It is booked."


def test_c7_a_listeners_word_before_the_loss_is_no_turn() -> None:
    world = World(lambda request: tokens("The first one was sent on Monday and the second one is on its way to you."))
    world.says(1.0, "tell me all")
    world.at(3.0, TurnStarted(0))
    world.at(3.3, TurnUpdated("mhm", 0))
    world.lose_client(3.4, 6.0)
    world.run()
    assert world.users == ["tell me all"]
    assert world.heard == world.recorded == "The first one was sent on Monday and the second one is on its way to you."


def test_c7_a_brains_connection_that_died_while_idle_costs_no_answer() -> None:
    """The server answers, says that the connection stays, and breaks it while nobody asks."""

    async def scenario() -> None:
        served = 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal served
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
            served += 1
            body = "".join(words("Yes", "."))
            writer.write(
                f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: keep-alive\r\n"
                f"content-length: {len(body)}\r\n\r\n{body}".encode()
            )
            await writer.drain()
            await reader.read(1)  # the next question comes, and finds a dead connection
            writer.transport.abort()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        llm = Llm([LlmEndpoint(url, "m", "")], MonotonicClock())
        for _ in range(4):
            events = [event async for event in llm.stream(BrainRequest((Message("user", "hello"),)))]
            assert events[-1] == BrainDone("stop", 7, 2), events
        assert served == 4
        await llm.aclose()
        server.close()

    asyncio.run(asyncio.wait_for(scenario(), 20))


@pytest.mark.parametrize(
    "path",
    [
        "/tts/websocket",
        "/stt/websocket?model=ink-2&encoding=pcm_s16le&sample_rate=16000",
        "/stt/turns/websocket?model=ink-2&encoding=pcm_s16le&sample_rate=16000",
        "/v1/realtime?model=m",
        "/agents/websocket",
        "/speech/websocket",
    ],
)
def test_c12_every_kind_of_quiet_socket_is_pinged(path: str) -> None:
    async def test() -> None:
        assert settings().server.ping_interval_s <= 25
        async with serving(ScriptedEngine(), settings(server={"ping_interval_s": 0.05})) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(
                f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
            )
            assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
            async with asyncio.timeout(5):
                while (kind := (await reader.readexactly(1))[0]) != 0x89:
                    assert kind in (0x81, 0x82), "neither text, nor audio, nor a ping"
                    size = (await reader.readexactly(1))[0]
                    if size == 126:
                        size = int.from_bytes(await reader.readexactly(2), "big")
                    await reader.readexactly(size)
            writer.close()

    run(test())


def test_c7_what_was_heard_since_the_last_report_is_not_said_again_after_a_lost_socket() -> None:
    """The last reports got lost with the socket; the client says where it stopped when it comes back."""
    text = "Answer one begins with apples. Answer one goes on with pears. Answer one ends in plums."
    world = AgentWorld(lambda request: tokens(text))
    world.connect()
    world.says(1.0, "tell me")

    def fall_silent() -> None:
        world.reports = False

    def lose() -> None:
        world.lose()
        world.reports = True

    world.at(3.0, fall_silent)
    world.at(5.0, lose)
    world.at(6.0, world.come_back)
    world.run(60.0)
    assert world.heard == text
    assert world.history == ["user: tell me", f"assistant: {text}"]


class LeftAtOnce:
    """A socket whose client said some things, a goodbye last, and left: it can still be read, no longer written."""

    def __init__(self, *said: str) -> None:
        self.scope: dict[str, Any] = {}
        self._said = list(said)

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        if self._said:
            return {"type": "websocket.receive", "text": self._said.pop(0)}
        return {"type": "websocket.disconnect", "code": 1000}

    async def send_text(self, frame: str) -> None:
        raise WebSocketDisconnect(1006)


class Listener:
    """A machine that answers everything and keeps it."""

    due_s = None

    def __init__(self) -> None:
        self.heard: list[str] = []

    def receive(self, frame: str, now_s: float) -> list[Send]:
        self.heard.append(frame)
        return [Send(b"answer")]


def test_c7_a_goodbye_counts_though_the_answer_to_what_was_said_before_finds_nobody() -> None:
    async def test() -> None:
        app, diary = make_app(ScriptedEngine())
        machine, said = Listener(), [f"said {n}" for n in range(30)] + ["goodbye"]
        socket: Any = SpeechSocket(app.hub, LeftAtOnce(*said), machine, Principal("me"), "r", "/")  # type: ignore[arg-type]
        await socket.run()
        assert machine.heard == said
        (closed,) = diary.of(ConnectionClosed)
        assert closed.code == 1000

    run(test())
