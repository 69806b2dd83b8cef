"""A caller in real time: a microphone that never stops, words put on it, and all that came back with its time."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from antiphon.client import AgentSession, ClientEvent, Heard, SessionOptions, connect
from antiphon.protocol import native_messages as wire

from .running import Server
from .spoken import RATE_HZ, pcm

FRAME_S = 0.02
Kind = TypeVar("Kind")
_FRAME_BYTES = 2 * round(FRAME_S * RATE_HZ)


class Caller:
    """``events``: (monotonic seconds, event) in order."""

    def __init__(self, server: Server, session: AgentSession) -> None:
        self.server = server
        self.session = session
        self.events: list[tuple[float, ClientEvent]] = []
        self._line = bytearray()
        self._grown = asyncio.Condition()
        self._spoken = asyncio.Event()

    async def say(self, text: str) -> float:
        """Put speech on the microphone; returns the moment at which its last sample was sent."""
        samples = await asyncio.to_thread(pcm, self.server, text, pause_s=0.0)
        self._spoken.clear()
        self._line += samples
        await self._spoken.wait()
        return time.monotonic()

    def only(self, kind: type[Kind]) -> list[Kind]:
        return [event for _, event in self.events if isinstance(event, kind)]

    async def until(self, met: Callable[[], object], limit_s: float = 15.0) -> float:
        """Wait for something to be true of what came; returns when it became so."""
        async with asyncio.timeout(limit_s), self._grown:
            await self._grown.wait_for(met)
        return time.monotonic()

    async def answered(self, limit_s: float = 15.0) -> str:
        """Wait for the next reply to be played to its end; returns its text."""
        before = len(self.only(wire.ReplyEnded))
        await self.until(lambda: len(self.only(wire.ReplyEnded)) > before, limit_s)
        ended = self.only(wire.ReplyEnded)[-1]
        player = self.session.player
        while not player.position(ended.reply_id).over:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return self.text_of(ended.reply_id)

    async def begun(self) -> str:
        """Wait for the next reply to begin; returns its id."""
        before = len(self.only(wire.ReplyStarted))
        await self.until(lambda: len(self.only(wire.ReplyStarted)) > before)
        return self.only(wire.ReplyStarted)[-1].reply_id

    async def heard(self, reply_id: str, seconds: float) -> None:
        """Wait until so much of a reply has been played."""
        samples = round(seconds * self.session.options.output.sample_rate_hz)
        await self.until(lambda: any(h.reply_id == reply_id and h.sample >= samples for h in self.only(Heard)))

    def hang(self) -> None:
        """The socket breaks without a goodbye."""
        socket = self.session._socket
        assert socket is not None
        socket.transport.abort()

    def text_of(self, reply_id: str) -> str:
        return "".join(text.delta for text in self.only(wire.ReplyText) if text.reply_id == reply_id)

    async def _talk(self) -> None:
        began_s, sent = time.monotonic(), 0
        while True:
            frame = bytes(self._line[:_FRAME_BYTES]).ljust(_FRAME_BYTES, b"\0")
            spoke = bool(self._line)
            del self._line[:_FRAME_BYTES]
            await self.session.send_audio(frame)
            if spoke and not self._line:
                self._spoken.set()
            sent += 1
            await asyncio.sleep(max(0.0, began_s + sent * FRAME_S - time.monotonic()))

    async def _listen(self) -> None:
        async for event in self.session:
            self.events.append((time.monotonic(), event))
            async with self._grown:
                self._grown.notify_all()


@contextlib.asynccontextmanager
async def calling(server: Server, options: SessionOptions | None = None) -> AsyncIterator[Caller]:
    async with connect(server.http, options) as session:
        caller = Caller(server, session)
        talking, listening = asyncio.create_task(caller._talk()), asyncio.create_task(caller._listen())
        try:
            yield caller
        finally:
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)
            await session.close()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
