"""What happened in a session, for whoever iterates over it."""

import asyncio
from collections.abc import AsyncIterator

from antiphon.client.events import ClientEvent


class News:
    """A bounded queue: whoever tells waits for whoever takes. Iterate over it for (monotonic seconds, event)."""

    def __init__(self, most: int) -> None:
        self._queue: asyncio.Queue[tuple[float, ClientEvent] | BaseException | None] = asyncio.Queue(most)

    async def tell(self, event: ClientEvent, at_s: float) -> None:
        await self._queue.put((at_s, event))

    async def end(self, why: BaseException | None) -> None:
        """No more comes; ``why`` is raised where it is iterated."""
        await self._queue.put(why)

    def let_go(self) -> None:
        """Whoever still iterates stops, soon."""
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[tuple[float, ClientEvent]]:
        while True:
            item = await self._queue.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
