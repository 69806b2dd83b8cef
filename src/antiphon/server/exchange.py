"""One request, one stream, one answer over HTTP.

The status line waits for the first piece of the answer (or the first failure), so that an error has its proper status.
After it, the body tells the truth by how it ends: complete with its last chunk, or broken off so that the client sees
an error; never ended as if complete. A caller who leaves frees the place at once.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.types import Receive, Scope, Send

from antiphon.core.errors import AntiphonError
from antiphon.core.event import Audio, Event, Failed, Flushed, PhonemeTimes, WordTimes
from antiphon.core.hearing import HearingConfig
from antiphon.core.speech import SpeechConfig
from antiphon.server.auth import Principal
from antiphon.server.front import CallerGone
from antiphon.server.hub import Hub
from antiphon.server.lifecycle import Unready
from antiphon.server.lines import Line
from antiphon.server.wire import Wire

END = "end"
"""Marker of the one flush of an exchange."""


class BodyWriter(Protocol):
    """A dialect's way of putting a stream's events into a body. Pure."""

    def deliver(self, event: Event) -> list[bytes]:
        """``Flushed`` is the last event, and brings what ends a complete body."""
        ...

    def fail(self, error: AntiphonError) -> list[bytes]:
        """What tells of a failure inside the body; nothing where the body can only be broken off."""
        ...


class Feed(Protocol):
    """What goes into the stream."""

    async def run(self, line: Line) -> None:
        """Push all of it, then flush with :data:`END`. Raises ``AntiphonError``; may be cancelled while it waits."""
        ...

    def pulled(self, line: Line) -> None:
        """The stream has said something: it may have room again."""
        ...

    async def close(self) -> None:
        """Let go of what is held. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a dialect made of a request.

    ``stages`` name the parts of the time in the ``Server-Timing`` header: computing, and the whole to the first byte.
    ``at_once``: the answer begins with the first sign of life, not with its first piece.
    """

    config: SpeechConfig | HearingConfig
    feed: Feed
    content_type: str
    writer: BodyWriter
    headers: Mapping[str, str] = field(default_factory=dict)
    stages: tuple[str, str] = ("synthesis", "first-audio")
    at_once: bool = False


class Exchange:
    """An ASGI response. A guest of the lifecycle while it runs."""

    def __init__(self, hub: Hub, order: Order, principal: Principal, request_id: str, route: str) -> None:
        self._hub = hub
        self._order = order
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
        try:
            await self._run(scope, receive, send)
        finally:
            await self._order.feed.close()

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._wire = Wire.of(scope)
        began_s = self._hub.clock.now_s()
        line = self._hub.open_line(self._order.config, self._wake, self._principal, self._request_id, self._route)
        watcher = self._loop.create_task(self._watch(receive))
        feeding = self._loop.create_task(self._order.feed.run(line))
        feeding.add_done_callback(lambda _: self._news.set())
        self._hub.lifecycle.enter(self)
        try:
            await self._answer(line, feeding, send, began_s)
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
            await self._say(error, send)
        finally:
            line.end("dropped")
            self._hub.lifecycle.leave(self)
            watcher.cancel()
            feeding.cancel()
            await asyncio.gather(watcher, feeding, return_exceptions=True)

    async def _answer(self, line: Line, feeding: "asyncio.Task[None]", send: Send, began_s: float) -> None:
        held: list[bytes] = []
        while True:  # up to the first piece, or the end of an answer that has none
            event = await self._next(line, feeding)
            made = self._made(line, event)
            held += made
            begun = bool(made) and not isinstance(event, WordTimes | PhonemeTimes)  # those wait for their audio
            if begun or self._order.at_once or isinstance(event, Flushed):
                break
            await asyncio.sleep(0)
        compute_s = event.compute_s if isinstance(event, Audio) else line.compute_s
        await self._start(send, self._hub.clock.now_s() - began_s, compute_s)
        for piece in held:
            await self._send(piece, send)
        while not isinstance(event, Flushed):
            await asyncio.sleep(0)  # everyone else's turn
            event = await self._next(line, feeding)
            for piece in self._made(line, event):
                await self._send(piece, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self, line: Line, feeding: "asyncio.Task[None]") -> Event:
        """Raises ``CallerGone``; what the feed raised; what the stream reports as failure; what :meth:`cut` left."""
        while True:
            self._news.clear()
            if self._gone:
                raise CallerGone
            if self._cut is not None:
                raise self._cut
            if feeding.done():
                feeding.result()
            for event in line.stream.pull(1):
                if isinstance(event, Failed):
                    raise event.error
                return event
            await self._news.wait()

    def _made(self, line: Line, event: Event) -> list[bytes]:
        line.pulled(event)
        self._order.feed.pulled(line)
        return self._order.writer.deliver(event)

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
        computing, first = self._order.stages
        headers = {
            "content-type": self._order.content_type,
            "cache-control": "no-store",
            "x-accel-buffering": "no",  # proxies must not hold back what is meant to be heard at once
            "server-timing": f"queue;dur={queue_ms}, {computing};dur={compute_ms}, {first};dur={ttfb_ms}",
            **self._order.headers,
        }
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        self._started = True
        await send({"type": "http.response.start", "status": 200, "headers": raw})

    async def _say(self, error: AntiphonError, send: Send) -> None:
        """A failure after the status line. Where the body cannot tell, it ends without its end."""
        try:
            pieces = self._order.writer.fail(error)
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
        """Called from workers. One signal at a time: a loop is woken by a system call."""
        if not self._signalled:
            self._signalled = True
            try:
                self._loop.call_soon_threadsafe(self._woken)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    def _woken(self) -> None:
        self._signalled = False
        self._news.set()
