"""``antiphon check``: what this machine is, what it has, and what would be slow or fail."""

import importlib.metadata
import json
import os
import platform
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NoReturn

import onnxruntime
import typer

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.check_engines import speech
from antiphon.cli.finding import Finding
from antiphon.cli.house import open_store
from antiphon.server.records import report, table, violations
from antiphon.settings import Settings, available_cores, load

CPU_FEATURES = (
    ("avx2", "fp32 graphs run about twice as slow without it"),
    ("avx512f", "fp32 graphs run about a third slower without it"),
    ("avx512_vnni", "int8 graphs run up to twice as slow without it (avx_vnni serves as well)"),
)


@app.command()
def check(
    config: ConfigOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 also where something is merely slow.")] = False,
    boundaries: Annotated[
        bool,
        typer.Option("--boundaries", help="Say instead where each kind of data goes, and how long it is kept."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --boundaries: as JSON.")] = False,
) -> None:
    """Say what this machine is and has, what it costs, and whatever would be slow or fail."""
    settings = load(config)
    if as_json and not boundaries:
        raise typer.BadParameter("--json goes with --boundaries")
    if boundaries:
        _tell_boundaries(settings, as_json)
    worst = {"ok": 0, "note": 0, "slow": 1 if strict else 0, "fail": 1}
    status = 0
    for finding in findings(settings):
        typer.echo(f"{finding.verdict:>4}  {finding.subject:<12} {finding.message}")
        status = max(status, worst[finding.verdict])
    raise typer.Exit(status)


def _tell_boundaries(settings: Settings, as_json: bool) -> NoReturn:
    if as_json:
        typer.echo(json.dumps(report(settings), indent=2))
    else:
        for line in table(settings):
            typer.echo(line)
    raise typer.Exit(1 if violations(settings) else 0)


def findings(settings: Settings) -> Iterator[Finding]:
    yield Finding("ok", "antiphon", f"{importlib.metadata.version('antiphon')}, Python {platform.python_version()}")
    yield from _machine(settings)
    yield from _models(settings)
    yield from speech(settings)
    yield from _network(settings)
    yield from _boundaries(settings)
    yield from _extras()


def _machine(settings: Settings) -> Iterator[Finding]:
    cores, workers = available_cores(), settings.engine.worker_count
    yield Finding("ok", "cores", f"{cores} usable, {workers} workers")
    if workers > cores:
        yield Finding("slow", "workers", f"{workers} workers share {cores} cores; set engine.workers to {cores} or 0")
    flags = _cpu_flags()
    if flags is None:
        yield Finding("note", "cpu", f"{platform.machine()}: features cannot be read on this platform")
    else:
        yield Finding("ok", "cpu", _cpu_name())
        for feature, cost in CPU_FEATURES:
            if feature in flags or (feature == "avx512_vnni" and "avx_vnni" in flags):
                continue
            yield Finding("slow", "cpu", f"no {feature}: {cost}")
    providers = ", ".join(onnxruntime.get_available_providers())
    about = f"{settings.engine.provider} asked for (ONNX Runtime {onnxruntime.__version__} offers {providers})"
    yield Finding("ok", "provider", about)
    load_1, _, _ = os.getloadavg()
    if load_1 > cores:
        yield Finding("slow", "load", f"load average {load_1:.1f} on {cores} cores: other work takes the cores")


def _models(settings: Settings) -> Iterator[Finding]:
    store = open_store(settings)
    yield Finding("ok", "models in", str(store.root))
    for status in store.status():
        manifest = status.manifest
        summary = f"{manifest.name} ({manifest.kind}, {manifest.licence}, {manifest.size / 1e6:.1f} MB)"
        if status.state == "ready":
            yield Finding("ok", "model", summary)
        elif manifest.embedded:
            yield Finding("fail", "model", f"{summary} is missing; run `antiphon models pull --embedded`")
        else:
            yield Finding("note", "model", f"{summary} not installed; `antiphon models pull {manifest.name}` adds it")
    try:
        free = shutil.disk_usage(_existing(store.root)).free
    except OSError as error:
        yield Finding("fail", "disk", f"{store.root}: {error.strerror}")
    else:
        if free < 500e6:
            yield Finding("slow", "disk", f"{free / 1e6:.0f} MB free where models go; pulling more may fail")


def _network(settings: Settings) -> Iterator[Finding]:
    server = settings.server
    if not server.is_loopback and not server.api_keys and not server.insecure:
        yield Finding("fail", "keys", f"host {server.host} without API keys: the server will refuse to start")
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((server.host, server.port))
        except OSError as error:
            yield Finding("fail", "port", f"{server.host}:{server.port} cannot be used: {error.strerror}")
        else:
            yield Finding("ok", "port", f"{server.host}:{server.port} is free")


def _boundaries(settings: Settings) -> Iterator[Finding]:
    broken = violations(settings)
    for line in broken:
        yield Finding("fail", "boundaries", line)
    if not broken:
        kept = settings.record.dir
        where = f"recordings in {kept}" if kept is not None else "nothing is recorded"
        yield Finding("ok", "boundaries", f"kept; {where} (--boundaries tells where data goes)")


def _extras() -> Iterator[Finding]:
    for name, package, adds in (
        ("whisper", "faster-whisper", "Whisper, for other languages than English"),
        ("sherpa", "sherpa-onnx", "streaming transducers"),
        ("aec", "livekit", "echo cancellation"),
        ("gpu", "onnxruntime-gpu", "CUDA for the state-space voice (docs/operations.md says how)"),
        ("otel", "opentelemetry-exporter-otlp-proto-http", "spans for a collector"),
    ):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield Finding("note", name, f"not available; `pip install 'antiphon[{name}]'` adds {adds}")
        else:
            yield Finding("ok", name, f"available ({package})")
    try:
        importlib.metadata.version("av")
    except importlib.metadata.PackageNotFoundError:
        yield Finding(
            "note",
            "aac",
            "not available; `pip install 'antiphon[aac]'` adds it (its codecs are GPL) and the reading of m4a and webm",
        )
    else:
        yield Finding("ok", "aac", "available (PyAV)")


def _cpu_flags() -> set[str] | None:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return None
    line = next((line for line in text.splitlines() if line.startswith("flags")), None)
    return set(line.split(":", 1)[1].split()) if line else None


def _cpu_name() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    line = next((line for line in text.splitlines() if line.startswith("model name")), ":unknown")
    return line.split(":", 1)[1].strip()


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path
