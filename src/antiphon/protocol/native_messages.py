"""Messages of the native agent socket, both ways. The document is ``docs/native.md``.

Every message is a JSON object with a ``type``. Unknown keys are ignored, so that either side may learn new ones.
Positions of user speech are samples of the declared input; those of a reply count its own samples from 0.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec

from antiphon.audio.pcm import ENCODINGS, bytes_per_sample
from antiphon.core.brain import Effect
from antiphon.core.errors import InvalidInput
from antiphon.core.turns import EndpointSettings

VERSION: Final = 1
RATES_HZ: Final = (8_000, 48_000)

_MAX_TOOLS = 128
MAX_ID_CHARS: Final = 512
MAX_COUNT: Final = 1 << 53
"""Of samples and holes: what every JSON reader counts exactly. None is ever reached."""
_MAX_TIMEOUT_MS = 600_000


class AudioShape(msgspec.Struct, frozen=True):
    """Mono samples without a header."""

    encoding: str = "pcm_s16le"
    sample_rate_hz: int = 24_000

    @property
    def sample_bytes(self) -> int:
        """Raises ``InvalidInput`` for an encoding that does not exist."""
        return bytes_per_sample(self.encoding)

    def check(self, name: str) -> None:
        """Raises ``InvalidInput``."""
        if self.encoding not in ENCODINGS:
            message = f"{name}.encoding: {self.encoding[:100]!r} is none of {', '.join(ENCODINGS)}"
            raise InvalidInput(message, f"{name}.encoding")
        low, high = RATES_HZ
        if not low <= self.sample_rate_hz <= high:
            raise InvalidInput(f"{name}.sample_rate_hz must be from {low} to {high}", f"{name}.sample_rate_hz")


class ClientTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the client runs. ``effect`` as in :class:`~antiphon.core.brain.ToolSpec`."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    effect: Effect = "write"
    timeout_ms: int = 10_000


class TurnSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Defaults and ranges are those of :class:`~antiphon.core.turns.EndpointSettings`."""

    start: float = 0.8
    eager_end: float = 0.4
    end: float = 0.2
    end_timeout_ms: int = 5_600

    def endpoint(self) -> EndpointSettings:
        """Raises ``InvalidInput``."""
        if abs(self.end_timeout_ms) > _MAX_TIMEOUT_MS:  # before it is divided: a number may have any size
            raise InvalidInput("agent.turn.end_timeout_ms: must be from 640 to 11200", "agent.turn.end_timeout_ms")
        return EndpointSettings(self.start, self.eager_end, self.end, self.end_timeout_ms / 1000)


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What of the server's own agent this session changes; null leaves it as it is."""

    instructions: str | None = None
    greeting: str | None = None
    tools: list[ClientTool] = []
    interruptible: bool | None = None
    feed: Literal["tokens", "sentences", "reply"] | None = None
    """In what pieces text goes to the voice."""
    turn: TurnSettings | None = None


class ClientMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class LastHeard(msgspec.Struct, frozen=True):
    """How far a reply had been played when its socket was lost, or since."""

    reply_id: str
    sample: int


class Start(ClientMessage, frozen=True, kw_only=True, tag="start"):
    """The first message. ``resume``: the token of a session whose socket was lost; ``heard``: of the reply that was
    under way then."""

    version: int = VERSION
    input: AudioShape = AudioShape(sample_rate_hz=16_000)
    output: AudioShape = AudioShape()
    voice: str = ""
    language: str = ""
    agent: AgentSettings = AgentSettings()
    resume: str | None = None
    heard: LastHeard | None = None

    def check(self) -> None:
        """Raises ``InvalidInput``."""
        if self.version != VERSION:
            raise InvalidInput(f"version: this server speaks version {VERSION}, not {self.version}", "version")
        self.input.check("input")
        self.output.check("output")
        tools = self.agent.tools
        if len(tools) > _MAX_TOOLS or len({tool.name for tool in tools}) < len(tools):
            raise InvalidInput(f"agent.tools: at most {_MAX_TOOLS}, each with a name of its own", "agent.tools")
        if any(not tool.name or not 0 < tool.timeout_ms <= _MAX_TIMEOUT_MS for tool in tools):
            about = f"agent.tools: a tool needs a name, and a timeout above 0 and up to {_MAX_TIMEOUT_MS} ms"
            raise InvalidInput(about, "agent.tools")
        if self.agent.turn is not None:
            self.agent.turn.endpoint()
        heard = self.heard
        if heard is not None and (not 0 <= heard.sample <= MAX_COUNT or len(heard.reply_id) > MAX_ID_CHARS):
            raise InvalidInput(f"heard.sample: positions are from 0 to {MAX_COUNT}", "heard.sample")


class Say(ClientMessage, frozen=True, kw_only=True, tag="text"):
    """The user writes instead of speaking."""

    text: str


class Interrupt(ClientMessage, frozen=True, kw_only=True, tag="interrupt"):
    """The user wants silence (a button, say)."""


class ToolResult(ClientMessage, frozen=True, kw_only=True, tag="tool.result"):
    call_id: str
    content: str
    ok: bool = True


class Played(ClientMessage, frozen=True, kw_only=True, tag="played"):
    """Heard of a reply: its samples ``[0, sample)``. ``underruns``: holes in its playback so far."""

    reply_id: str
    sample: int
    underruns: int = 0


class Dtmf(ClientMessage, frozen=True, kw_only=True, tag="dtmf"):
    digits: str


class Close(ClientMessage, frozen=True, kw_only=True, tag="close"):
    """Hang up: the session is over and cannot be resumed."""


AnyClientMessage: TypeAlias = Start | Say | Interrupt | ToolResult | Played | Dtmf | Close


class ServerMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class Ready(ServerMessage, frozen=True, kw_only=True, tag="ready"):
    """``resume_token`` is good for ``resume_window_ms`` after the socket is lost."""

    version: int = VERSION
    session_id: str
    resume_token: str
    resume_window_ms: int
    resumed: bool
    input: AudioShape
    output: AudioShape


class UserStarted(ServerMessage, frozen=True, kw_only=True, tag="turn.start"):
    at_sample: int


class UserUpdate(ServerMessage, frozen=True, kw_only=True, tag="turn.update"):
    """The turn's text so far; it only grows."""

    transcript: str


class UserEagerEnd(ServerMessage, frozen=True, kw_only=True, tag="turn.eager_end"):
    transcript: str


class UserResumed(ServerMessage, frozen=True, kw_only=True, tag="turn.resume"):
    pass


class UserEnded(ServerMessage, frozen=True, kw_only=True, tag="turn.end"):
    transcript: str
    at_sample: int


class ReplyStarted(ServerMessage, frozen=True, kw_only=True, tag="reply.start"):
    """Binary audio from here to ``reply.end`` or ``clear`` is this reply's."""

    reply_id: str


class ReplyText(ServerMessage, frozen=True, kw_only=True, tag="reply.text"):
    reply_id: str
    delta: str


class Word(msgspec.Struct, frozen=True):
    text: str
    start_sample: int
    end_sample: int


class ReplyWords(ServerMessage, frozen=True, kw_only=True, tag="reply.words"):
    """No later than the audio they describe."""

    reply_id: str
    words: list[Word]


class ReplyMark(ServerMessage, frozen=True, kw_only=True, tag="reply.mark"):
    """All audio before ``sample`` has been sent: report ``played`` when it has been heard."""

    reply_id: str
    sample: int


class ReplyEnded(ServerMessage, frozen=True, kw_only=True, tag="reply.end"):
    """``samples``: how many it had. What is buffered plays on."""

    reply_id: str
    samples: int
    reason: Literal["completed", "failed"]


class ReplyPaused(ServerMessage, frozen=True, kw_only=True, tag="reply.pause"):
    """Fall silent within ``fade_ms``, but keep what is buffered: it may turn out that nobody interrupted.
    ``reply.continue`` or ``clear`` follows."""

    reply_id: str
    fade_ms: int


class ReplyContinued(ServerMessage, frozen=True, kw_only=True, tag="reply.continue"):
    """Play on where ``reply.pause`` stopped."""

    reply_id: str


class Clear(ServerMessage, frozen=True, kw_only=True, tag="clear"):
    """Stop playing this reply, fading over ``fade_ms``, drop what is buffered, and report ``played``."""

    reply_id: str
    fade_ms: int


class ToolAsked(ServerMessage, frozen=True, kw_only=True, tag="tool.call"):
    """Run it once, answer with ``tool.result``. ``arguments`` is a JSON object as text."""

    call_id: str
    name: str
    arguments: str


class ToolCancelled(ServerMessage, frozen=True, kw_only=True, tag="tool.cancel"):
    """The result is not needed any more; one that comes nevertheless is ignored."""

    call_id: str


class HandedOver(ServerMessage, frozen=True, kw_only=True, tag="handover"):
    reason: str


class ErrorMessage(ServerMessage, frozen=True, kw_only=True, tag="error"):
    """``fatal``: the socket closes next."""

    code: str
    message: str
    param: str | None = None
    fatal: bool = False


class Closed(ServerMessage, frozen=True, kw_only=True, tag="closed"):
    """The last message."""

    reason: str


SERVER_MESSAGES: Final[tuple[type[ServerMessage], ...]] = (
    Ready, UserStarted, UserUpdate, UserEagerEnd, UserResumed, UserEnded,
    ReplyStarted, ReplyText, ReplyWords, ReplyMark, ReplyEnded, ReplyPaused, ReplyContinued, Clear,
    ToolAsked, ToolCancelled, HandedOver, ErrorMessage, Closed,
)  # fmt: skip
"""Everything the server says."""
