"""The fair echo of the native speech socket: reads the same request by the same decoder, answers with as many binary
frames of the same sizes, made anew for each, and says ``done``. See :mod:`~antiphon.bench.target.echo`."""

from collections.abc import Sequence

import msgspec
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.bench.recording import Recording
from antiphon.bench.target.contract import Line
from antiphon.bench.target.echo import Echo
from antiphon.protocol.native_frames import AUDIO
from antiphon.protocol.native_speech_messages import Done, Ready, Start

_encode = msgspec.json.Encoder().encode


class Order(Start, frozen=True, kw_only=True, tag="start"):
    """A stream's first message as the server gets it, and the sizes of the frames that the echo answers with."""

    sizes: list[int]


_read_order = msgspec.json.Decoder(Order).decode


def native_line(text: str, sizes: Sequence[int]) -> Line:
    """The line that makes :class:`NativeEcho` ask as the server is asked, for frames of these sizes (bytes)."""
    return Line(msgspec.json.encode((text, list(sizes))).decode())


class NativeEcho(Echo):
    """See :class:`~antiphon.bench.target.echo.Echo`; asked by :func:`native_line`."""

    async def speak(self, line: Line, recording: Recording) -> None:
        text, sizes = msgspec.json.decode(line.text, type=tuple[str, list[int]])
        link = self._free.pop() if self._free else await self._connect()
        recording.sent()
        await link.send(_encode(Order(words=False, text=text, end=True, sizes=sizes)), text=True)
        await link.recv(decode=False)  # "ready"
        for _ in sizes:
            recording.chunk(await link.recv(decode=False))
        await link.recv(decode=False)  # "done"
        recording.end()
        self._free.append(link)


def native_echo_app() -> Starlette:
    return Starlette(routes=[WebSocketRoute("/", _answer)])


async def _answer(websocket: WebSocket) -> None:
    await websocket.accept()
    noise = bytes(range(256)) * 4096
    mark = bytes((AUDIO,))
    try:
        while True:
            order = _read_order(await websocket.receive_text())
            await websocket.send_text(_encode(Ready(output=order.output)).decode())
            for size in order.sizes:
                await websocket.send_bytes(mark + noise[: max(0, size - 1)])
            await websocket.send_text(_encode(Done(samples=sum(order.sizes) // 2, reason="completed")).decode())
    except WebSocketDisconnect:
        return
