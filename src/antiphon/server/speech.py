"""One request, one answer: text in, audio out over HTTP.

The status line waits for the first audio (or the first failure), so that an error has its proper status. After it, the
body tells the truth by how it ends: complete with its last chunk, or broken off so that the client sees an error; never
ended as if complete. A caller who leaves frees the place at once.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from antiphon.core.errors import AntiphonError, EngineFailed
from antiphon.core.event import Audio, Event, Failed, Flushed
from antiphon.core.speech import SpeechConfig
from antiphon.protocol.http import TooLarge
from antiphon.server.auth import Principal
from antiphon.server.front import CallerGone
from antiphon.server.hub import Hub, Line
from antiphon.server.lifecycle import Unready
from antiphon.server.transport import Wire

END = "end"
_PATIENCE = 16
"""How many times the allowed size a body may have and still be heard out."""


class BodyWriter(Protocol):
    """A dialect's way of putting a stream's events into a body. Pure."""

    def deliver(self, event: Event) -> list[bytes]:
        """``Flushed`` is the last event, and brings what ends a complete body."""
        ...

    def fail(self, error: AntiphonError) -> list[bytes]:
        """What tells of a failure inside the body; nothing where the body can only be broken off."""
        ...


class AudioBody:
    """The encoded audio itself."""

    def deliver(self, event: Event) -> list[bytes]:
        return [event.data] if isinstance(event, Audio) and event.data else []

    def fail(self, error: AntiphonError) -> list[bytes]:
        return []


@dataclass(frozen=True, slots=True)
class Speech:
    """What a dialect made of a request."""

    config: SpeechConfig
    text: str
    content_type: str
    writer: BodyWriter
    headers: Mapping[str, str] = field(default_factory=dict)


async def read_body(request: Request, limit_bytes: int, timeout_s: float) -> bytes:
    """Raises ``TooLarge``, ``CallerGone`` (also for a body that does not come in time).

    A body that is too large is read to its end, within reason, before it is refused: a client that is still sending
    when the connection closes sees a broken pipe instead of the answer.
    """
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise CallerGone
                piece = message.get("body", b"")
                size += len(piece)
                if size <= limit_bytes:
                    body += piece
                if not message.get("more_body", False) or size > limit_bytes * _PATIENCE:
                    break
    except TimeoutError:
        raise CallerGone from None
    if size > limit_bytes:
        raise TooLarge(f"the body has more than the {limit_bytes} bytes allowed")
    return bytes(body)


class SpeechResponse:
    """Speaks one text into one response. A guest of the lifecycle while it does."""

    def __init__(self, hub: Hub, speech: Speech, principal: Principal, request_id: str, route: str) -> None:
        self._hub = hub
        self._speech = speech
        self._principal = principal
        self._request_id = request_id
        self._route = route
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._signalled = False
        self._gone = False
        self._cut: AntiphonError | None = None
        self._started = False
        self._wire: Wire | None = None

    def drain(self) -> None:
        """A request under way is finished; there is nothing new to refuse."""

    def cut(self) -> None:
        self._cut = Unready("the server is shutting down")
        self._news.set()

    def drop(self) -> None:
        self._gone = True
        self._news.set()
        if self._wire is not None:
            self._wire.abort()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ``AntiphonError`` before the first byte; later failures are told in the body, or by its breaking."""
        self._wire = Wire.of(scope)
        began_s = self._hub.clock.now_s()
        line = self._hub.open_line(
            self._speech.config, self._wake, self._principal, self._request_id, self._route
        )
        watcher = self._loop.create_task(self._watch(receive))
        self._hub.lifecycle.enter(self)
        try:
            line.pushed(self._speech.text)
            line.stream.push(self._speech.text)
            line.stream.flush(END, last=True)
            await self._answer(line, send, began_s)
            line.end("done")
        except CallerGone:
            line.end("dropped")
        except AntiphonError as error:
            if error is self._cut:
                line.end("cut")
            else:
                line.failure = str(error)
                line.end("failed")
            if not self._started:
                raise
            await self._tell(error, send)
        finally:
            line.end("dropped")
            self._hub.lifecycle.leave(self)
            watcher.cancel()

    async def _answer(self, line: Line, send: Send, began_s: float) -> None:
        before: list[Event] = []
        while True:  # up to the first byte of audio, or the end of a text that has none
            event = await self._next(line)
            before.append(event)
            if isinstance(event, Flushed) or (isinstance(event, Audio) and event.data):
                break
        compute_s = event.compute_s if isinstance(event, Audio) else 0.0
        await self._start(send, self._hub.clock.now_s() - began_s, compute_s)
        for event in before:
            await self._write(line, event, send)
        while not isinstance(event, Flushed):
            event = await self._next(line)
            await self._write(line, event, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self, line: Line) -> Event:
        """Raises ``CallerGone``; ``EngineFailed`` if the stream says so; what :meth:`cut` left."""
        while True:
            self._news.clear()
            if self._gone:
                raise CallerGone
            if self._cut is not None:
                raise self._cut
            for event in line.stream.pull(1):
                if isinstance(event, Failed):
                    raise EngineFailed(event.message)
                return event
            await self._news.wait()

    async def _write(self, line: Line, event: Event, send: Send) -> None:
        line.pulled(event)
        for piece in self._speech.writer.deliver(event):
            await self._send(piece, send)
        await asyncio.sleep(0)  # everyone else's turn

    async def _send(self, piece: bytes, send: Send) -> None:
        assert self._wire is not None
        if not self._wire.writable.is_set():
            try:
                async with asyncio.timeout(self._hub.settings.server.stall_timeout_s):
                    await self._wire.writable.wait()
            except TimeoutError:
                self._wire.abort()
                raise CallerGone from None
        if self._gone:
            raise CallerGone
        await send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _start(self, send: Send, ttfb_s: float, compute_s: float) -> None:
        queue_ms, compute_ms, ttfb_ms = (
            round(seconds * 1000, 1) for seconds in (max(0.0, ttfb_s - compute_s), compute_s, ttfb_s)
        )
        headers = {
            "content-type": self._speech.content_type,
            "cache-control": "no-store",
            "x-accel-buffering": "no",  # proxies must not hold back what is meant to be heard at once
            "server-timing": f"queue;dur={queue_ms}, synthesis;dur={compute_ms}, first-audio;dur={ttfb_ms}",
            **self._speech.headers,
        }
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        self._started = True
        await send({"type": "http.response.start", "status": 200, "headers": raw})

    async def _tell(self, error: AntiphonError, send: Send) -> None:
        """A failure after the status line. Where the body cannot tell, it ends without its end."""
        try:
            pieces = self._speech.writer.fail(error)
            for piece in pieces:
                await self._send(piece, send)
            if pieces:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except CallerGone:
            return

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._news.set()

    def _wake(self) -> None:
        if not self._signalled:
            self._signalled = True
            try:
                self._loop.call_soon_threadsafe(self._woken)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    def _woken(self) -> None:
        self._signalled = False
        self._news.set()


