"""What is kept of conversations, where it may go, and who is told of it."""

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from antiphon.settings.kinds import Listed, Section, UserPath

Kind = Literal["audio", "transcript", "retrieved", "generated", "log"]
"""Kinds of data: what is said; what was understood of it; what tools returned; what the agent said; times, ids and
decisions, without anybody's words."""


class RecordSettings(Section):
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


class Boundary(Section):
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


class BoundarySettings(Section):
    """For each kind of data. A configuration that would break one of them does not start."""

    audio: Boundary = Boundary()
    transcript: Boundary = Boundary()
    retrieved: Boundary = Boundary()
    generated: Boundary = Boundary()
    log: Boundary = Boundary()


class TelemetrySettings(Section):
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
