"""Under what conditions a figure was made. A figure without them is a rumour."""

import hashlib
import itertools
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from antiphon.core.clock import Clock, MonotonicClock, unix_time_s

CLOCK_READINGS = 2_000
PACKAGES = (
    "antiphon", "numpy", "onnxruntime", "starlette", "uvicorn", "websockets", "httpx", "msgspec", "hibari-tts",
    "kokoro-onnx", "piper-tts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conditions:
    """The machine, what else it was doing, and the exact versions of all that was measured with.

    ``load_average``: 1, 5 and 15 minutes, when the run began (empty where the system has none). ``cores``: those that
    this process may use. ``models``: name -> sha256 of the file. ``workloads``: name -> sha256 of the texts.
    ``git``: commit of the source tree, with ``+changes`` when files differed from it; empty outside a checkout.
    ``notes``: what the caller wants to be remembered (flags of the server, say). ``clock_resolution_s``: the smallest
    step of the client's clock that was seen, which no figure can be finer than. ``network``: the path between client
    and server. ``region``: where the server is, if the caller said so. ``settings``: of the bench, name -> value.
    """

    at: str
    machine: str
    cpu: str
    cores: int
    memory_bytes: int
    load_average: tuple[float, ...]
    system: str
    python: str
    packages: dict[str, str]
    models: dict[str, str]
    workloads: dict[str, str]
    git: str
    notes: tuple[str, ...] = ()
    clock_resolution_s: float | None = None
    network: str = ""
    region: str = ""
    settings: dict[str, str] = field(default_factory=dict)


def conditions(
    models: Mapping[str, Path] | None = None,
    workloads: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
    *,
    network: str = "",
    region: str = "",
    settings: Mapping[str, object] | None = None,
) -> Conditions:
    """Look around. Call it before the load starts, so that the load average is that of the others."""
    return Conditions(
        at=datetime.fromtimestamp(unix_time_s(), UTC).isoformat(timespec="seconds"),
        machine=platform.machine(),
        cpu=_cpu_model(),
        cores=_cores(),
        memory_bytes=_memory_bytes(),
        load_average=_load_average(),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={name: version for name in PACKAGES if (version := _version(name))},
        models={name: file_hash(path) for name, path in (models or {}).items()},
        workloads=dict(workloads or {}),
        git=_git(Path(__file__).parent),
        notes=notes,
        clock_resolution_s=clock_resolution(MonotonicClock()),
        network=network,
        region=region,
        settings={name: str(value) for name, value in (settings or {}).items()},
    )


def network(url: str) -> str:
    """The path to ``url``, as far as its name tells."""
    host = urlsplit(url).hostname or ""
    return "loopback" if host in ("localhost", "::1") or host.startswith("127.") else f"to {host}"


def clock_resolution(clock: Clock, readings: int = CLOCK_READINGS) -> float | None:
    """The smallest step between readings of ``clock`` in a row, the cost of reading it included; None: it stood."""
    seen = [clock.now_s() for _ in range(readings)]
    steps = [later - earlier for earlier, later in itertools.pairwise(seen) if later > earlier]
    return min(steps, default=None)


def file_hash(path: Path) -> str:
    """sha256 of a file, or ``missing``."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "missing"


def _cpu_model() -> str:
    try:
        rows = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((row.partition(":")[2].strip() for row in rows if row.startswith("model name")), platform.processor())


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0


def _load_average() -> tuple[float, ...]:
    try:
        return tuple(round(value, 2) for value in os.getloadavg())
    except (OSError, AttributeError):
        return ()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _git(folder: Path) -> str:
    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=folder, capture_output=True, text=True, timeout=10
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "."], cwd=folder, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    if commit.returncode:
        return ""
    return commit.stdout.strip() + ("+changes" if changed.stdout.strip() else "")
