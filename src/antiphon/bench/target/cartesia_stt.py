"""Cartesia's listening sockets: recordings spoken into them as a microphone would, in real time."""

import asyncio

from websockets.exceptions import ConnectionClosed

from antiphon.bench.clip import Clip
from antiphon.bench.hearing import CLOSE
from antiphon.bench.recording import Recording
from antiphon.bench.target.cartesia_stt_wire import (
    CHUNK_S,
    FAST_CHUNK_S,
    EarSocket,
    EarWire,
    feed,
    finalize,
    first_of,
    note_end,
)


class _ClipEar:
    """A socket for each clip. ``chunk_s``: length of the pieces. ``extra``: further query parameters."""

    path: str
    turns: bool
    served: str
    """The message without which the server has not served the clip."""

    def __init__(
        self,
        url: str,
        *,
        model: str = "ink-2",
        language: str = "en",
        api_key: str = "",
        chunk_s: float = CHUNK_S,
        extra: dict[str, str] | None = None,
        name: str = "",
    ) -> None:
        self.name = name or f"cartesia-{'turns' if self.turns else 'stt'}"
        self._chunk_s = chunk_s
        self._wire = EarWire(url, self.path, model=model, language=language, api_key=api_key, extra=extra)

    async def open(self, streams: int) -> None:
        """Nothing: a call begins with its own connection."""

    async def speak(self, line: Clip, recording: Recording) -> None:
        clip = self._said(line)
        async with self._wire.connected(clip, recording) as socket:
            if socket is None:
                return
            try:
                await self._play(socket, clip)
            except ConnectionClosed as closed:
                if not recording.error:
                    recording.fail(f"socket closed: {closed}")
        note_end(recording, self.served in socket.last_s, f"the socket closed without `{self.served}`")

    async def close(self) -> None:
        """Nothing is kept open."""

    def _said(self, line: Clip) -> Clip:
        """What of the clip is played."""
        return line

    async def _play(self, socket: EarSocket, clip: Clip) -> None:
        """From the first piece to the server's last word."""
        raise NotImplementedError


class CartesiaStt(_ClipEar):
    """``/stt/websocket``: audio up to the true end in real time, ``finalize``, ``close``."""

    path = "/stt/websocket"
    turns = False
    served = "done"

    def _said(self, line: Clip) -> Clip:
        return line.until_true_end()

    async def _play(self, socket: EarSocket, clip: Clip) -> None:
        await feed(socket, clip, self._chunk_s)
        await finalize(socket)
        done = socket.expect("done")
        socket.recording.mark(CLOSE)
        await socket.send("close")
        await done.wait()


class CartesiaTurns(_ClipEar):
    """``/stt/turns/websocket``: all of the clip in real time, then ``close``.

    Playing ends early once the turn has ended after the true end and nothing has followed for half a second.
    """

    path = "/stt/turns/websocket"
    turns = True
    served = "connected"

    async def _play(self, socket: EarSocket, clip: Clip) -> None:
        if "connected" not in socket.last_s:
            await first_of(socket.expect("connected"), socket.expect("error"))
        await feed(socket, clip, self._chunk_s, stop_after_turn=True)
        socket.recording.mark(CLOSE)
        await socket.send('{"type":"close"}')
        await socket.closed.wait()


class LongStt:
    """``/stt/websocket``, one socket for all clips: each is sent, then finalized; the socket stays open.

    ``speed``: of real time; 0 sends as fast as the server reads.
    """

    turns = False

    def __init__(
        self,
        url: str,
        *,
        model: str = "ink-2",
        language: str = "en",
        api_key: str = "",
        speed: float = 0.0,
        name: str = "cartesia-stt",
    ) -> None:
        self.name = name
        self._speed = speed
        self._wire = EarWire(url, "/stt/websocket", model=model, language=language, api_key=api_key, extra=None)
        self._stop = asyncio.Event()
        self._socket: EarSocket | None = None
        self._holder: asyncio.Task[None] | None = None

    async def open(self, streams: int) -> None:
        """Nothing: the first clip opens the socket."""

    async def speak(self, line: Clip, recording: Recording) -> None:
        if self._holder is None:
            ready = asyncio.Event()
            self._holder = asyncio.create_task(self._hold(line, recording, ready))
            await ready.wait()
        if self._socket is None:
            return
        self._socket.recording = recording
        try:
            await feed(self._socket, line, FAST_CHUNK_S, self._speed)
            await finalize(self._socket)
        except ConnectionClosed as closed:
            recording.fail(f"socket closed: {closed}")
            return
        note_end(recording, not self._socket.closed.is_set(), "the socket closed before `flush_done`")

    async def close(self) -> None:
        self._stop.set()
        if self._holder is not None:
            await self._holder

    async def _hold(self, clip: Clip, recording: Recording, ready: asyncio.Event) -> None:
        async with self._wire.connected(clip, recording) as self._socket:
            ready.set()
            await self._stop.wait()
