"""The one shell around a speech socket, whether it speaks, listens or answers: it awaits, and decides nothing.

Frames go to the machine, the machine's actions to the streams and the brain; they say that they have something
(``wake``), and the writer takes up ONE event of one of them at a time, round robin, and only when the wire is free to
take what comes of it. There is no queue of audio here: what was not taken up when a cancel is read never leaves, and a
slow reader fills nothing but its own streams' bounded outboxes. In the other direction, whoever sends audio faster than
it is heard is not read from until it has been.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import chain
from typing import Final, cast

from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.core.brain import BrainDone, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import AntiphonError
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import (
    AgentAction,
    Ask,
    Cancel,
    Close,
    CloseSocket,
    Configure,
    Deed,
    Flush,
    Note,
    Open,
    Push,
    Save,
    Send,
    SendBytes,
)
from antiphon.protocol.http import NotSupported
from antiphon.server.auth import Principal
from antiphon.server.hub import Hub
from antiphon.server.journal import ConnectionClosed, ConnectionOpened, Crashed, Outcome
from antiphon.server.lifecycle import Unready
from antiphon.server.machine import AgentMachine, Machine
from antiphon.server.session.alarm import Alarm
from antiphon.server.session.channel import Channel
from antiphon.server.session.channels import Channels
from antiphon.server.session.end import GOING_AWAY, INTERNAL_ERROR, NORMAL, RESTART, Stalled, faults_of, say_sorry
from antiphon.server.session.reader import Reader
from antiphon.server.session.writer import Writer
from antiphon.server.wire import SocketWire

MAX_WAITING_FRAMES = 256
"""Answers (errors, mostly) that may wait for a reader who does not read; beyond it we stop reading from that socket."""

LAST_WORDS_S = 1.0
"""How long what a client said before it left may take to be read."""
_FRAMES: Final = (Send, SendBytes)
_ANSWERED: Final = (BrainDone, BrainFailed)
_OF_A_BRAIN: Final = (*_ANSWERED, TextDelta, ToolCall)


class SpeechSocket:
    """One accepted WebSocket. ``run`` returns when it is over, and every place is free again.

    ``audio_mark``: what binary frames of audio begin with in the machine's dialect; each piece of one gets it too.
    ``finishes``: a machine that was drained opens nothing but what it needs to end what it has begun, and then closes.
    """

    def __init__(
        self,
        hub: Hub,
        socket: WebSocket,
        machine: Machine,
        principal: Principal,
        request_id: str,
        route: str,
        *,
        audio_mark: bytes = b"",
        finishes: bool = False,
    ) -> None:
        self._hub = hub
        self._now_s = hub.clock.now_s
        self._socket = socket
        self._machine = cast(AgentMachine, machine)  # who has asked no brain is told of none
        self._principal = principal
        self._request_id = request_id
        self._route = route
        self._finishes = finishes
        wire = SocketWire.under(socket)
        self._reader = Reader(socket, hub.clock, self._receive, self._is_full, self._hears, audio_mark, wire.more)
        stall_s = hub.settings.server.stall_timeout_s
        self._writer = Writer(wire, stall_s, self._take_up, self._is_idle, self._reader.go_on)
        self._channels = Channels(hub, principal, request_id, route, self._writer.go, self._writer.wake)
        self._alarm = Alarm(hub.clock, self._tick)
        self._active_s = hub.clock.now_s()
        self._over = self._draining = False
        self._outcome: Outcome = "dropped"
        self._closed_with = GOING_AWAY

    def meet(self, first: Callable[[str | bytes], Awaitable[None]]) -> None:
        """To be awaited with the first frame, before the machine gets it."""
        self._reader.meet = first

    async def run(self) -> None:
        hub, now_s = self._hub, self._hub.clock.now_s
        hub.journal.log(ConnectionOpened(now_s(), self._request_id, self._route, self._principal.name))
        hub.lifecycle.enter(self)
        reader, writer = asyncio.create_task(self._read()), asyncio.create_task(self._write())
        try:
            self._plan()
            await asyncio.wait((reader, writer), return_when=asyncio.FIRST_COMPLETED)
            if writer.done() and isinstance(writer.exception(), WebSocketDisconnect):
                # The client has left; what it said before that, a goodbye perhaps, has yet to be read.
                await asyncio.wait((reader,), timeout=LAST_WORDS_S)
        finally:
            # Places first: whatever happens below, nobody speaks for this socket any more.
            self._over = True
            self._alarm.stop()
            for channel in self._channels:
                self._end(channel, self._outcome)
            reader.cancel()
            writer.cancel()
            results = await asyncio.gather(reader, writer, return_exceptions=True)
            await self._channels.gone()
            await self._farewell(results)
            hub.lifecycle.leave(self)
            hub.journal.log(ConnectionClosed(now_s(), self._request_id, self._route, self._closed_with))

    @property
    def closed_with(self) -> int:
        """The code that it was closed with, once it is over."""
        return self._closed_with

    def drain(self) -> None:
        self._draining = True
        if self._over:  # its client has left already: that is how it ended
            return
        self._do(self._machine.drain(self._now_s()))

    def cut(self) -> None:
        if self._over:
            return
        self._outcome = "cut"
        self._do(self._machine.close(Unready("the server is shutting down")))
        self._writer.close(RESTART)

    def drop(self) -> None:
        self._writer.abort()

    def prod(self) -> None:
        """The machine has something to say of its own accord: it is asked (``tick``)."""
        if not self._over:
            self._do(self._machine.tick(self._now_s()))

    # From the wire

    async def _read(self) -> None:
        self._closed_with = await self._reader.run()

    def _receive(self, frame: str | bytes, now_s: float) -> None:
        self._active_s = now_s
        self._do(self._machine.receive(frame, now_s))

    def _is_full(self) -> bool:
        return self._writer.waiting > MAX_WAITING_FRAMES or self._channels.clogged

    def _hears(self) -> bool:
        return self._channels.hears

    # To the wire

    async def _write(self) -> None:
        self._closed_with = await self._writer.run()
        await self._socket.close(self._closed_with)

    def _take_up(self) -> bool:
        """Make something of the next event of the stream whose turn it is; false: there is none."""
        made = self._channels.next()
        if made is None:
            return False
        channel, event = made
        now_s, line = self._now_s(), channel.line
        if isinstance(event, _OF_A_BRAIN):
            if isinstance(event, _ANSWERED):
                self._end(channel, "failed" if isinstance(event, BrainFailed) else "done")
        elif line is not None:
            line.pulled(event)
            if channel.turns is not None:
                self._decided(channel, channel.turns.take(event, now_s), now_s)
        self._do(self._machine.deliver(channel.key, event, now_s))
        return True

    def _is_idle(self) -> bool:
        return self._channels.idle

    def _decided(self, channel: Channel, events: Sequence[TurnEvent], now_s: float) -> None:
        for event in events:
            if channel.line is not None:
                channel.line.decided(event)
            self._do(self._machine.deliver(channel.key, event, now_s))

    # The machine's wishes

    def _do(self, actions: Iterable[AgentAction]) -> None:
        todo = iter(actions)
        sent = did = False
        while (action := next(todo, None)) is not None:
            if isinstance(action, _FRAMES):
                self._writer.put(action)
                sent = True
            else:
                did = True
                if answer := self._act(action):
                    todo = chain(answer, todo)
        if did or not sent:  # most events are: what follows is not paid for with every chunk of audio
            if self._draining and not self._channels and not self._finishes:
                self._writer.close(RESTART)
            self._plan()

    def _act(self, action: Deed) -> Iterable[AgentAction]:
        """Do what is not sent; returns what the machine answers where it was refused."""
        match action:
            case Note():
                return ()
            case CloseSocket():
                self._writer.close(action.code)
                return ()
            case Open() | Ask():
                return () if self._over or self._writer.closing else self._open(action)
            case Cancel():
                self._writer.forget(action.key)
        channel = self._channels.get(action.key)
        if channel is None:
            return ()
        match action:
            case Push() | Flush():
                return self._feed(channel, action)
            case Configure():
                channel.configure(action, self._now_s())
            case Close():
                self._end(channel, "done")
            case Cancel():
                self._end(channel, "cancelled")
            case Save():
                return self._save(channel, action)
        return ()

    def _feed(self, channel: Channel, action: Push | Flush) -> Iterable[AgentAction]:
        line = channel.line
        if line is None:
            return ()
        try:
            channel.feed(action)
        except AntiphonError as error:
            line.failure = str(error)
            return self._machine.refused(action.key, error, self._now_s())
        channel.stream_due_s = line.stream.tick(self._now_s())
        return ()

    def _save(self, channel: Channel, action: Save) -> Iterable[AgentAction]:
        try:
            channel.save(action)
        except NotSupported as error:
            return self._machine.refused(action.key, error, self._now_s())
        return ()

    def _open(self, action: Open | Ask) -> Iterable[AgentAction]:
        if isinstance(action, Ask):
            self._channels.ask(action)
            return ()
        # An answer that was begun is finished by a server that leaves.
        finishing = self._draining and (self._finishes or self._channels.answering)
        try:
            self._channels.open(action, finishing=finishing)
        except AntiphonError as error:
            return self._machine.refused(action.key, error, self._now_s())
        return ()

    def _end(self, channel: Channel, outcome: Outcome) -> None:
        self._active_s = self._now_s()
        self._channels.end(channel, "cut" if self._outcome == "cut" else outcome)

    # Time

    def _plan(self) -> None:
        """For whichever comes first: the machine, a stream's waiting text, or the idle limit."""
        if self._over or self._writer.closing:
            return
        idle_s = None if self._channels else self._active_s + self._hub.settings.server.idle_timeout_s
        dues = [self._machine.due_s, idle_s, *(channel.due_s for channel in self._channels)]
        self._alarm.plan(dues)

    def _tick(self) -> None:
        now_s = self._now_s()
        for channel in self._channels:
            self._decided(channel, channel.tick(now_s), now_s)
        if not self._channels and now_s - self._active_s >= self._hub.settings.server.idle_timeout_s:
            self._writer.close(NORMAL)
        due_s = self._machine.due_s
        self._do(self._machine.tick(now_s) if due_s is not None and due_s <= now_s else ())

    # The end

    async def _farewell(self, results: Sequence[object]) -> None:
        faults = faults_of(results)
        if any(isinstance(fault, Stalled) for fault in faults):
            self._writer.abort()
            faults = []
        if not faults:
            return
        trace = "".join(traceback.format_exception(faults[0]))
        self._hub.journal.log(Crashed(self._now_s(), self._request_id, self._route, trace))
        self._closed_with = INTERNAL_ERROR
        try:
            await say_sorry(self._socket, self._machine, self._request_id)
        except Exception:  # the machine or the wire is what broke; dropping it is all that is left
            self._writer.abort()
