"""CPU time of a process on this machine, for costs per message. Linux only; elsewhere the answer is None."""

import os
from pathlib import Path

_PROC = Path("/proc")
_LISTEN = "0A"


def cpu_s(pid: int) -> float | None:
    """User and system seconds that ``pid`` has used, all threads; None if there is no such process to be read."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The command name may hold spaces and brackets: count fields from behind it.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_bytes(pid: int) -> int | None:
    """Resident memory of ``pid``."""
    try:
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


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
            if any(os.readlink(link) in wanted for link in (folder / "fd").iterdir()):
                return int(folder.name)
        except OSError:
            continue
    return None


def _listeners(table: Path, port: int) -> list[str]:
    try:
        rows = table.read_text().splitlines()[1:]
    except OSError:
        return []
    fields = [row.split() for row in rows]
    return [row[9] for row in fields if row[3] == _LISTEN and int(row[1].rpartition(":")[2], 16) == port]
