"""The disk side of recording: one thread with a bounded queue, whole lines, and files that go when they are old.

Nothing here blocks a call: what the disk cannot take in time is left out, and said once.
"""

import errno
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

Job = Callable[[], object]
Report = Callable[[str], None]
"""Told once of each kind of trouble, on the disk's thread."""

SWEEP_S = 3600.0
_DAY_S = 86_400.0
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SUFFIXES = (".jsonl", ".wav")


class DiskQueue:
    """Runs jobs in order on a thread of its own. At most ``max_bytes`` of work wait, and ``reserve_bytes`` more of what
    is owed.

    ``idle`` is called on that thread once an hour. A job that raises ``OSError`` is reported, once for each reason
    until :meth:`recovered`; the queue goes on.
    """

    def __init__(
        self, report: Report, max_bytes: int = 16 << 20, idle: Job | None = None, reserve_bytes: int = 16 << 20
    ) -> None:
        self._report = report
        self._idle = idle
        self._max_bytes = max_bytes
        self._reserve_bytes = reserve_bytes
        self._jobs: deque[tuple[Job, int]] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._closing = False
        self._last: Job | None = None
        self._told: set[object] = set()
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    def submit(self, job: Job, cost_bytes: int = 256, *, owed: bool = False) -> bool:
        """Queue a job; false, and told once, where the disk has fallen too far behind. Never blocks.

        ``owed``: what was taken before cannot be left without it. There is room for it where there is none for others.
        """
        with self._changed:
            if self._closing:
                return False
            room = self._max_bytes + (self._reserve_bytes if owed else 0)
            if self._waiting_bytes + cost_bytes > room:
                full = "behind" not in self._told
                self._told.add("behind")
            else:
                self._jobs.append((job, cost_bytes))
                self._waiting_bytes += cost_bytes
                self._changed.notify()
                return True
        if full:
            self._report("recording: the disk is too slow; parts of the record are left out")
        return False

    def recovered(self) -> None:
        """All is well again: the next trouble is news."""
        self._told.clear()

    def close(self, timeout_s: float = 5.0, last: Job | None = None) -> bool:
        """Finish what waits, then ``last``, and stop. False: the disk hangs, and what waits is lost."""
        with self._changed:
            self._last = last
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        if self._idle is not None:
            self._run(self._idle)
        while True:
            with self._changed:
                due = self._jobs or self._closing or self._changed.wait(SWEEP_S)
                if not self._jobs:
                    if self._closing:
                        break
                    job, cost = (None, 0) if due else (self._idle, 0)
                else:
                    job, cost = self._jobs.popleft()
            if job is not None:
                self._run(job)
            with self._changed:
                self._waiting_bytes -= cost
        if self._last is not None:
            self._run(self._last)

    def _run(self, job: Job) -> None:
        try:
            job()
        except OSError as error:
            if error.errno not in self._told:
                self._told.add(error.errno)
                self._report(f"recording: {_why(error)}; the calls go on")
        except Exception as error:  # a fault of ours must not end the thread
            if type(error) not in self._told:
                self._told.add(type(error))
                self._report(f"recording failed: {error!r}; the calls go on")


def day_of(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d")


def safe_name(name: str) -> str:
    """A name that is a file's name on any system, and no path."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80] or "_"


def make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


class LineFile:
    """Lines of one session and kind: ``root/kind/day/name.jsonl``, then ``name.2.jsonl`` and so on.

    A line is written whole or not at all. Readable by the owner only.
    """

    def __init__(self, folder: Path, name: str, max_bytes: int) -> None:
        self._folder = folder
        self._name = safe_name(name)
        self._max_bytes = max_bytes
        self._part = 1
        self._day = ""

    def write(self, line: str, unix_s: float) -> None:
        """Append ``line`` and its end. Raises ``OSError``."""
        data = line.encode("utf-8", "replace") + b"\n"
        day = day_of(unix_s)
        if day != self._day:
            self._day, self._part = day, 1
        folder = self._folder / day
        make_folder(folder)
        while True:
            part = "" if self._part == 1 else f".{self._part}"
            file = os.open(folder / f"{self._name}{part}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(file).st_size
                if size and size + len(data) > self._max_bytes:
                    self._part += 1
                    continue
                _write_whole(file, data, size)
                return
            finally:
                os.close(file)


def expire(root: Path, keep_days: Mapping[str, float], now_unix_s: float) -> int:
    """Delete recordings that are older than their kind's days; returns how many. Only files that look like ours go."""
    gone = 0
    for kind, days in keep_days.items():
        for folder in sorted(path for path in (root / kind).glob("*") if _DAY.fullmatch(path.name) and path.is_dir()):
            for file in folder.iterdir():
                if file.suffix in _SUFFIXES and file.lstat().st_mtime < now_unix_s - days * _DAY_S:
                    file.unlink(missing_ok=True)
                    gone += 1
            if not any(folder.iterdir()):
                folder.rmdir()
    return gone


def _write_whole(file: int, data: bytes, size: int) -> None:
    try:
        written = os.write(file, data)
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        os.ftruncate(file, size)
        raise


def _why(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
