"""CPU time of a process on this machine, for costs per message. Linux only; elsewhere the answer is None."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from antiphon.bench.conditions import network

_PROC = Path("/proc")
_LISTEN = "0A"


@dataclass(frozen=True, slots=True)
class CpuTime:
    """User and system seconds: of all threads, and of the main thread alone (where a server has its event loop)."""

    all_s: float
    main_s: float

    def since(self, earlier: "CpuTime") -> "CpuTime":
        return CpuTime(self.all_s - earlier.all_s, self.main_s - earlier.main_s)


def cpu_time(pid: int) -> CpuTime | None:
    """What ``pid`` has used so far; None if there is no such process to be read."""
    all_s = _used_s(_PROC / str(pid) / "stat")
    main = _PROC / str(pid) / "task" / str(pid)
    main_s = _run_s(main / "schedstat") or _used_s(main / "stat")
    return None if all_s is None or main_s is None else CpuTime(all_s, main_s)


def rss_bytes(pid: int) -> int | None:
    """Resident memory of ``pid``."""
    try:
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def anonymous_bytes(pid: int) -> int | None:
    """Resident memory of ``pid`` that is no file's: what it has allocated, exact to the page."""
    return _number(_PROC / str(pid) / "smaps_rollup", "Anonymous:", 1024)


def open_files_limit(pid: int) -> int | None:
    """How many files ``pid`` may have open; None where that is not known, or without limit."""
    return _number(_PROC / str(pid) / "limits", "Max open files", 1)


def listening_pid(port: int) -> int | None:
    """The process that listens on TCP ``port`` here, as far as this user may see it."""
    inodes = {inode for name in ("tcp", "tcp6") for inode in _listeners(_PROC / "net" / name, port)}
    if not inodes:
        return None
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            links = list((folder / "fd").iterdir())
        except OSError:
            continue
        if any(_target(link) in wanted for link in links):
            return int(folder.name)
    return None


def serving_pid(url: str) -> int | None:
    """The process that serves ``url``; None unless that is on this machine's loopback."""
    parts = urlsplit(url)
    if network(url) != "loopback":
        return None
    return listening_pid(parts.port or (443 if parts.scheme in ("https", "wss") else 80))


def _target(link: Path) -> str:
    """Empty where it is gone meanwhile, as the one that listed the folder is."""
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _listeners(table: Path, port: int) -> list[str]:
    try:
        rows = table.read_text().splitlines()[1:]
    except OSError:
        return []
    fields = [row.split() for row in rows]
    return [row[9] for row in fields if row[3] == _LISTEN and int(row[1].rpartition(":")[2], 16) == port]


def _run_s(path: Path) -> float | None:
    """A thread's time on a core, to the nanosecond; ticks of 10 ms are too coarse for what a message costs. None where
    the kernel does not keep it."""
    try:
        return int(path.read_text().split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def _number(path: Path, name: str, unit: int) -> int | None:
    """The first number in the line that begins with ``name``, times ``unit``."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    found = next((line[len(name) :].split()[0] for line in lines if line.startswith(name)), "")
    return int(found) * unit if found.isdecimal() else None


def _used_s(path: Path) -> float | None:
    try:
        stat = path.read_text()
    except OSError:
        return None
    # The command name may hold spaces and brackets: count fields from behind it.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
