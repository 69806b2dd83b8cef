"""A conversation with an agent over the native socket: one session, whatever becomes of its sockets.

A reader takes what the server sends: audio goes to the player at once, tools are run, everything is told to whoever
iterates over the session. A reporter tells the server how far the player has come. When a socket is lost, the session
is taken up again on a new one, as long as the server keeps it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from antiphon.client.comebacks import Comebacks
from antiphon.client.dial import dial, introduce, why
from antiphon.client.errors import Refused, SessionLost, SessionOver, Unreachable
from antiphon.client.events import ClientEvent, Heard, Message, SocketLost, ToolRan, decode_message
from antiphon.client.news import News
from antiphon.client.options import SessionOptions
from antiphon.client.playback import Player, SimulatedPlayer
from antiphon.client.replies import Replies
from antiphon.client.tools import Toolbox
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import InvalidInput
from antiphon.protocol import native_messages as wire
from antiphon.protocol.native_frames import AUDIO

Sleep: TypeAlias = Callable[[float], Awaitable[None]]

MOST_HELD = 64
"""Messages that wait for a socket while there is none."""


@contextlib.asynccontextmanager
async def connect(
    url: str,
    options: SessionOptions | None = None,
    *,
    player: Player | None = None,
    clock: Clock | None = None,
    sleep: Sleep = asyncio.sleep,
) -> AsyncIterator["AgentSession"]:
    """A session at ``url`` (http, https, ws or wss; of the server, or of the socket itself). Leaving hangs up.

    ``player``: who plays what the agent says; None: a simulated one on ``clock``.
    Raises ``InvalidInput`` (a wrong address or option), ``Unreachable``, ``Refused``.
    """
    session = AgentSession(url, options or SessionOptions(), player, clock or MonotonicClock(), sleep)
    await session.open()
    try:
        yield session
    finally:
        await session.close()


class AgentSession:
    """Iterate over it for what happens (:data:`~antiphon.client.events.ClientEvent`); the iteration ends with the
    session, and raises ``SessionLost`` or ``Refused`` where that was not meant to be. Made by :func:`connect`.

    All ``send`` methods raise ``SessionOver`` after the end.
    """

    def __init__(self, url: str, options: SessionOptions, player: Player | None, clock: Clock, sleep: Sleep) -> None:
        options.start()  # what is wrong with them is said before anything is built on them
        self.options = options
        self.player: Player = player or SimulatedPlayer(clock, options.output)
        self.dropped_bytes = 0
        """Audio that was sent while there was no socket: nobody heard it."""
        self._url = url
        self._clock = clock
        self._sleep = sleep
        self._ready: wire.Ready | None = None
        self._socket: ClientConnection | None = None
        self._held: list[wire.ClientMessage] = []
        self._news = News(options.most_events)
        self._tools = Toolbox(options.tools, self._tool_ran)
        self._replies = Replies(self.player, options.output.sample_bytes)
        self._playing = asyncio.Event()
        self._comebacks = Comebacks()
        self._over = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def session_id(self) -> str:
        return self._ready.session_id if self._ready else ""

    @property
    def connected(self) -> bool:
        return self._socket is not None and not self._over

    async def open(self) -> None:
        """Connect and wait until the server is ready. Raises as :func:`connect`."""
        start = self.options.start()
        socket, ready = await self._begin(start)
        self._take_up(socket, ready)
        await self._tell(ready)
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._report())]

    async def close(self) -> None:
        """Hang up. Tools that write are waited for."""
        if not self._over:
            with contextlib.suppress(ConnectionClosed, SessionOver):
                await self.send(wire.Close())
        self._over = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._tools.close()
        if self._socket is not None:
            await self._socket.close()
            self._socket = None
        self._news.let_go()

    # What the user does

    async def send_audio(self, data: bytes) -> None:
        """The user's sound, in the declared input format; a sample may be split. Without a socket it is dropped."""
        self._check_open()
        socket = self._socket
        if socket is None:
            self.dropped_bytes += len(data)
            return
        try:
            await socket.send(bytes((AUDIO,)) + data)
        except ConnectionClosed:
            self.dropped_bytes += len(data)

    async def send_text(self, text: str) -> None:
        """The user writes. Raises ``InvalidInput`` for an empty text."""
        if not text.strip():
            raise InvalidInput("a text needs at least one letter", "text")
        await self.send(wire.Say(text=text))

    async def send_dtmf(self, digits: str) -> None:
        await self.send(wire.Dtmf(digits=digits))

    async def interrupt(self) -> None:
        """The user wants silence."""
        await self.send(wire.Interrupt())

    async def send(self, message: wire.ClientMessage) -> None:
        """Any message. While there is no socket it waits for the next one; raises ``SessionOver`` if too many do."""
        self._check_open()
        socket = self._socket
        if socket is not None:
            with contextlib.suppress(ConnectionClosed):
                await socket.send(msgspec.json.encode(message).decode())
                return
        if isinstance(message, wire.Played):
            return  # positions of a socket that is gone mean nothing on the next one
        if len(self._held) >= MOST_HELD:
            raise SessionOver(f"{MOST_HELD} messages wait for a socket; no more are taken")
        self._held.append(message)

    # What happens

    def __aiter__(self) -> AsyncIterator[ClientEvent]:
        return self._without_stamps()

    async def stamped(self) -> AsyncIterator[tuple[float, ClientEvent]]:
        """The same with the moment of each (monotonic seconds of the session's clock)."""
        async for stamped in self._news:
            yield stamped

    async def _without_stamps(self) -> AsyncIterator[ClientEvent]:
        async for _, event in self.stamped():
            yield event

    async def _tell(self, event: ClientEvent, at_s: float | None = None) -> None:
        await self._news.tell(event, self._clock.now_s() if at_s is None else at_s)

    # Inside

    def _check_open(self) -> None:
        if self._over:
            raise SessionOver("the session is over; begin another one")

    async def _begin(self, start: wire.Start) -> tuple[ClientConnection, wire.Ready]:
        options = self.options
        socket = await dial(self._url, options.api_key, options.tls, options.ready_within_s)
        first = msgspec.json.encode(start).decode()
        return socket, await introduce(socket, first, wire.Ready, decode_message, options.ready_within_s)

    def _take_up(self, socket: ClientConnection, ready: wire.Ready) -> None:
        self._socket, self._ready = socket, ready
        self._comebacks.taken_up(self._clock.now_s())

    async def _run(self) -> None:
        """Read sockets until the session is over."""
        last: BaseException | None = None
        try:
            while True:
                assert self._socket is not None
                reason = await self._read(self._socket)
                if self._over:
                    break
                self._socket = None
                await self._tell(SocketLost(reason))
                await self._resume(reason)
        except (Refused, SessionLost) as error:
            last = error
        except asyncio.CancelledError:
            raise
        except Exception as error:  # a fault of ours must not leave the user waiting
            last = error
        self._over = True
        await self._news.end(last)

    async def _read(self, socket: ClientConnection) -> str:
        """Returns why the socket ended. Raises ``Refused`` where the server broke off the session."""
        goodbye: wire.Closed | None = None
        try:
            while True:
                frame = await socket.recv()
                at_s = self._clock.now_s()
                if isinstance(frame, bytes) and frame[:1] != b"{":
                    await self._hear(frame, at_s)
                    continue
                try:
                    message = decode_message(frame)
                except msgspec.DecodeError as error:
                    raise Refused(f"the server sent what is no message: {error}", "invalid_message") from None
                if isinstance(message, wire.ErrorMessage) and message.fatal:
                    raise Refused(message.message, message.code, param=message.param)
                if isinstance(message, wire.Closed):
                    goodbye = message
                if message is not None:
                    await self._obey(message)
                    await self._tell(message, at_s)
        except ConnectionClosed as closed:
            if goodbye is not None and goodbye.reason != "restart":
                self._over = True
            return goodbye.reason if goodbye is not None else why(closed)

    async def _hear(self, frame: bytes, at_s: float) -> None:
        audio = self._replies.hear(frame[1:]) if frame[:1] == bytes((AUDIO,)) else None
        if audio is not None:
            self._playing.set()
            await self._tell(audio, at_s)

    async def _obey(self, message: Message) -> None:
        match message:
            case wire.ToolAsked():
                await self._tools.call(message)
            case wire.ToolCancelled(call_id=call_id):
                self._tools.cancel(call_id)
            case _:
                await self._pass_on(self._replies.obey(message))
                self._playing.set()

    async def _tool_ran(self, ran: ToolRan) -> None:
        with contextlib.suppress(SessionOver):
            await self.send(wire.ToolResult(call_id=ran.call_id, content=ran.content, ok=ran.ok))
        if not self._over:
            await self._tell(ran)

    async def _report(self) -> None:
        while True:
            await self._playing.wait()
            await self._pass_on(self._replies.news())
            if self._replies.playing:
                await self._sleep(self.options.report_every_s)
            else:
                self._playing.clear()

    async def _pass_on(self, news: list[Heard]) -> None:
        for heard in news:
            with contextlib.suppress(SessionOver):
                await self.send(
                    wire.Played(reply_id=heard.reply_id, sample=heard.sample, underruns=heard.underruns)
                )
            await self._tell(heard)

    async def _resume(self, reason: str) -> None:
        """A new socket for the old session. Raises ``SessionLost`` or ``Refused``."""
        assert self._ready is not None
        if not self.options.resume:
            raise SessionLost(f"the socket was lost ({reason})")
        window_s = self._ready.resume_window_ms / 1000
        give_up_s = self._clock.now_s() + window_s
        self._comebacks.lost(self._clock.now_s())
        last = reason
        heard: wire.LastHeard | None = None
        while True:
            await self._sleep(self._comebacks.pause_s())
            if self._clock.now_s() >= give_up_s:
                raise SessionLost(f"the session could not be taken up again within {window_s:g} s: {last}")
            try:
                heard = self._replies.lose() or heard
                socket, ready = await self._begin(self.options.start(self._ready.resume_token, heard))
            except Unreachable as error:
                last = str(error)
                continue
            except Refused as error:
                if not error.may_retry:
                    raise
                last = str(error)
                continue
            self._take_up(socket, ready)
            await self._tell(ready)
            held, self._held = self._held, []
            if ready.resumed:
                for message in held:
                    await self.send(message)
            return
