"""What comes in on a socket, no faster than it is taken up."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.websockets import WebSocket

from antiphon.core.clock import Clock
from antiphon.server.session.end import GOING_AWAY

PIECE_BYTES = 32_768
"""Audio is given to a stream in pieces of at most this: one frame may hold minutes of telephone speech."""


class Reader:
    """Hands every frame to ``take``, with the time at which it came; while ``full``, whoever sends has to wait.

    ``audio_mark``: what binary frames of audio begin with; each piece of one gets it too. ``hears``: whether somebody
    listens to audio at all. ``more``: whether further frames may have come already.
    """

    def __init__(
        self,
        socket: WebSocket,
        clock: Clock,
        take: Callable[[str | bytes, float], None],
        full: Callable[[], bool],
        hears: Callable[[], bool],
        audio_mark: bytes,
        more: Callable[[], bool],
    ) -> None:
        self._socket = socket
        self._clock = clock
        self._take = take
        self._full = full
        self._hears = hears
        self._audio_mark = audio_mark
        self._more = more
        self._room = asyncio.Event()
        self.meet: Callable[[str | bytes], Awaitable[None]] | None = None
        """Awaited with the first frame before it is taken; nothing else is read meanwhile."""

    def go_on(self) -> None:
        """It may be full no longer."""
        self._room.set()

    async def run(self) -> int:
        """Until the client has gone; returns its close code."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return int(message.get("code") or GOING_AWAY)
            now_s = self._clock.now_s()
            text = message.get("text")
            pieces = self._pieces(message.get("bytes", b"") if text is None else text)
            for frame in pieces:
                if self.meet is not None:
                    meet, self.meet = self.meet, None
                    await meet(frame)
                self._take(frame, now_s)
                while self._full():
                    self._room.clear()
                    await self._room.wait()
                if len(pieces) > 1 or self._more():
                    await asyncio.sleep(0)  # everyone else's turn: hundreds of frames may have come at once

    def _pieces(self, frame: str | bytes) -> Sequence[str | bytes]:
        """A frame as it came, but audio that is listened to in pieces: what was not asked for is not cut up."""
        mark = self._audio_mark
        if isinstance(frame, str) or len(frame) <= PIECE_BYTES or not frame.startswith(mark) or not self._hears():
            return (frame,)
        starts = range(len(mark), len(frame), PIECE_BYTES)
        return [mark + frame[start : start + PIECE_BYTES] for start in starts]
