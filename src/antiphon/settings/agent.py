"""How the agent behaves, and what it can do."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, model_validator

from antiphon.settings.kinds import Listed, Section, UserPath


class ToolOverride(Section):
    """What is said here about one tool of an MCP server counts instead of what the server says."""

    description: str | None = None
    effect: Literal["read", "write"] | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    targets: Listed[str] | None = None
    filler: str | None = None
    filler_after_s: float | None = Field(default=None, ge=0)


class AgentToolSettings(Section):
    """One tool of the agent, or all tools of one MCP server. Exactly one of ``python``, ``url``, ``mcp_command`` and
    ``mcp_url`` says what it is. In ``headers`` and ``env``, ``${NAME}`` stands for an environment variable."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    """What the brain calls it; of an MCP server, what messages call the server."""
    description: str | None = None
    """None: a Python callable's own docstring."""
    effect: Literal["read", "write"] | None = None
    """``read`` changes nothing and may run on a guess. None: write, or what an MCP server says of each tool."""
    parameters: dict[str, Any] | None = None
    """JSON schema of an object. None: from a Python callable's type hints; of a url, its placeholders."""
    timeout_s: float = Field(default=10.0, gt=0, le=600)
    """A read is given up then. A write is not waited for, but goes on."""
    targets: Listed[str] | None = None
    """Of a write: the arguments that name what it writes to; two in one turn with the same are one, corrected."""
    filler: str | None = None
    """Said while it takes long, instead of the agent's own phrase."""
    filler_after_s: float | None = Field(default=None, ge=0)
    python: str | None = None
    """``package.module:function``; the folder that the server was started in is looked at last."""
    url: str | None = None
    """``{name}`` in path or query is an argument, escaped."""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent to ``url`` or ``mcp_url``; never shown."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Of a url that cannot be reached; all with the same key."""
    mcp_command: Listed[str] | None = None
    """Program and arguments of an MCP server on standard input and output."""
    mcp_url: str | None = None
    """Of an MCP server that speaks streamable HTTP."""
    env: dict[str, SecretStr] = Field(default_factory=dict)
    """Given to ``mcp_command``, which gets nothing else of the server's environment but PATH, HOME and the like."""
    allow: Listed[str] | None = None
    """Tools of the MCP server that may be used; None: all."""
    prefix: str = Field(default="", max_length=32, pattern=r"^[A-Za-z0-9_-]*$")
    """Put before the names of the MCP server's tools."""
    tools: dict[str, ToolOverride] = Field(default_factory=dict)
    """By the MCP server's own name of a tool."""
    start_timeout_s: float = Field(default=10.0, gt=0, le=120)
    """How long the MCP server may take to say what it has. Later it is asked again, meanwhile its tools are missing."""
    required: bool = False
    """Without this MCP server the start fails."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [name for name in ("python", "url", "mcp_command", "mcp_url") if getattr(self, name)]
        if len(kinds) != 1:
            given = " and ".join(kinds) or "none of them"
            raise ValueError(f"a tool has one of python, url, mcp_command and mcp_url; {self.name!r} has {given}")
        only_mcp = [name for name in ("allow", "prefix", "tools", "required") if name in self.model_fields_set]
        if only_mcp and not kinds[0].startswith("mcp"):
            raise ValueError(f"{only_mcp[0]} is for MCP servers only")
        if "env" in self.model_fields_set and kinds[0] != "mcp_command":
            raise ValueError("env is for mcp_command only")
        return self


class HandoverSettings(Section):
    """Who is told when a person has to take over."""

    url: str | None = None
    secret: SecretStr | None = None
    """Signs each message (HMAC-SHA256), so that the receiver knows who sent it."""
    timeout_s: float = Field(default=5.0, gt=0, le=60)
    """Of one attempt."""
    attempts: int = Field(default=4, ge=1, le=10)


class PhraseSettings(Section):
    """What the agent says of itself, in its own language."""

    filler: str = "One moment, please."
    """While a tool takes long."""
    apology: str = "I'm sorry, something went wrong on my side. Could you say that again?"
    idle: str = "Are you still there?"
    handover: str = "I'm handing you over to a colleague."


class AgentSettings(Section):
    """How the agent behaves, and what it can do. A time of None means never; clients may change some of it."""

    greeting: str = "Hello! How can I help you?"
    """Empty: the user speaks first."""
    protect_greeting: bool = False
    """The greeting plays out whatever the user says."""
    interruptible: bool = True
    """Whether the user may interrupt replies."""
    language: str = "en"
    keyterms: Listed[str] = Field(default=(), max_length=100)
    """Words that callers are likely to say: names, products."""
    expected_digits: Listed[int] = Field(default=(), max_length=20)
    """Lengths of the numbers that callers dictate: one that has come so far is whole. Empty: what the tools' parameters
    tell (``pattern``, bounds, or "four digits" in a description)."""
    speculate: bool = True
    """Prepare the answer as soon as the turn is probably over."""
    write_grace_s: float = Field(default=0.3, ge=0, le=5)
    """No write tool runs sooner after the end of its turn: a user who goes on at once ("no, Thursday") corrects it."""
    feed: Literal["tokens", "sentences", "reply"] = "tokens"
    """How text is given to the voice."""
    lead_s: float = Field(default=3.0, gt=0, le=30)
    """How far ahead of the listener audio is made."""
    pause_after_s: float | None = Field(default=0.05, ge=0)
    """The agent pauses after so much sound over its speech, until it is judged whether that interrupts."""
    wordless_s: float = Field(default=1.6, gt=0)
    """Speech over the agent's that lasts longer interrupts, even if no word of it is understood."""
    echo_cancelled: bool = True
    """Clients remove the agent's voice from what they send."""
    echo_cancellation: bool = False
    """The server removes it, for clients that cannot (extra ``aec``)."""
    echo_delay_ms: int = Field(default=0, ge=0, le=500)
    """What surely lies between sending audio and its echo coming back, a phone network's delay say."""
    fade_ms: int = Field(default=40, ge=0, le=500)
    turn_timeout_s: float = Field(default=4.0, ge=0.64, le=11.2)
    """The longest pause within a turn."""
    max_turn_s: float | None = Field(default=60.0, gt=0)
    """A longer turn is cut off and answered."""
    idle_s: float | None = Field(default=None, gt=0)
    """After so much silence of both the agent asks whether the user is there."""
    max_idle_prompts: int = Field(default=2, ge=0)
    """After these it hangs up."""
    filler_after_s: float = Field(default=1.5, gt=0)
    filler_every_s: float = Field(default=6.0, gt=0)
    brain_first_s: float = Field(default=8.0, gt=0)
    """The longest wait for the brain's first word."""
    brain_gap_s: float = Field(default=5.0, gt=0)
    """The longest silence of the brain after that."""
    brain_retries: int = Field(default=1, ge=0)
    voice_mute_s: float = Field(default=4.0, gt=0)
    """The longest wait for sound from a voice that owes some. More where a full machine makes voices wait their turn: a
    voice that is replaced begins anew, behind all others."""
    voice_retries: int = Field(default=2, ge=0)
    handover_on_failure: bool = False
    """A person takes over, instead of silence, when the voice cannot be recovered."""
    resume_window_s: float = Field(default=30.0, ge=0, le=3600)
    """How long a session waits for a client whose socket was lost."""
    keep_sessions: Literal["no", "restart", "crash"] | None = None
    """Whether sessions outlive this server, for as long as their clients may take to come back: put away when it
    leaves, or also while they run, in case it dies. None: when it leaves, where the boundaries allow it."""
    sessions: UserPath = Field(default=Path("~/.local/share/antiphon/sessions.db"))
    """Where they are kept meanwhile (SQLite), encrypted with what only their clients have. Servers may share it."""
    max_waiting: int = Field(default=100, ge=1)
    """Sessions that wait at once; beyond it the one that has waited longest ends."""
    phrases: PhraseSettings = PhraseSettings()
    tools: tuple[AgentToolSettings, ...] = ()
    handover: HandoverSettings = HandoverSettings()
