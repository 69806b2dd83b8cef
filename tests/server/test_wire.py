"""A socket under an ASGI server that knows nothing of our wire: messages leave in order, one at a time."""

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message
from starlette.websockets import WebSocket
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.protocol import State
from websockets.uri import parse_uri

from antiphon.server.transport import SocketProtocol, WireConfig, _frame_head
from antiphon.server.wire import SocketWire

from .support import ORDER, ScriptedEngine, make_app, run

SCOPE: dict[str, Any] = {
    "type": "websocket", "path": "/tts/websocket", "raw_path": b"/tts/websocket", "query_string": b"", "headers": [],
    "subprotocols": [], "root_path": "",
}  # fmt: skip


class Peer:
    """The other end of ASGI."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[Message] = asyncio.Queue()
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.told.put_nowait({"type": "websocket.connect"})

    async def send(self, message: Message) -> None:
        await asyncio.sleep(0)  # as a server does that hands messages on
        await self.sent.put(message)


def test_audio_is_spoken_under_any_server() -> None:
    async def test() -> None:
        app, _ = make_app(ScriptedEngine(answers=True))
        peer = Peer()
        task = asyncio.create_task(app(dict(SCOPE), peer.told.get, peer.send))
        assert (await peer.sent.get())["type"] == "websocket.accept"
        for name in ("a", "b"):
            order = {**ORDER, "context_id": name, "transcript": "Hello."}
            peer.told.put_nowait({"type": "websocket.receive", "text": json.dumps(order)})
            heard = [json.loads((await peer.sent.get())["text"]) for _ in range(2)]
            assert [(message["type"], message["context_id"]) for message in heard] == [("chunk", name), ("done", name)]
        peer.told.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await task

    run(test())


def test_the_wire_is_not_writable_while_another_server_takes_a_message_and_its_fault_is_told() -> None:
    async def test() -> None:
        peer = Peer()
        socket = WebSocket(dict(SCOPE), peer.told.get, peer.send)
        await socket.accept()
        wire = SocketWire.under(socket)
        assert wire.writable.is_set()
        wire.send([(b"{}", True)])
        assert not wire.writable.is_set()
        await wire.writable.wait()
        wire.send([(b"\0", False)])
        await wire.writable.wait()
        await socket.close()
        wire.send([(b"{}", True)])  # too late
        await wire.writable.wait()
        with pytest.raises(RuntimeError):
            wire.send([(b"{}", True)])
        sent = [peer.sent.get_nowait() for _ in range(peer.sent.qsize())]
        assert [message["type"] for message in sent] == [
            "websocket.accept", "websocket.send", "websocket.send", "websocket.close"
        ]  # fmt: skip
        assert (sent[1]["text"], sent[2]["bytes"]) == ("{}", b"\0")

    run(test())


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536, 1 << 20])
def test_heads_of_messages_are_those_of_the_standard(size: int) -> None:
    from websockets.frames import Frame, Opcode

    for opcode in (Opcode.TEXT, Opcode.BINARY):
        whole = Frame(opcode, b"x" * size).serialize(mask=False)
        assert _frame_head(opcode, size) == whole[: len(whole) - size]


class Transport(asyncio.Transport):
    """A socket that counts how often its reading was stopped and begun again."""

    def __init__(self) -> None:
        super().__init__()
        self.stops = self.goes = 0

    def pause_reading(self) -> None:
        self.stops += 1

    def resume_reading(self) -> None:
        self.goes += 1

    def write(self, data: object) -> None:
        """The handshake's answer."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing waits here."""

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """The application has ended."""


def test_reading_stops_only_where_a_message_waits_already() -> None:
    async def test() -> None:
        taken: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        room = asyncio.Semaphore(0)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            wire = scope["extensions"]["antiphon.wire"]
            await receive()
            await send({"type": "websocket.accept"})
            taken.put_nowait(("accepted", wire.more()))
            for _ in range(5):
                await room.acquire()
                text = (await receive())["text"]
                taken.put_nowait((text, wire.more()))

        async def take() -> tuple[str, bool]:
            room.release()
            return await taken.get()

        config = WireConfig(app, stall_timeout_s=1.0, head_timeout_s=1.0, ws=SocketProtocol, lifespan="off")
        protocol = SocketProtocol(config, ServerState(), {})
        transport, client = Transport(), ClientProtocol(parse_uri("ws://here/"))
        protocol.connection_made(transport)

        def tell(*texts: bytes) -> None:
            for text in texts:
                client.send_text(text)
            protocol.data_received(b"".join(client.data_to_send()))

        client.send_request(client.connect())
        tell()
        client.state = State.OPEN
        assert await taken.get() == ("accepted", False)
        for text in ("a", "b"):
            tell(text.encode())
            assert await take() == (text, False)
        assert (transport.stops, transport.goes) == (0, 0)
        tell(b"c", b"d", b"e")
        assert [await take(), await take()] == [("c", True), ("d", True)]
        assert (transport.stops, transport.goes) == (1, 0)
        assert await take() == ("e", False)
        assert (transport.stops, transport.goes) == (1, 1)

    run(test())
