"""An OpenAI-compatible chat server on a real loopback socket that does as it is told, misbehaviour included."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

DONE = "data: [DONE]\n\n"
_HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
"""Strict clients want all of it in every chunk."""


def data(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
    """One chunk of a streamed answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({**_HEAD, 'choices': [choice], **more})}\n\n"


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 7, "completion_tokens": tokens, "total_tokens": 7 + tokens}


def words(*tokens: str) -> list[str]:
    """A whole well-formed answer."""
    usage = json.dumps({**_HEAD, "choices": [], "usage": _usage(len(tokens))})
    return [*(data({"content": token}) for token in tokens), data({}, "stop"), f"data: {usage}\n\n", DONE]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request: a status, headers, then pieces of body.

    A piece is text to send, ``Drop`` (the connection breaks), ``Stay`` (nothing more; the socket stays open), or a
    callable whose result is awaited before the next piece.
    """

    pieces: Sequence[object] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})


Choose = Callable[[dict[str, Any]], Reply]


class Drop:
    pass


class Stay:
    pass


class ScriptedServer:
    """Gives each request the next reply (the last one repeats), or the one that ``choose`` takes by its body."""

    def __init__(self, replies: Sequence[Reply], choose: Choose | None = None) -> None:
        self._replies = list(replies)
        self._choose = choose or self._following
        self.bodies: list[dict[str, Any]] = []
        self.heads: list[str] = []
        self.left = asyncio.Event()
        """Set when a client went away while the server stayed open."""
        self.asked = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")
        )
        self.heads.append(head)
        self.bodies.append(json.loads(await reader.readexactly(length)))
        self.asked.set()
        reply = self._choose(self.bodies[-1])
        lines = [f"HTTP/1.1 {reply.status} Scripted", "transfer-encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in reply.pieces:
            if isinstance(piece, Drop):
                await writer.drain()
                writer.transport.abort()
                return False
            if isinstance(piece, Stay):
                await writer.drain()
                await reader.read()
                self.left.set()
                return False
            if callable(piece):
                await piece()
                continue
            raw = piece if isinstance(piece, bytes) else str(piece).encode()
            writer.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _following(self, _: dict[str, Any]) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


@asynccontextmanager
async def scripted_server(*replies: Reply, choose: Choose | None = None) -> AsyncIterator[ScriptedServer]:
    """A running server on a free port of the loopback interface."""
    scripted = ScriptedServer(replies, choose)
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await scripted.serve(reader, writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    scripted.port = server.sockets[0].getsockname()[1]
    try:
        yield scripted
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
