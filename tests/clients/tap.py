"""A relay between a client and the server that writes down every message; neither end can tell that it is there."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Data

_OF_THE_HANDSHAKE = ("host", "connection", "upgrade", "user-agent", "origin")


@dataclass(frozen=True)
class Passed:
    """One message: which socket it was on, whether the client sent it, and what it said."""

    socket: int
    sent: bool
    message: dict[str, Any]

    @property
    def context(self) -> str | None:
        return self.message.get("context_id")


@dataclass
class Tap:
    """``url`` stands in for the server's; ``log`` is in the order in which messages passed."""

    url: str = ""
    log: list[Passed] = field(default_factory=list)
    sockets: int = 0

    def received(self, context: str) -> list[dict[str, Any]]:
        return [passed.message for passed in self.log if not passed.sent and passed.context == context]

    def contexts(self) -> list[str]:
        """Ids in the order in which the client opened them."""
        return list(dict.fromkeys(passed.context for passed in self.log if passed.sent and passed.context))

    def assert_silent_after_cancel(self, cancelled: str, later: str) -> None:
        """Once the server has read the cancel, it says no more about that context.

        It reads in order, so whatever answers a message sent after the cancel was written after the cancel was read.
        """
        at = next(i for i, p in enumerate(self.log) if p.sent and p.context == cancelled and p.message.get("cancel"))
        answer = next(i for i, p in enumerate(self.log) if not p.sent and p.context == later)
        assert answer > at
        assert self.log[at].socket == self.log[answer].socket, "a new socket: the old one did not live on"
        leaked = [p.message.get("type") for p in self.log[answer:] if not p.sent and p.context == cancelled]
        assert not leaked, f"{len(leaked)} messages of a cancelled context: {leaked[:5]}"
        # No end is reported for what was cancelled, not even in the moments before.
        assert "done" not in [message["type"] for message in self.received(cancelled)]


@contextlib.asynccontextmanager
async def tapped(upstream_ws: str) -> AsyncIterator[Tap]:
    """Relay every WebSocket to ``upstream_ws``, with the client's own path, query and headers."""
    tap = Tap()

    async def relay(client: ServerConnection) -> None:
        assert client.request is not None
        number, tap.sockets = tap.sockets, tap.sockets + 1
        headers = [
            (name, value)
            for name, value in client.request.headers.raw_items()
            if name.lower() not in _OF_THE_HANDSHAKE and not name.lower().startswith("sec-websocket")
        ]
        async with connect(upstream_ws + client.request.path, additional_headers=headers, proxy=None) as server:

            async def pump(source: Any, target: Any, sent: bool) -> None:
                with contextlib.suppress(ConnectionClosed):
                    async for data in source:
                        _write_down(tap, number, sent, data)
                        await target.send(data)
                await target.close()

            await asyncio.gather(pump(client, server, True), pump(server, client, False))

    async with serve(relay, "127.0.0.1", 0, ping_interval=None) as listener:
        tap.url = f"ws://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        yield tap


def _write_down(tap: Tap, socket: int, sent: bool, data: Data) -> None:
    tap.log.append(Passed(socket, sent, json.loads(data)))
