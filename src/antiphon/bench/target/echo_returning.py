"""The plainest echo: each message that comes goes back as it is, one at a time. What a message costs a server that is
woken for it and does nothing. See :mod:`~antiphon.bench.target.echo`."""

import msgspec
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.bench.recording import Recording
from antiphon.bench.target.contract import Line
from antiphon.bench.target.echo import Echo

_read_sizes = msgspec.json.Decoder(list[int]).decode


class ReturningEcho(Echo):
    """See :class:`~antiphon.bench.target.echo.Echo`; asked by :func:`~antiphon.bench.target.echo.sizes_line`. The next
    message is sent when the one before is back."""

    async def speak(self, line: Line, recording: Recording) -> None:
        link = self._free.pop() if self._free else await self._connect()
        for size in _read_sizes(line.text):
            recording.sent()
            await link.send("x" * size)
            recording.chunk(await link.recv(decode=False))
        recording.end()
        self._free.append(link)


def returning_app() -> Starlette:
    return Starlette(routes=[WebSocketRoute("/", _return)])


async def _return(websocket: WebSocket) -> None:
    await websocket.accept()
    try:
        while True:
            await websocket.send_text(await websocket.receive_text())
    except WebSocketDisconnect:
        return
