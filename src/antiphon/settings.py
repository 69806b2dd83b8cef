"""Every setting in one strict, frozen tree: a TOML file, then ``ANTIPHON_*`` variables, then the command line.

Later sources win key by key. Unknown keys are errors, because a misspelt limit that is silently ignored is no limit.
``Settings()`` is the plain defaults; :func:`load` reads the sources. The only module that may look at the environment.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from antiphon.core.errors import InvalidInput

ENV_PREFIX = "ANTIPHON_"
ENV_DELIMITER = "__"
CONFIG_VARIABLE = "ANTIPHON_CONFIG"
"""Names the TOML file when no path is given on the command line."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _user_path(value: Any) -> Any:
    return Path(value).expanduser() if isinstance(value, str | Path) else value


def _named_keys(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: {"key": key} if isinstance(key, str | SecretStr) else key for name, key in value.items()}


UserPath = Annotated[Path, BeforeValidator(_user_path)]
"""A path in which ``~`` is the user's home."""


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Item = TypeVar("Item")
Listed = Annotated[tuple[Item, ...], NoDecode, BeforeValidator(_split)]
"""Several values; in the environment and on the command line separated by commas."""


class SettingsError(InvalidInput):
    """The settings are wrong; the message names the key and what would be right."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class ApiKey(_Section):
    """One caller's secret. ``max_streams`` bounds its streams at once (None: only the server's limit)."""

    key: SecretStr = Field(min_length=1)
    max_streams: int | None = Field(default=None, ge=1)


class TlsSettings(_Section):
    """``cert`` and ``key`` are PEM files (``cert`` may hold both); ``self_signed`` makes a pair in ``dir``."""

    cert: UserPath | None = None
    key: UserPath | None = None
    self_signed: bool = False
    dir: UserPath = Field(default=Path("~/.cache/antiphon/tls"))

    @model_validator(mode="after")
    def _key_needs_certificate(self) -> Self:
        if self.key is not None and self.cert is None:
            raise ValueError("a key without a certificate; set tls.cert too")
        return self


class ServerSettings(_Section):
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    """0 takes a free port and reports it."""
    port_file: UserPath | None = None
    """Where the real port is written once the server is ready; removed when it stops."""
    insecure: bool = False
    """Allow a host other than loopback without API keys."""
    tls: TlsSettings = TlsSettings()
    api_keys: dict[str, ApiKey] = Field(default_factory=dict)
    """Name -> key. In the environment: ``ANTIPHON_SERVER__API_KEYS__ALICE=secret``."""
    api_keys_file: UserPath | None = None
    """A TOML file of the same shape: ``alice = "secret"`` or ``[alice] key = ..., max_streams = ...``."""
    token_secret: SecretStr | None = None
    """Signs access tokens; None makes one per process, so that a restart ends all tokens."""
    cors_origins: Listed[str] = ()
    """Origins whose pages may call the HTTP routes and open sockets; ``*`` allows any. None by default."""
    max_connections: int = Field(default=1000, ge=1)
    """WebSockets open at once."""
    max_contexts: int = Field(default=64, ge=1)
    """Contexts open at once on one WebSocket."""
    max_streams: int | None = Field(default=None, ge=1)
    """Streams at once, speaking and listening, over all callers; None: 50 for each worker."""
    limits_file: UserPath | None = None
    """What `antiphon bench capacity` wrote for this machine; limits that are set elsewhere come before it."""
    body_limit_bytes: int = Field(default=1 << 20, ge=1024)
    frame_limit_bytes: int = Field(default=1 << 20, ge=1024)
    body_timeout_s: float = Field(default=30.0, gt=0)
    idle_timeout_s: float = Field(default=900.0, ge=300.0)
    """A socket without an open context and without a message for this long is closed."""
    ping_interval_s: float = Field(default=20.0, gt=0, le=25.0)
    """Below the 60 s after which load balancers cut quiet sockets."""
    stall_timeout_s: float = Field(default=60.0, gt=0)
    """A reader that takes not one byte for this long, while audio waits for it, is cut off."""
    keep_alive_s: int = Field(default=75, ge=1)
    drain_timeout_s: float = Field(default=10.0, ge=0)
    """How long speech under way may go on after SIGTERM before it is cut."""

    @field_validator("api_keys", mode="before")
    @classmethod
    def _bare_keys(cls, value: Any) -> Any:
        return _named_keys(value)

    @property
    def is_loopback(self) -> bool:
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


class EngineSettings(_Section):
    workers: int = Field(default=0, ge=0)
    """Threads that run models; 0: one for each core that this process may use."""
    lead_s: float | None = Field(default=None, gt=0)
    """Make no audio further ahead of the listener than this; None: no cap."""

    @property
    def worker_count(self) -> int:
        return self.workers or available_cores()


class ModelSettings(_Section):
    root: UserPath = Field(default=Path("~/.cache/antiphon/models"))
    model_dirs: Listed[UserPath] = ()
    """Folders that already hold model files, looked at before ``root``."""
    wheelhouse: UserPath | None = None
    """A folder of wheels that models may be unpacked from, so that no index is needed."""


class TtsSettings(_Section):
    default_voice: str | None = None
    """None: the first voice of the first engine."""
    max_buffer_delay_s: float = Field(default=3.0, ge=0, le=5.0)
    context_idle_s: float = Field(default=8.0, ge=5.0)
    """A context that has spoken all it got, and gets no more for this long, ends."""
    max_text_chars: int = Field(default=50_000, ge=1)
    """In one HTTP request or one WebSocket message."""
    ssm: UserPath | None = None
    """Folder of an exported state-space voice; None: the one that comes with the package, if there is one."""


class SttSettings(_Section):
    whisper: Listed[str] = ()
    """Whisper models for the languages that the default ear does not know (extra ``whisper``): names of pulled models
    (whisper-base), or folders in faster-whisper's format. The first that knows a language hears it."""
    max_streams: int | None = Field(default=None, ge=1)
    """Streams of listening at once, over all callers; None: 12 for each worker."""
    idle_timeout_s: float = Field(default=240.0, ge=180.0)
    """A listening socket on which nothing comes in for this long is closed."""
    close_limit_s: float = Field(default=30.0, gt=0)
    """How long the rest of the audio may take to be heard after a client's close."""
    file_limit_bytes: int = Field(default=1 << 30, ge=1024)
    """Of one recording that is sent to be transcribed; it waits on disk, not in memory."""
    max_uploads: int = Field(default=16, ge=1)
    """Recordings coming in at once."""


class LlmEndpointSettings(_Section):
    """One of several places to ask a language model."""

    url: str = Field(min_length=1)
    """Base URL of an OpenAI-compatible chat endpoint (https://host/v1)."""
    model: str = Field(min_length=1)
    key: SecretStr | None = None
    first_token_s: float = Field(default=5.0, gt=0)
    mute_s: float = Field(default=5.0, gt=0)


class BrainSettings(_Section):
    """Who answers on sockets that answer: a language model if ``llm_url`` or ``endpoints`` is set, else rules."""

    endpoints: tuple[LlmEndpointSettings, ...] = ()
    """Several, asked in this order: where one fails the next is asked, and it is asked last for a while."""

    llm_url: str | None = None
    """Base URL of an OpenAI-compatible chat endpoint (https://host/v1)."""
    llm_model: str | None = None
    llm_key: SecretStr | None = None
    llm_first_token_s: float = Field(default=5.0, gt=0)
    """The longest wait for the first word or tool call; more for models that think first."""
    llm_mute_s: float = Field(default=5.0, gt=0)
    """The longest silence after that."""
    rules: UserPath | None = None
    """A rule brain's TOML file; None: one that greets, repeats and says what it is."""
    instructions: str = (
        "You are a voice assistant: what you write is spoken. Answer in a few short sentences of plain words, "
        "without lists, markup or emoji."
    )
    """What the model is told unless the client tells it something else."""

    @model_validator(mode="after")
    def _one_brain(self) -> Self:
        if self.llm_url is not None and not self.llm_model:
            raise ValueError("llm_url needs llm_model, the name of the model to ask for")
        if self.llm_url is None and self.llm_model is not None:
            raise ValueError("llm_model needs llm_url, the address of the model's server")
        if self.llm_url is not None and self.rules is not None:
            raise ValueError("set one of llm_url and rules, not both")
        if self.endpoints and (self.llm_url is not None or self.rules is not None):
            other = "rules" if self.llm_url is None else "llm_url (put it among the endpoints)"
            raise ValueError(f"set one of endpoints and {other}, not both")
        return self


Kind = Literal["audio", "transcript", "retrieved", "generated", "log"]
"""Kinds of data: what is said; what was understood of it; what tools returned; what the agent said; times, ids and
decisions, without anybody's words."""


class RecordSettings(_Section):
    """What is kept of conversations, on this machine's disk (docs/records.md). Nothing unless ``dir`` is set."""

    dir: UserPath | None = None
    kinds: Listed[Kind] = ("transcript", "retrieved", "generated", "log")
    """Audio only where it is named."""
    redact: bool = True
    """Card numbers, phone numbers, e-mail addresses and the like are replaced before anything is written."""
    max_file_bytes: int = Field(default=16 << 20, ge=4096)
    """A session's lines go on in a new file beyond this, and at midnight (UTC)."""
    max_audio_s: float = Field(default=3600.0, gt=0, le=10_000.0)
    """Of one session; what comes after is not recorded."""


class Boundary(_Section):
    """Where one kind of data may go, and how long it may be kept.

    ``to``: ``nowhere`` (neither kept nor sent), ``machine`` (also this machine's disk and programs), or names of hosts
    (host.example, host.example:8443), which allow the machine too. None: not stated, so nothing is refused for it.
    The caller itself does not count.
    """

    to: Listed[str] | None = None
    keep_days: float = Field(default=30.0, ge=0)
    """Recordings of this kind are deleted when they are older; 0: none may be made."""

    @field_validator("to")
    @classmethod
    def _one_meaning(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        if not value:
            raise ValueError("name a place: nowhere, machine or a host")
        for place in value:
            if "/" in place or " " in place:
                raise ValueError(f"{place!r} is no host; write host.example or host.example:8443, without a path")
        if "nowhere" in value and len(value) > 1:
            raise ValueError("nowhere allows no other place beside it")
        return tuple(place.lower() for place in value)


class BoundarySettings(_Section):
    """For each kind of data. A configuration that would break one of them does not start."""

    audio: Boundary = Boundary()
    transcript: Boundary = Boundary()
    retrieved: Boundary = Boundary()
    generated: Boundary = Boundary()
    log: Boundary = Boundary()


class TelemetrySettings(_Section):
    """OpenTelemetry spans of each turn (extra ``otel``): times, names and causes, never words. Off by default."""

    otlp_url: str | None = None
    """Where spans go by OTLP over HTTP: http://collector:4318/v1/traces."""
    otlp_headers: dict[str, SecretStr] = Field(default_factory=dict)
    service_name: str = Field(default="antiphon", min_length=1)

    @field_validator("otlp_url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("an address like http://collector:4318/v1/traces")
        return value


class ToolOverride(_Section):
    """What is said here about one tool of an MCP server counts instead of what the server says."""

    description: str | None = None
    effect: Literal["read", "write"] | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    targets: Listed[str] | None = None
    filler: str | None = None
    filler_after_s: float | None = Field(default=None, ge=0)


class AgentToolSettings(_Section):
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


class HandoverSettings(_Section):
    """Who is told when a person has to take over."""

    url: str | None = None
    secret: SecretStr | None = None
    """Signs each message (HMAC-SHA256), so that the receiver knows who sent it."""
    timeout_s: float = Field(default=5.0, gt=0, le=60)
    """Of one attempt."""
    attempts: int = Field(default=4, ge=1, le=10)


class PhraseSettings(_Section):
    """What the agent says of itself, in its own language."""

    filler: str = "One moment, please."
    """While a tool takes long."""
    apology: str = "I'm sorry, something went wrong on my side. Could you say that again?"
    idle: str = "Are you still there?"
    handover: str = "I'm handing you over to a colleague."


class AgentSettings(_Section):
    """How the agent behaves, and what it can do. A time of None means never; clients may change some of it."""

    greeting: str = "Hello! How can I help you?"
    """Empty: the user speaks first."""
    protect_greeting: bool = False
    """The greeting plays out whatever the user says."""
    interruptible: bool = True
    """Whether the user may interrupt replies."""
    language: str = "en"
    speculate: bool = True
    """Prepare the answer as soon as the turn is probably over."""
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
    voice_retries: int = Field(default=2, ge=0)
    handover_on_failure: bool = False
    """A person takes over, instead of silence, when the voice cannot be recovered."""
    resume_window_s: float = Field(default=30.0, ge=0, le=3600)
    """How long a session waits for a client whose socket was lost."""
    max_waiting: int = Field(default=100, ge=1)
    """Sessions that wait at once; beyond it the one that has waited longest ends."""
    phrases: PhraseSettings = PhraseSettings()
    tools: tuple[AgentToolSettings, ...] = ()
    handover: HandoverSettings = HandoverSettings()


class BenchSettings(_Section):
    db: UserPath = Field(default=Path("~/.local/share/antiphon/bench.db"))
    """Where `antiphon bench` keeps its reports (SQLite)."""


class LogSettings(_Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"
    redact: bool = True
    """Personal data is taken out of lines that may quote a caller."""


class Settings(BaseSettings):
    """The whole tree. Built directly it is the defaults plus the given values, and reads nothing from outside."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_DELIMITER,
    )

    server: ServerSettings = ServerSettings()
    engine: EngineSettings = EngineSettings()
    models: ModelSettings = ModelSettings()
    tts: TtsSettings = TtsSettings()
    stt: SttSettings = SttSettings()
    brain: BrainSettings = BrainSettings()
    agent: AgentSettings = AgentSettings()
    bench: BenchSettings = BenchSettings()
    log: LogSettings = LogSettings()
    record: RecordSettings = RecordSettings()
    boundaries: BoundarySettings = BoundarySettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def stream_limit(self) -> int:
        return self.server.max_streams or 50 * self.engine.worker_count

    @property
    def listener_limit(self) -> int:
        return self.stt.max_streams or 12 * self.engine.worker_count

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def load(config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read ``config`` (or the file that ANTIPHON_CONFIG names), the environment, then ``overrides``.

    ``overrides`` maps dotted names to values (``{"server.port": 9000}``); None values count as not given.
    Raises ``SettingsError`` with one line per fault.
    """
    _refuse_unknown_variables()
    path = config or (Path(named).expanduser() if (named := os.environ.get(CONFIG_VARIABLE)) else None)
    tree = _read_toml(path) if path else {}
    try:
        tree = _merged(tree, EnvSettingsSource(Settings)())
        for name, value in (overrides or {}).items():
            if value is not None:
                tree = _merged(tree, _nested(name.split("."), value))
        server = tree.get("server")
        if keys_file := server.get("api_keys_file") if isinstance(server, Mapping) else None:
            named_keys = {"server": {"api_keys": _named_keys(_read_toml(Path(keys_file).expanduser()))}}
            tree = _merged(named_keys, _with_named_keys(tree))
        if limits_file := server.get("limits_file") if isinstance(server, Mapping) else None:
            tree = _merged(_read_toml(Path(limits_file).expanduser()), tree)
        return Settings(**_with_variables(tree))
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error, path))) from None
    except ValueError as error:  # pydantic-settings: a variable that should be JSON and is not
        raise SettingsError(f"environment: {error}") from None


def available_cores() -> int:
    """Cores that this process may run on (an affinity mask or a container's cpuset counts)."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"cannot read settings from {path}: {error.strerror}") from None
    except ValueError as error:  # also of bytes that are no text
        raise SettingsError(f"{path} is not valid TOML: {error}") from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(under)
    for key, value in over.items():
        below = result.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return result


def _nested(names: list[str], value: Any) -> dict[str, Any]:
    for name in reversed(names):
        value = {name: value}
    return dict(value)


def _with_named_keys(tree: dict[str, Any]) -> dict[str, Any]:
    server = dict(tree["server"])
    if "api_keys" in server:
        server["api_keys"] = _named_keys(server["api_keys"])
    return {**tree, "server": server}


def _with_variables(tree: dict[str, Any]) -> dict[str, Any]:
    """``${NAME}`` in what a tool is sent (headers, env) and in the handover's secret, so that no file need hold it."""
    agent = tree.get("agent")
    if not isinstance(agent, Mapping):
        return tree
    agent = dict(agent)
    tools = agent.get("tools")
    if isinstance(tools, list | tuple):
        agent["tools"] = [
            {key: _filled(value) if key in ("headers", "env") else value for key, value in tool.items()}
            if isinstance(tool, Mapping)
            else tool
            for tool in tools
        ]
    handover = agent.get("handover")
    if isinstance(handover, Mapping):
        agent["handover"] = {key: _filled(value) if key == "secret" else value for key, value in handover.items()}
    return {**tree, "agent": agent}


def _filled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(one) for key, one in value.items()}
    return _VARIABLE.sub(_variable, value) if isinstance(value, str) else value


def _variable(match: re.Match[str]) -> str:
    value = os.environ.get(match[1])
    if value is None:
        raise SettingsError(f"agent: ${{{match[1]}}} stands in the settings, but there is no such variable")
    return value


def _refuse_unknown_variables() -> None:
    """pydantic-settings skips variables that match no field at the top; a misspelt one must not be skipped."""
    for variable in sorted(os.environ):
        if not variable.upper().startswith(ENV_PREFIX) or variable.upper() == CONFIG_VARIABLE:
            continue
        section = variable[len(ENV_PREFIX) :].split(ENV_DELIMITER)[0].lower()
        if section not in Settings.model_fields:
            hint = f"{ENV_PREFIX}<SECTION>{ENV_DELIMITER}<NAME> with section {', '.join(Settings.model_fields)}"
            raise SettingsError(f"{variable}: no such setting; variables are named {hint}")


def _lines(error: ValidationError, path: Path | None) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in fault["loc"])
        if fault["type"] != "extra_forbidden":
            yield f"{name}: {fault['msg']}"
            continue
        near = difflib.get_close_matches(str(fault["loc"][-1]), _siblings(fault["loc"]), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known here: {', '.join(_siblings(fault['loc']))}"
        where = f" (looked at {path} and {ENV_PREFIX}* variables)" if path else ""
        yield f"{name}: no such setting{hint}{where}"


def _siblings(loc: tuple[int | str, ...]) -> list[str]:
    model: Any = Settings
    for part in loc[:-1]:
        known = getattr(model, "model_fields", {})
        # Not a field: a place in a list or a name in a table, whose values have fields of their own.
        inner = (one for one in get_args(model) if hasattr(one, "model_fields"))
        model = known[part].annotation if part in known else next(inner, ApiKey)
    return list(getattr(model, "model_fields", {}))
