"""Ears that say what a script tells them: one in virtual time behind a socket's face, one on the real wire."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedOK, InvalidStatus
from websockets.http11 import Response

from antiphon.core.clock import ManualClock

Said = dict[str, Any]


def message(kind: str, **fields: Any) -> Said:
    return {"type": kind, "request_id": "r", **fields}


def transcript(text: str, final: bool = False) -> Said:
    return message("transcript", text=text, is_final=final)


class FakeSocket:
    """A connection in virtual time.

    ``on_samples``: (16-bit samples received, message), said at once when as many have come; ``on_text``: command ->
    (seconds later, message) each, the clock moving on by them; None closes the socket.
    """

    def __init__(
        self,
        clock: ManualClock,
        on_samples: Sequence[tuple[int, Said]] = (),
        on_text: dict[str, Sequence[tuple[float, Said | None]]] | None = None,
    ) -> None:
        self.clock = clock
        self.sent: list[tuple[float, bytes | str]] = []
        self.url = ""
        self.refusal = 0
        self._due = list(on_samples)
        self._on_text = on_text or {}
        self._samples = 0
        self._queue: asyncio.Queue[tuple[float, Said | None]] = asyncio.Queue()
        self._closed = False

    async def __call__(self, url: str, **_: Any) -> "FakeSocket":
        """In the place of ``connect``."""
        self.url = url
        if self.refusal:
            raise InvalidStatus(Response(self.refusal, "no", Headers()))
        self._release()
        return self

    async def send(self, data: bytes | str) -> None:
        if self._closed:
            raise ConnectionClosedOK(None, None)
        self.sent.append((self.clock.now_s(), data))
        if isinstance(data, bytes):
            self._samples += len(data) // 2
            self._release()
        else:
            for item in self._on_text.get(data, ()):
                self._queue.put_nowait(item)

    async def recv(self, decode: bool) -> bytes:
        delay_s, said = await self._queue.get()
        self.clock.advance(delay_s)
        if said is None:
            self._closed = True
            raise ConnectionClosedOK(None, None)
        return json.dumps(said).encode()

    async def close(self) -> None:
        if not self._closed:
            self._queue.put_nowait((0.0, None))

    def _release(self) -> None:
        while self._due and self._due[0][0] <= self._samples:
            self._queue.put_nowait((0.0, self._due.pop(0)[1]))


class ScriptedEar:
    """On the wire. Hears "old coat" in anything that is not silent: an interim at the first sound, finals on
    ``finalize``; with turns, a turn that ends 0.1 s into the silence that follows. ``heard_bytes``: of all sockets."""

    def __init__(self) -> None:
        self.heard_bytes = 0
        self.sockets = 0
        self.refuse = False
        self.app = Starlette(
            routes=[
                WebSocketRoute("/stt/websocket", self._finalized),
                WebSocketRoute("/stt/turns/websocket", self._turns),
            ]
        )

    async def _accept(self, websocket: WebSocket) -> bool:
        if self.refuse:
            await websocket.send_denial_response(PlainTextResponse("too many", 429))
            return False
        self.sockets += 1
        await websocket.accept()
        return True

    async def _finalized(self, websocket: WebSocket) -> None:
        if not await self._accept(websocket):
            return
        shown = False
        try:
            while True:
                received = await websocket.receive()
                if received["type"] == "websocket.disconnect":
                    return
                if received.get("bytes"):
                    self.heard_bytes += len(received["bytes"])
                    if not shown and any(received["bytes"]):
                        shown = True
                        await websocket.send_json(transcript("old goat"))
                elif received["text"] == "finalize":
                    if shown:
                        words = [
                            {"word": "Old", "start": 0.0, "end": 0.04},
                            {"word": "coat.", "start": 0.05, "end": 0.1},
                        ]
                        await websocket.send_json(transcript("Old coat.", final=True) | {"words": words})
                    await websocket.send_json(message("flush_done"))
                    shown = False
                else:
                    await websocket.send_json(message("done"))
                    await websocket.close()
                    return
        except WebSocketDisconnect:
            return

    async def _turns(self, websocket: WebSocket) -> None:
        if not await self._accept(websocket):
            return
        await websocket.send_json(message("connected"))
        quiet = 0
        speaking = False
        while True:
            received = await websocket.receive()
            if received["type"] == "websocket.disconnect":
                return
            data = received.get("bytes")
            if not data:
                await websocket.close()
                return
            self.heard_bytes += len(data)
            if any(data):
                quiet = 0
                if not speaking:
                    speaking = True
                    await websocket.send_json(message("turn.start"))
                    await websocket.send_json(message("turn.update", transcript="Old"))
                continue
            quiet += len(data) // 2
            if speaking and quiet >= 1_600:
                speaking = False
                await websocket.send_json(message("turn.eager_end", transcript="Old coat."))
                await websocket.send_json(message("turn.end", transcript="Old coat."))
