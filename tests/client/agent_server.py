"""The server side of the native socket for tests: the product's own machine behind a real WebSocket on loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import CloseSocket, Send, SendBytes
from antiphon.protocol.native import NativeAction, NativeLimits, NativeSocket, Tell

PATIENCE_S = 10.0


class Peer:
    """One accepted socket. ``told`` gives what the client said, in order, when it is asked for."""

    def __init__(self, link: ServerConnection, window_s: float) -> None:
        self.link = link
        self.machine = NativeSocket(NativeLimits(resume_window_s=window_s))
        self.audio = bytearray()
        self.frames = 0
        self._news: asyncio.Queue[Any] = asyncio.Queue()
        self.gone = asyncio.Event()

    async def do(self, actions: Sequence[NativeAction]) -> None:
        for action in actions:
            match action:
                case Send():
                    await self.link.send(action.frame)
                case SendBytes(frame=data):
                    await self.link.send(data)
                case CloseSocket():
                    await self.link.close(action.code)
                case Tell(news=bytes() as samples):
                    self.audio += samples
                    self.frames += 1
                case Tell():
                    self._news.put_nowait(action.news)

    async def told(self, kind: type[Any] | None = None) -> Any:
        """The next message of the client, or the next of a kind."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                news = await self._news.get()
                if kind is None or isinstance(news, kind):
                    return news

    async def ready(self, *, resumed: bool = False, token: str = "token-1") -> wire.Start:
        start: wire.Start = await self.told(wire.Start)
        await self.do(self.machine.ready("session", token, resumed=resumed))
        return start

    async def say(self, reply_id: str, data: bytes, *, end: bool = False) -> None:
        await self.do(self.machine.begin_reply(reply_id, 1))
        await self.do(self.machine.audio(reply_id, data))
        if end:
            await self.do(self.machine.end_reply(reply_id))

    async def drop(self) -> None:
        """As when a cable is pulled: no goodbye."""
        self.link.transport.abort()
        await self.gone.wait()

    async def serve(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for frame in self.link:
                await self.do(self.machine.receive(frame, 0.0))
        self.gone.set()


class AgentServer:
    def __init__(self, window_s: float) -> None:
        self._window_s = window_s
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()
        self.url = ""
        self.listening: Server | None = None

    async def close(self) -> None:
        """Nobody is there any more."""
        assert self.listening is not None
        self.listening.close()
        await self.listening.wait_closed()

    async def peer(self) -> Peer:
        """The next socket that comes in."""
        return await asyncio.wait_for(self._peers.get(), PATIENCE_S)

    async def accept(self, link: ServerConnection) -> None:
        peer = Peer(link, self._window_s)
        self._peers.put_nowait(peer)
        await peer.serve()


@contextlib.asynccontextmanager
async def agent_server(window_s: float = 30.0) -> AsyncIterator[AgentServer]:
    server = AgentServer(window_s)
    server.listening = listening = await serve(server.accept, "127.0.0.1", 0, compression=None)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        await server.close()


class TestTime:
    """A clock and a sleep of which only the test decides: sleepers wake when it has moved on far enough."""

    __test__ = False

    def __init__(self) -> None:
        self._now_s = 100.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []
        self._more = asyncio.Event()

    def now_s(self) -> float:
        return self._now_s

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        event = asyncio.Event()
        self._sleepers.append((self._now_s + seconds, event))
        self._more.set()
        await event.wait()

    def advance(self, seconds: float) -> None:
        self._now_s += seconds
        due = [event for at_s, event in self._sleepers if at_s <= self._now_s + 1e-9]
        self._sleepers = [(at_s, event) for at_s, event in self._sleepers if at_s > self._now_s + 1e-9]
        for event in due:
            event.set()

    async def until_asleep(self) -> None:
        """Until somebody waits for time to pass."""
        while not self._sleepers:
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), PATIENCE_S)
