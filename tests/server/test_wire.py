"""A socket under an ASGI server that knows nothing of our wire: messages leave in order, one at a time."""

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message
from starlette.websockets import WebSocket

from antiphon.server.transport import _frame_head
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
