"""What a conversation tells whoever keeps a record of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import Observed

AGENT_ROUTE: Final = "/agents/websocket"
REALTIME_ROUTE: Final = "/v1/realtime"


@dataclass(frozen=True, slots=True)
class AgentSessionFacts:
    """What is known of a session when it begins. Encodings and rates are those of the first socket.

    ``began_s``: monotonic, as in every ``Moment``; ``began_unix_s``: for people.
    """

    session_id: str
    principal: str
    brain: str
    voice: str
    language: str
    input_encoding: str
    input_rate_hz: int
    output_encoding: str
    output_rate_hz: int
    began_s: float
    began_unix_s: float
    traceparent: str = ""
    """What the handshake said of the trace that this belongs to (W3C Trace Context); "" for none."""
    route: str = AGENT_ROUTE
    """Of the socket that the conversation is held over."""


class AgentLog(Protocol):
    """Told of all that happens in one session, in order, on the event loop's thread: return quickly, raise nothing.

    ``Moment.sample`` is how much of the user's audio has been taken in (16 kHz, from the session's beginning on, over
    all its sockets), so that every entry maps media time to monotonic time.
    """

    def observe(self, moment: Moment, entry: Observed) -> None: ...

    def user_audio(self, moment: Moment, data: bytes, encoding: str, rate_hz: int) -> None:
        """A piece of what the user said, as it came. ``Moment.sample`` is where it begins."""
        ...

    def agent_audio(self, moment: Moment, speech_id: str, start_sample: int, data: bytes) -> None:
        """A piece of a speech, in the session's output format, as it was given to the socket; ``AudioLeft`` follows."""
        ...

    def end(self, moment: Moment, reason: str) -> None:
        """The session is over and its tools have come to their ends. Nothing follows."""
        ...


MakeAgentLog: TypeAlias = Callable[[AgentSessionFacts], AgentLog]
"""``Hub.agent_logs`` has one for each kind of record; each makes a log for every session."""
