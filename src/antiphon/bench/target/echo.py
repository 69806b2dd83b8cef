"""A bare WebSocket echo on the server's own stack (Starlette on uvicorn): what a message costs when nothing is done.

It runs in a process of its own, so that its CPU time can be told from the player's. A request names the sizes of the
messages wanted; the answer is that many text messages of these sizes. The *fair* echo does the work that the protocol
itself asks of any server: it reads the same request (text, voice and format, by the same decoder), encodes PCM as
base64 in the same JSON message, anew for each, and says ``done``. The plain one sends filler.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect

from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.child import ChildServer
from antiphon.bench.target.contract import Line, finish
from antiphon.protocol.cartesia_messages import Chunk, Done, encode_server_message
from antiphon.protocol.cartesia_request import GenerationRequest, OutputFormat, VoiceSpecifier


class Order(GenerationRequest, frozen=True, kw_only=True):
    """A request as the server gets it, and the sizes of the messages that a fair echo answers it with."""

    sizes: list[int]


_read_sizes = msgspec.json.Decoder(list[int]).decode
_read_order = msgspec.json.Decoder(Order).decode


def sizes_line(sizes: Sequence[int]) -> Line:
    """The line that makes :class:`Echo` answer with messages of these sizes (bytes)."""
    return Line(msgspec.json.encode(list(sizes)).decode())


def order_line(transcript: str, sizes: Sequence[int]) -> Line:
    """The same for a fair echo, which is asked as the server is."""
    order = Order(
        context_id="bench-0",
        transcript=transcript,
        continue_=False,
        model_id="sonic-3",
        voice=VoiceSpecifier(id="00000000-0000-4000-8000-000000000000", mode="id"),
        language="en",
        output_format=OutputFormat("raw", "pcm_s16le", 24_000),
        sizes=list(sizes),
    )
    return Line(msgspec.json.encode(order).decode())


class EchoServer(ChildServer):
    """An echo in a child process: ``make(*arguments)`` gives its application."""

    def __init__(self, make: Callable[..., Starlette], *arguments: object) -> None:
        super().__init__("the echo server", make, *arguments)
        self.url = f"ws://127.0.0.1:{self.port}"


class Echo:
    """The echo as a target: one socket per concurrent request, reused. Its "audio" is filler and is dropped."""

    sample_rate_hz = 24_000

    def __init__(self, url: str, *, name: str = "echo", fair: bool = False) -> None:
        self.name = name
        self._fair = fair
        self._url = url
        self._free: list[ClientConnection] = []

    async def open(self, streams: int) -> None:
        fresh = await asyncio.gather(*(self._connect() for _ in range(streams - len(self._free))))
        self._free.extend(fresh)

    async def speak(self, line: Line, recording: Recording) -> None:
        link = self._free.pop() if self._free else await self._connect()
        recording.sent()
        await link.send(line.text)
        for _ in _read_order(line.text).sizes if self._fair else _read_sizes(line.text):
            recording.chunk(await link.recv(decode=False))
        if self._fair:
            await link.recv(decode=False)  # "done", which is no audio message of the server's either
        recording.end()
        self._free.append(link)

    def take(self, recording: Recording) -> Take:
        return finish(recording, [b""] * len(recording.payloads), self.sample_rate_hz)

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._free))
        self._free.clear()

    async def _connect(self) -> ClientConnection:
        return await connect(self._url, compression=None, max_size=None, max_queue=None, proxy=None)


def echo_app(fair: bool = False) -> Starlette:
    return Starlette(routes=[WebSocketRoute("/", _encode if fair else _answer)])


async def _encode(websocket: WebSocket) -> None:
    """Each message is a chunk of PCM as the protocol has it, encoded when it is sent."""
    await websocket.accept()
    noise = bytes(range(256)) * 4096
    empty = len(_chunk(b""))
    try:
        while True:
            order = _read_order(await websocket.receive_text())
            for size in order.sizes:
                pcm = noise[: max(0, size - empty) * 3 // 4]
                await websocket.send_text(_chunk(pcm).decode())
            await websocket.send_text(encode_server_message(Done(context_id=order.context_id or "")).decode())
    except WebSocketDisconnect:
        return


def _chunk(pcm: bytes) -> bytes:
    return encode_server_message(Chunk(context_id="bench-0", step_time=1.0, flush_id=1, data=pcm))


async def _answer(websocket: WebSocket) -> None:
    await websocket.accept()
    try:
        while True:
            for size in _read_sizes(await websocket.receive_text()):
                await websocket.send_text("x" * size)
    except WebSocketDisconnect:
        return
