"""Where each kind of data goes in a configuration, how long it is kept, and whether that is what the settings allow."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, get_args
from urllib.parse import urlsplit

from antiphon.settings import Boundary, Kind, Settings

KINDS: tuple[Kind, ...] = get_args(Kind)
MACHINE = "machine"
_WORDS: tuple[Kind, ...] = ("transcript", "retrieved", "generated")
_ABOUT: dict[Kind, str] = {
    "audio": "what is said",
    "transcript": "what was understood of it",
    "retrieved": "what tools returned",
    "generated": "what the agent said",
    "log": "times, ids and decisions",
}


@dataclass(frozen=True, slots=True)
class Flow:
    """One way that data goes. ``place``: ``machine`` or ``host:port``; ``by``: the setting that makes it so."""

    kind: Kind
    place: str
    by: str
    what: str
    kept: str
    passing: bool = False
    """Gone when the work on it is done: neither kept nor sent."""


def flows(settings: Settings) -> tuple[Flow, ...]:
    """All ways that data goes, beside the caller itself, which always gets what is its own."""
    return tuple(_flows(settings))


def violations(settings: Settings) -> list[str]:
    """One line for each way that a stated boundary would be broken, saying what to change; none: all is well."""
    out: list[str] = []
    for flow in flows(settings):
        boundary: Boundary = getattr(settings.boundaries, flow.kind)
        if not _allows(boundary, flow):
            allowed = ", ".join(boundary.to or ())
            out.append(
                f"boundaries.{flow.kind}.to is {allowed}, but {flow.by} takes {flow.kind} to {_named(flow)}: "
                f"allow {flow.place} there, or change {flow.by}"
            )
    if settings.agent.keep_sessions in ("restart", "crash") and settings.agent.resume_window_s:
        for kind in _WORDS:
            if getattr(settings.boundaries, kind).keep_days == 0:
                out.append(
                    f"boundaries.{kind}.keep_days is 0, but agent.keep_sessions keeps {kind} on disk while a client is "
                    "away: set agent.keep_sessions to no, or allow some days"
                )
    if settings.record.dir is not None:
        for kind in settings.record.kinds:
            if getattr(settings.boundaries, kind).keep_days == 0:
                out.append(
                    f"boundaries.{kind}.keep_days is 0, but record.kinds keeps {kind}: take it out of record.kinds, "
                    "or allow some days"
                )
    return out


def report(settings: Settings) -> dict[str, Any]:
    """The truth of this configuration, as plain values."""
    found = flows(settings)
    kinds: dict[str, Any] = {}
    for kind in KINDS:
        boundary: Boundary = getattr(settings.boundaries, kind)
        kinds[kind] = {
            "about": _ABOUT[kind],
            "may_go": None if boundary.to is None else list(boundary.to),
            "keep_days": boundary.keep_days,
            "goes": [
                {
                    "place": flow.place,
                    "what": flow.what,
                    "by": flow.by,
                    "kept": flow.kept,
                    "allowed": _allows(boundary, flow),
                }
                for flow in found
                if flow.kind == kind
            ],
        }
    return {
        "kinds": kinds,
        "redaction": {"records": settings.record.redact, "log": settings.log.redact},
        "caller": ["what it said as text, the answers, and calls of its own functions", _saved_speech(settings)],
        "violations": violations(settings),
    }


def table(settings: Settings) -> Iterator[str]:
    """The same for people, line by line."""
    told = report(settings)
    for kind, values in told["kinds"].items():
        may = "not stated" if values["may_go"] is None else ", ".join(values["may_go"])
        yield f"{kind:<11} ({values['about']}) may go: {may}; recordings are kept {_days(values['keep_days'])}"
        for way in values["goes"]:
            mark = "ok" if way["allowed"] else "NO"
            yield f"  {mark}  {way['place']:<32} {way['what']} ({way['by']}); kept: {way['kept']}"
        if not values["goes"]:
            yield "  --  nowhere"
    redaction = told["redaction"]
    on = {True: "on", False: "OFF"}
    yield f"redaction of personal data: recordings {on[redaction['records']]}, log lines {on[redaction['log']]}"
    for what in told["caller"]:
        yield f"the caller itself gets what is its own: {what}"
    for line in told["violations"]:
        yield f"fail  {line}"


def place_of(url: str) -> str:
    """``machine`` for an address of this machine, else ``host:port``."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if _is_loopback(host):
        return MACHINE
    try:
        port = parts.port
    except ValueError:
        port = None
    return f"{host}:{port or {'http': 80}.get(parts.scheme, 443)}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name; one that only begins like an address of this machine may be anywhere
        return host == "localhost"


def _flows(settings: Settings) -> Iterator[Flow]:
    there = "decided there"
    brain = settings.brain
    asked = [(brain.llm_url, "brain.llm_url")] if brain.llm_url is not None else []
    asked += [(endpoint.url, f"brain.endpoints[{i}].url") for i, endpoint in enumerate(brain.endpoints)]
    for url, by in asked:
        for kind in _WORDS:
            yield Flow(kind, place_of(url), by, "the language model", there)
    yield from _tools(settings)
    if settings.agent.handover.url is not None:
        place = place_of(settings.agent.handover.url)
        for kind in KINDS[1:]:  # all but the audio
            yield Flow(kind, place, "agent.handover.url", "whoever takes over", there)
    if settings.telemetry.otlp_url is not None:
        place = place_of(settings.telemetry.otlp_url)
        yield Flow("log", place, "telemetry.otlp_url", "spans without words", there)
    if settings.record.dir is not None:
        for kind in settings.record.kinds:
            days = _days(getattr(settings.boundaries, kind).keep_days)
            yield Flow(kind, MACHINE, "record.dir", f"recordings in {settings.record.dir}", days)
    yield Flow("log", MACHINE, "log", "standard error", "by whoever collects it")
    if _keeps_sessions(settings):
        agent = settings.agent
        what = f"sessions that wait for their clients, in {agent.sessions}: encrypted, not redacted"
        while_open = "as long as they run, then " if agent.keep_sessions == "crash" else ""
        for kind in KINDS[1:]:
            kept = f"{while_open}until their clients come back, {agent.resume_window_s:g} s at most"
            yield Flow(kind, MACHINE, "agent.keep_sessions", what, kept)
    spool = "a file without a name, while a long upload is transcribed"
    yield Flow("audio", MACHINE, "stt.max_uploads", spool, "no longer than that", passing=True)


def may_keep_sessions(settings: Settings) -> bool:
    """Whether the boundaries let a session's words be on disk for the time that its client may take to come back."""
    bounds = [getattr(settings.boundaries, kind) for kind in _WORDS]
    return all("nowhere" not in (bound.to or ()) and bound.keep_days > 0 for bound in bounds)


def _keeps_sessions(settings: Settings) -> bool:
    """Where nobody asks for it, boundaries switch it off; who asks for it against them is told."""
    agent = settings.agent
    if agent.keep_sessions == "no" or agent.resume_window_s == 0:
        return False
    return agent.keep_sessions is not None or may_keep_sessions(settings)


def _saved_speech(settings: Settings) -> str:
    tts = settings.tts
    where = "this process alone" if tts.snapshot_key is None else "servers with the same tts.snapshot_key"
    return (
        "saved streams of speech, which hold text (not spoken yet, or since the last flush): signed, not encrypted or "
        f"redacted, not kept here, good for {tts.snapshot_ttl_s:g} s at {where}"
    )


def _tools(settings: Settings) -> Iterator[Flow]:
    """A tool's arguments are the brain's, made of all that it was told."""
    for tool in settings.agent.tools:
        url = tool.url if tool.url is not None else tool.mcp_url
        by = f"agent.tools {tool.name}"
        place = MACHINE if url is None else place_of(url)
        program = "a program on this machine" if tool.mcp_command else "code in this process"
        what = "a tool's arguments" if url is not None else f"a tool's arguments, to {program}"
        for kind in _WORDS:
            yield Flow(kind, place, by, what, "decided there")


def _allows(boundary: Boundary, flow: Flow) -> bool:
    if boundary.to is None or flow.passing:
        return True
    if "nowhere" in boundary.to:
        return False
    if flow.place == MACHINE:
        return True
    host = flow.place.rpartition(":")[0]
    return flow.place in boundary.to or host in boundary.to


def _named(flow: Flow) -> str:
    return f"this machine ({flow.what})" if flow.place == MACHINE else f"{flow.place} ({flow.what})"


def _days(days: float) -> str:
    return "not at all" if days == 0 else f"{days:g} day{'' if days == 1 else 's'}"
