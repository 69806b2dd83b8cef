"""A server with scripted audio on the loopback, in a thread: what the targets are tested against."""

import base64
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from .scripted_ear import ScriptedEar

RATE_HZ = 24_000
SILENCE = np.zeros(240, "<i2").tobytes()
TONE = (8_000 * np.sin(2 * np.pi * 440 * np.arange(2_400) / RATE_HZ)).astype("<i2").tobytes()
CHUNKS = (SILENCE, TONE, TONE)
"""10 ms of silence, then 200 ms of tone."""


class ScriptedServer:
    """Speaks ``CHUNKS`` for every text; texts with ``REFUSE`` are refused, with ``HANG`` never answered, with ``DROP``
    lose their socket, with ``FAIL`` break off after all audio (server-sent events). ``heard`` keeps what came in, in
    order."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.sockets = 0
        self.refuse_sockets = False
        self.app = Starlette(
            routes=[
                Route("/", lambda _: JSONResponse({"ok": True})),
                WebSocketRoute("/tts/websocket", self._websocket),
                WebSocketRoute("/speech/websocket", self._native),
                Route("/tts/bytes", self._bytes, methods=["POST"]),
                Route("/tts/sse", self._sse, methods=["POST"]),
                Route("/v1/audio/speech", self._bytes, methods=["POST"]),
            ]
        )

    async def _websocket(self, websocket: WebSocket) -> None:
        if self.refuse_sockets:
            await websocket.send_denial_response(PlainTextResponse("too many", 429))
            return
        await websocket.accept()
        self.sockets += 1
        texts: dict[str, str] = {}
        try:
            while True:
                message = json.loads(await websocket.receive_text())
                self.heard.append(message)
                context = message["context_id"]
                if message.get("cancel"):
                    continue
                texts[context] = texts.get(context, "") + message["transcript"]
                if not message["continue"] and not await self._answer(websocket, context, texts.pop(context)):
                    return
        except WebSocketDisconnect:
            return

    async def _native(self, websocket: WebSocket) -> None:
        await websocket.accept()
        self.sockets += 1
        text = ""
        try:
            while True:
                message = json.loads(await websocket.receive_text())
                self.heard.append(message)
                if message["type"] == "start":
                    text = ""
                    await websocket.send_text(json.dumps({"type": "ready"}))
                text += message.get("text", "")
                ended = message["type"] == "end" or message.get("end")
                if ended and "DROP" in text:
                    await websocket.close(1011)
                    return
                if ended and "REFUSE" in text:
                    refusal = {"type": "error", "code": "at_capacity", "message": "at capacity", "fatal": False}
                    await websocket.send_text(json.dumps(refusal))
                elif ended and "HANG" not in text:
                    for chunk in CHUNKS:
                        await websocket.send_bytes(b"\1" + chunk)
                    await websocket.send_text(json.dumps({"type": "done", "samples": 5040, "reason": "completed"}))
        except WebSocketDisconnect:
            return

    async def _answer(self, websocket: WebSocket, context: str, text: str) -> bool:
        head = {"context_id": context, "status_code": 206, "done": False}
        if "DROP" in text:
            await websocket.close(1011)
            return False
        if "REFUSE" in text:
            refusal = {"type": "error", "done": True, "status_code": 429, "message": "at capacity"}
            await websocket.send_text(json.dumps(head | refusal))
        elif "HANG" not in text:
            for chunk in CHUNKS:
                data = base64.b64encode(chunk).decode()
                await websocket.send_text(json.dumps(head | {"type": "chunk", "data": data, "step_time": 2.0}))
            times = {"words": [], "start": [], "end": []}
            await websocket.send_text(json.dumps(head | {"type": "timestamps", "word_timestamps": times}))
            await websocket.send_text(json.dumps(head | {"type": "done", "done": True}))
        return True

    async def _bytes(self, request: Request) -> Response:
        body = await request.json()
        self.heard.append(body)
        if "REFUSE" in body.get("transcript", body.get("input", "")):
            return PlainTextResponse("at capacity", 429)

        async def pieces() -> AsyncIterator[bytes]:
            whole = b"".join(CHUNKS)
            yield whole[:481]  # cuts a sample in half
            yield whole[481:]

        return StreamingResponse(pieces(), media_type="audio/pcm")


    async def _sse(self, request: Request) -> Response:
        body = await request.json()
        self.heard.append(body)
        if "REFUSE" in body["transcript"]:
            return PlainTextResponse("at capacity", 429)

        async def pieces() -> AsyncIterator[str]:
            head = {"context_id": "c", "status_code": 206, "done": False}
            chunks = [{"type": "chunk", "data": base64.b64encode(chunk).decode(), "step_time": 2.0} for chunk in CHUNKS]
            fails = {"type": "error", "done": True, "status_code": 500, "message": "out of breath"}
            last = fails if "FAIL" in body["transcript"] else {"type": "done", "done": True}
            whole = "".join(f"event: {one['type']}\ndata: {json.dumps(head | one)}\n\n" for one in [*chunks, last])
            yield whole[:100]  # cuts an event in half
            yield whole[100:]

        return StreamingResponse(pieces(), media_type="text/event-stream")


@contextmanager
def serving(server: "ScriptedServer | ScriptedEar") -> Iterator[str]:
    """Serve on a free port of the loopback; gives the base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(server.app, log_level="error", lifespan="off")
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        runner.should_exit = True
        thread.join(10)
