"""A web server that does as it is told, and tools for tests."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from antiphon.server.tools.outcome import ToolContext, ToolOutcome
from antiphon.server.tools.tool import Offer, OwnSource

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass
class Asked:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Web:
    """``answers`` are sent in turn, the last again and again; an empty one closes the connection without a word,
    ``None`` never answers."""

    answers: list[bytes | None]
    port: int = 0
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def answer(status: int = 200, body: object = None, **headers: str) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@contextlib.asynccontextmanager
async def web(*answers: bytes | None) -> AsyncIterator[Web]:
    site = Web(list(answers))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            site.asked.append(Asked(head[0], headers, body))
            said = site.answers.pop(0) if len(site.answers) > 1 else site.answers[0]
            if said is None:
                await reader.read()
            else:
                writer.write(said)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


async def never(seconds: float) -> None:
    """A sleep that takes no time."""


class ScriptedTool(OwnSource):
    """Runs ``does``; counts how often it began, ended, and was cancelled."""

    def __init__(self, does: Callable[[dict[str, Any], str], Any], **traits: Any) -> None:
        super().__init__(Offer("act", "It acts.", traits.pop("schema", OBJECT), **traits))
        self._does = does
        self.began = self.ended = self.cancelled = 0
        self.closed = False

    async def aclose(self) -> None:
        self.closed = True

    async def run(self, arguments: dict[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        self.began += 1
        try:
            content = await self._does(arguments, key)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.ended += 1
        return content if isinstance(content, ToolOutcome) else ToolOutcome(True, content)
