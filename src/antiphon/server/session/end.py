"""How a socket ends whose shell has broken."""

from collections.abc import Sequence

from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.core.errors import EngineFailed
from antiphon.protocol.actions import Send
from antiphon.server.machine import Machine

NORMAL, GOING_AWAY, INTERNAL_ERROR, RESTART = 1000, 1001, 1011, 1012


class Stalled(Exception):
    """The peer took not one byte for the stall timeout."""


def faults_of(results: Sequence[object]) -> list[Exception]:
    """What of a reader's and a writer's results is a fault."""
    return [r for r in results if isinstance(r, Exception) and not isinstance(r, WebSocketDisconnect)]


async def say_sorry(socket: WebSocket, machine: Machine, request_id: str) -> None:
    """Last words, and the close. Raises whatever the machine or the wire raises, if that is what broke."""
    for action in machine.close(EngineFailed(f"internal error; request {request_id}")):
        if isinstance(action, Send):
            await socket.send_text(action.frame.decode())
    await socket.close(INTERNAL_ERROR)
