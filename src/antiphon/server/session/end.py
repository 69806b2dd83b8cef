"""How a socket ends whose shell has broken."""

import traceback
from collections.abc import Iterable, Sequence

from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.protocol.actions import AgentAction, Send

NORMAL, GOING_AWAY, INTERNAL_ERROR, RESTART = 1000, 1001, 1011, 1012


class Stalled(Exception):
    """The peer took not one byte for the stall timeout."""


def faults_of(results: Sequence[object]) -> list[Exception]:
    """What of a reader's and a writer's results is a fault."""
    return [r for r in results if isinstance(r, Exception) and not isinstance(r, WebSocketDisconnect)]


def trace_of(fault: Exception) -> str:
    return "".join(traceback.format_exception(fault))


async def last_words(socket: WebSocket, words: Iterable[AgentAction]) -> None:
    """Say them and close. Raises whatever the machine or the wire raises, if that is what broke."""
    for action in words:
        if isinstance(action, Send):
            await socket.send_text(action.frame)
    await socket.close(INTERNAL_ERROR)
