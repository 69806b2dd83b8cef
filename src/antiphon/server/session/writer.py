"""What leaves on a socket: one frame at a time, and only while the wire is free to take it."""

import asyncio
from collections import deque
from collections.abc import Callable

from starlette.websockets import WebSocket

from antiphon.protocol.actions import Key, Send, SendBytes
from antiphon.server.session.end import Stalled
from antiphon.server.transport import Wire

FRAMES_A_TURN = 4
"""As many frames may leave before everyone else on the loop has a turn; what is read meanwhile waits less than 1 ms."""


class Writer:
    """Sends what was put, and where nothing waits what ``make`` puts: it takes up one more event, or says that there is
    none. Hence a frame is made when it can leave, and not before. ``left`` is called when some have left.
    """

    def __init__(
        self, socket: WebSocket, stall_timeout_s: float, make: Callable[[], bool], left: Callable[[], None]
    ) -> None:
        self._socket = socket
        self._wire = Wire.of(socket.scope)
        self._stall_timeout_s = stall_timeout_s
        self._make = make
        self._left = left
        self._waiting: deque[Send | SendBytes] = deque()
        self._work = asyncio.Event()
        self._close_code: int | None = None

    @property
    def waiting(self) -> int:
        """Frames."""
        return len(self._waiting)

    @property
    def closing(self) -> bool:
        """What waits is still sent, and nothing more is put or made."""
        return self._close_code is not None

    def wake(self) -> None:
        """There is something to make."""
        self._work.set()

    def put(self, frame: Send | SendBytes) -> None:
        if not self.closing:
            self._waiting.append(frame)
            self._work.set()

    def forget(self, key: Key) -> None:
        """Nothing of this stream leaves any more."""
        self._waiting = deque(frame for frame in self._waiting if frame.key != key)

    def close(self, code: int) -> None:
        """The first code counts."""
        if self._close_code is None:
            self._close_code = code
            self._work.set()

    def abort(self) -> None:
        self._wire.abort()

    async def run(self) -> int:
        """Until it is closing and all is sent; returns the code. Raises ``Stalled``, and what the socket raises."""
        while True:
            await self._work.wait()
            await self._writable()
            sent = 0
            while (frame := self._next()) is not None:
                # The wire is free, so this does not wait: nothing can be read between the choice and the sending.
                if isinstance(frame, Send):
                    await self._socket.send_text(frame.frame)
                else:
                    await self._socket.send_bytes(frame.frame)
                sent += 1
                if sent == FRAMES_A_TURN or not self._wire.writable.is_set():
                    break
            if sent:
                self._left()
            if frame is not None:
                await asyncio.sleep(0)  # everyone else's turn, and the reader's: a cancel must be seen at once
            elif self._close_code is not None:
                return self._close_code
            else:
                self._work.clear()

    async def _writable(self) -> None:
        if not self._wire.writable.is_set():
            try:
                async with asyncio.timeout(self._stall_timeout_s):
                    await self._wire.writable.wait()
            except TimeoutError:
                raise Stalled from None

    def _next(self) -> Send | SendBytes | None:
        while not self._waiting:
            if self.closing or not self._make():
                return None
        return self._waiting.popleft()
