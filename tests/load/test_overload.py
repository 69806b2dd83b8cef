"""Twice as many callers as there are places: half are served as if they were alone, half are told at once."""

import asyncio
import base64
import json
from collections.abc import Iterator

import pytest
import websockets

from tests.clients.running import Server, serving

from .test_endurance import request, rest, settled, speak

PLACES = 8
TEXT = "Every caller who was let in hears the whole of the answer, to the last word, however many wait outside."


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("small"), "--max-streams", str(PLACES)) as running:
        yield running


def test_R5_twice_the_capacity_is_refused_cleanly_and_harms_nobody(small: Server) -> None:
    async def caller(socket: websockets.ClientConnection, opened: asyncio.Barrier) -> bytes | int:
        """Opens a context and keeps it open, so that its place stays taken until all have come."""
        await socket.send(request("whole", TEXT, more=True))
        first = json.loads(await socket.recv())
        await opened.wait()
        if first["type"] == "error":
            assert "in use" in first["message"]
            await socket.send(request("again", TEXT))
            second = json.loads(await socket.recv())  # the socket lives
            assert second["context_id"] == "again"
            return int(first["status_code"])
        await socket.send(request("whole", ""))
        return base64.b64decode(first["data"]) + await rest(socket, "whole")

    async def run() -> None:
        alone = await speak(small, TEXT)
        opened = asyncio.Barrier(2 * PLACES)
        async with asyncio.TaskGroup() as group, Sockets(small, 2 * PLACES) as sockets:
            callers = [group.create_task(caller(socket, opened)) for socket in sockets]
            outcomes = await asyncio.gather(*callers)
        assert outcomes.count(429) == PLACES
        assert [heard for heard in outcomes if heard != 429] == [alone] * PLACES
        await settled(small)
        assert await speak(small, TEXT) == alone

    asyncio.run(run())


class Sockets:
    """``count`` open sockets; all closed at the end."""

    def __init__(self, server: Server, count: int) -> None:
        self._url = f"{server.ws}/tts/websocket"
        self._count = count
        self._sockets: list[websockets.ClientConnection] = []

    async def __aenter__(self) -> list[websockets.ClientConnection]:
        self._sockets = [await websockets.connect(self._url) for _ in range(self._count)]
        return self._sockets

    async def __aexit__(self, *_: object) -> None:
        for socket in self._sockets:
            await socket.close()
