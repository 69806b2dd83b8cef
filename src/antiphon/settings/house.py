"""The server, its workers and its models."""

import os
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from antiphon.settings.kinds import Listed, Section, UserPath, named_keys


class ApiKey(Section):
    """One caller's secret. ``max_streams`` bounds its streams at once (None: only the server's limit)."""

    key: SecretStr = Field(min_length=1)
    max_streams: int | None = Field(default=None, ge=1)


class TlsSettings(Section):
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


class ServerSettings(Section):
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
        return named_keys(value)

    @property
    def is_loopback(self) -> bool:
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def available_cores() -> int:
    """Cores that this process may run on (an affinity mask or a container's cpuset counts)."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


class EngineSettings(Section):
    workers: int = Field(default=0, ge=0)
    """Threads that run models; 0: one for each core that this process may use."""
    provider: Literal["cpu", "cuda"] = "cpu"
    """Where graphs run that gain by it; `antiphon check` says where each really does."""
    lead_s: float | None = Field(default=None, gt=0)
    """Make no audio further ahead of the listener than this; None: no cap."""

    @property
    def worker_count(self) -> int:
        return self.workers or available_cores()


class ModelSettings(Section):
    root: UserPath = Field(default=Path("~/.cache/antiphon/models"))
    model_dirs: Listed[UserPath] = ()
    """Folders that already hold model files, looked at before ``root``."""
    wheelhouse: UserPath | None = None
    """A folder of wheels that models may be unpacked from, so that no index is needed."""


class TtsSettings(Section):
    default_voice: str | None = None
    """None: the first voice of the first engine, River."""
    max_buffer_delay_s: float = Field(default=3.0, ge=0, le=5.0)
    context_idle_s: float = Field(default=8.0, ge=5.0)
    """A context that has spoken all it got, and gets no more for this long, ends."""
    max_text_chars: int = Field(default=50_000, ge=1)
    """In one HTTP request or one WebSocket message."""
    ssm: UserPath | None = None
    """Folder of an exported state-space voice; None: the one that comes with the package, if there is one."""
    dictionaries: UserPath = Field(default=Path("~/.local/share/antiphon/dictionaries.db"))
    """Where pronunciation dictionaries are kept (SQLite; made with the first one)."""
    preload: Listed[Literal["kokoro"]] = ()
    """Voice engines that are loaded before the server is ready, instead of when they are first asked for."""
    kokoro_streams: int | None = Field(default=None, ge=1)
    """Streams of Kokoro's at once, over all callers; None: 4 for each worker that it may have."""
    snapshot_key: SecretStr | None = Field(default=None, min_length=16)
    """Signs saved streams of speech: the same on all servers that shall resume each other's. None makes one for this
    process alone."""
    snapshot_ttl_s: float = Field(default=300.0, gt=0, le=86_400)
    """How long a saved stream can be resumed."""


class SherpaModel(Section):
    """A streaming transducer: ``model`` is a folder (encoder, decoder and joiner in ONNX, tokens.txt) or a repository
    of the Hugging Face hub that was pulled. ``languages``: codes; the weights do not say which they know."""

    model: str = Field(min_length=1)
    languages: Listed[str] = Field(default=("en",), min_length=1)


class SttSettings(Section):
    whisper: Listed[str] = ()
    """Whisper models for the languages that the default ear does not know (extra ``whisper``): names of pulled models
    (whisper-base), Whisper's sizes (small) or repositories of the Hugging Face hub that were pulled, or folders in
    faster-whisper's format. The first that knows a language hears it."""
    sherpa: tuple[SherpaModel, ...] = ()
    """Streaming transducers (extra ``sherpa``). They hear their languages in place of the default ear."""
    max_streams: int | None = Field(default=None, ge=1)
    """Streams of listening at once, over all callers; None: 12 for each worker."""
    turn_level: float | None = Field(default=None, ge=-2.0, le=4.0)
    """Log odds at which a turn ends after a second of silence: more waits longer, and cuts off less. None: as fitted
    (0.9). Callers choose among thresholds on top of it."""
    idle_timeout_s: float = Field(default=240.0, ge=180.0)
    """A listening socket on which nothing comes in for this long is closed."""
    close_limit_s: float = Field(default=30.0, gt=0)
    """How long the rest of the audio may take to be heard after a client's close."""
    file_limit_bytes: int = Field(default=1 << 30, ge=1024)
    """Of one recording that is sent to be transcribed; it waits on disk, not in memory."""
    max_uploads: int = Field(default=16, ge=1)
    """Recordings coming in at once."""


class BenchSettings(Section):
    db: UserPath = Field(default=Path("~/.local/share/antiphon/bench.db"))
    """Where `antiphon bench` keeps its reports (SQLite)."""


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"
    redact: bool = True
    """Personal data is taken out of lines that may quote a caller."""
