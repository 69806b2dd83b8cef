"""Where an agent socket gets its session from."""

from typing import Protocol

from antiphon.core.errors import InvalidInput
from antiphon.protocol import native_messages as wire
from antiphon.protocol.native_reading import decode_message
from antiphon.server.agent.session import AgentSession


class Door(Protocol):
    """The sessions as one caller sees them."""

    def begin(self, start: wire.Start, now_s: float) -> AgentSession:
        """Raises ``AntiphonError``."""
        ...

    async def find(self, token: str) -> None:
        """Look for the session that the token opens where that takes time, so that :meth:`resume` need not."""
        ...

    def resume(self, token: str) -> AgentSession | None:
        """The session that the token opens, if it is still there and the caller's own. Raises ``AtCapacity`` where
        another server has yet to let go of it."""
        ...

    def token(self, session: AgentSession) -> str:
        """A fresh one."""
        ...


def token_in(frame: str | bytes) -> str | None:
    """What a first frame wants to resume. None: nothing; what is wrong with the frame is not said here."""
    if not isinstance(frame, str) and frame[:1] != b"{":
        return None
    try:
        message = decode_message(frame)
    except InvalidInput:
        return None
    return message.resume if isinstance(message, wire.Start) else None
