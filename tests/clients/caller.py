"""A caller in real time: a microphone that never stops, words put on it, and all that came back with its time."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

from antiphon.client import AgentSession, ClientEvent, SessionOptions, connect
from antiphon.protocol import native_messages as wire

from .running import Server
from .spoken import RATE_HZ, pcm

FRAME_S = 0.02
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

    def of(self, kind: type) -> list[tuple[float, object]]:
        return [(at_s, event) for at_s, event in self.events if isinstance(event, kind)]

    async def until(self, met: Callable[[], object], limit_s: float = 15.0) -> float:
        """Wait for something to be true of what came; returns when it became so."""
        async with asyncio.timeout(limit_s), self._grown:
            await self._grown.wait_for(met)
        return time.monotonic()

    async def answered(self, limit_s: float = 15.0) -> str:
        """Wait for the next reply to be played to its end; returns its text."""
        begun = len(self.of(wire.ReplyEnded))
        await self.until(lambda: len(self.of(wire.ReplyEnded)) > begun, limit_s)
        ended = self.of(wire.ReplyEnded)[-1][1]
        assert isinstance(ended, wire.ReplyEnded)
        player = self.session.player
        while not player.position(ended.reply_id).over:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return self.text_of(ended.reply_id)

    def text_of(self, reply_id: str) -> str:
        texts = (event for _, event in self.events if isinstance(event, wire.ReplyText))
        return "".join(text.delta for text in texts if text.reply_id == reply_id)

    def transcripts(self) -> list[str]:
        return [event.transcript for _, event in self.events if isinstance(event, wire.UserEnded)]

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
