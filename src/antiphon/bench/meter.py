"""Reads a server's memory and CPU time while it is under load, from outside (Linux, ``/proc``)."""

import threading
from dataclasses import dataclass
from statistics import median

from antiphon.bench.process import CpuTime, cpu_time, rss_bytes

PERIOD_S = 0.25


@dataclass(frozen=True, slots=True)
class Metered:
    """``idle_bytes``: resident memory before; ``busy_bytes``: its median over the middle half of the load;
    ``peak_bytes``: the highest that was seen; ``cpu_s``: CPU time of all threads. None: could not be read."""

    idle_bytes: int | None
    busy_bytes: int | None
    peak_bytes: int | None
    cpu_s: float | None


class Meter:
    """Call :meth:`start`, run the load, call :meth:`stop`. ``pid`` None: there is nothing to read."""

    def __init__(self, pid: int | None, period_s: float = PERIOD_S) -> None:
        self._pid = pid
        self._period_s = period_s
        self._over = threading.Event()
        self._seen: list[int] = []
        self._thread: threading.Thread | None = None
        self._idle: int | None = None
        self._cpu: CpuTime | None = None

    def start(self) -> None:
        if self._pid is None:
            return
        self._idle, self._cpu = rss_bytes(self._pid), cpu_time(self._pid)
        self._thread = threading.Thread(target=self._watch, args=(self._pid,), daemon=True)
        self._thread.start()

    def stop(self) -> Metered:
        if self._pid is None or self._thread is None:
            return Metered(None, None, None, None)
        self._over.set()
        self._thread.join()
        now = cpu_time(self._pid)
        used_s = None if now is None or self._cpu is None else now.since(self._cpu).all_s
        middle = self._seen[len(self._seen) // 4 : max(1, 3 * len(self._seen) // 4)] or self._seen
        return Metered(
            self._idle, int(median(middle)) if middle else None, max(self._seen) if self._seen else None, used_s
        )

    def _watch(self, pid: int) -> None:
        while not self._over.wait(self._period_s):
            size = rss_bytes(pid)
            if size is not None:
                self._seen.append(size)
