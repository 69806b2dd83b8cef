"""What leaves on a socket: a few frames at a time, and only while the wire is free to take them."""

import asyncio
from collections import deque
from collections.abc import Callable

from antiphon.protocol.actions import Key, Send, SendBytes
from antiphon.server.session.end import Stalled
from antiphon.server.wire import Message, SocketWire

FRAMES_A_TURN = 4
"""As many frames may leave before everyone else on the loop has a turn; what is read meanwhile waits less than 1 ms."""

BYTES_A_TURN = 32_768
"""No further frame is begun in a turn that has as much: frames of a turn leave with one system call, and what a peer
that falls behind does not take of them cannot be taken back."""


class Writer:
    """Sends what was put, and where nothing waits what ``make`` puts: it takes up one more event, or says that there is
    none (``idle``: whether it would). Hence a frame is made when it can leave, and not before. ``taken`` is called
    after each turn.

    A turn is a plain call of the loop: audio wakes no task. ``run`` awaits what must be awaited, a wire that is full
    and the end. A wire that was full gets one frame a turn until it has taken one at once.
    """

    def __init__(
        self,
        wire: SocketWire,
        stall_timeout_s: float,
        make: Callable[[], bool],
        idle: Callable[[], bool],
        taken: Callable[[], None],
    ) -> None:
        self._wire = wire
        self._writable = wire.writable.is_set
        self._stall_timeout_s = stall_timeout_s
        self._make = make
        self._idle = idle
        self._taken = taken
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Send | SendBytes] = deque()
        self._due = False
        """A turn is planned, or under way."""
        self._flows = True
        """The wire took at once what it was given last."""
        self._stuck = asyncio.Event()
        """The wire is full, or nothing more is sent."""
        self._close_code: int | None = None
        self._fault: Exception | None = None
        self._over = False

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
        if not self._due:
            self._due = True
            self._loop.call_soon(self._turn)

    def go(self) -> None:
        """As :meth:`wake`, from a call of the loop's own: the turn need not wait for another."""
        if not self._due:
            self._due = True
            self._turn()

    def put(self, frame: Send | SendBytes) -> None:
        if self._close_code is None:
            self._waiting.append(frame)
            if not self._due:
                self.wake()

    def forget(self, key: Key) -> None:
        """Nothing of this stream leaves any more."""
        kept = [frame for frame in self._waiting if frame.key != key]
        self._waiting.clear()
        self._waiting.extend(kept)

    def close(self, code: int) -> None:
        """The first code counts."""
        if self._close_code is None:
            self._close_code = code
            self.wake()

    def abort(self) -> None:
        self._wire.abort()

    async def run(self) -> int:
        """Until it is closing and all is sent; returns the code. Raises ``Stalled``, and what sending raises."""
        try:
            while True:
                await self._stuck.wait()
                self._stuck.clear()
                if self._fault is not None:
                    raise self._fault
                await self._free()
                if self._close_code is not None and not self._waiting:
                    return self._close_code
                self.wake()
        finally:
            self._over = True

    def _turn(self) -> None:
        if self._over:
            return
        try:
            more = self._send_some()
        except Exception as fault:
            self._fault = fault
            self._stuck.set()
            return
        self._due = False  # and not before: what is put meanwhile is sent in this turn, or in the next
        if more:
            self.wake()

    def _send_some(self) -> bool:
        """Returns whether there may be more that can leave at once."""
        if self._writable():
            # The wire is free, so sending does not wait: nothing can be read between the choice and the sending.
            messages: list[Message] = []
            try:
                self._choose(messages)
            finally:  # what was made before something broke
                if messages:
                    self._wire.send(messages)
            if messages:
                self._flows = self._writable()
        self._taken()
        if not self._writable():
            self._stuck.set()
            return False
        if self._waiting or not (self._close_code is not None or self._idle()):
            return True
        if self._close_code is not None:
            self._stuck.set()
        return False

    def _choose(self, messages: list[Message]) -> None:
        """What leaves in this turn."""
        waiting, left, room = self._waiting, FRAMES_A_TURN if self._flows else 1, BYTES_A_TURN
        while left > 0 and room > 0:
            if not waiting and (self._close_code is not None or not self._make()):
                return
            if waiting:
                frame = waiting.popleft()
                messages.append((frame.frame, isinstance(frame, Send)))
                left -= 1
                room -= len(frame.frame)

    async def _free(self) -> None:
        if self._writable():
            return
        try:
            async with asyncio.timeout(self._stall_timeout_s):
                await self._wire.writable.wait()
        except TimeoutError:
            raise Stalled from None
