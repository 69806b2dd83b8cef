"""Job engines: a stream turns its input into bounded jobs, run one quantum at a time by the shared workers.

A stream has at most one quantum queued or running, so its jobs run in order and their state needs no lock; streams
run beside each other. The deadline of a quantum is the moment the listener would run dry, or, where nothing is being
played, the moment it was asked for.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

from antiphon.core.clock import Clock
from antiphon.core.engine import Wake
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Audio, Event, Failed
from antiphon.engine.outbox import Outbox, bytes_of
from antiphon.engine.scheduler import Workers

_log = logging.getLogger(__name__)

Steps: TypeAlias = Iterator[list[Event]]
Job: TypeAlias = Callable[[], Steps]
"""Starts one piece of work; each ``next()`` of what it returns is one bounded quantum, run by a worker."""

AT_ONCE_S, AT_ONCE = 0.004, 16
"""Quanta that take so little in all are run in a row, up to so many events: to hand each over alone, and wake whoever
takes it, would cost more than to make it. It is the time of the clock, not of the core: where workers and loop get into
each other's way, quanta take longer, and each hand-over makes it worse."""
CHEAP_S, CHEAP_IN_HAND_S = 0.001, 0.1
"""Only while the listener has so much still to hear, where the job's last quantum made something in less than this: so
will the next, most likely."""
IN_HAND_S = 0.3
"""And so much where the next quantum may take its time: a job's first, or any after one that was dear or only prepared
something."""

_NEVER_HELD = float("-inf")


class JobLine:
    """The line of jobs of one stream.

    ``submit``, ``pull``, ``cancel`` and ``close`` are the caller's side (one thread); ``run`` is the workers' side.
    ``wake`` is called when the empty outbox gets something: the caller then pulls until it is empty.
    """

    def __init__(
        self, scheduler: Workers, wake: Wake, lead_s: float | None = None, outbox: Outbox | None = None
    ) -> None:
        self._scheduler = scheduler
        self._clock: Clock = scheduler.clock
        self._wake = wake
        self._lead_s = lead_s
        self._lock = threading.Lock()
        self._outbox = Outbox() if outbox is None else outbox
        self._jobs: deque[Job] = deque()
        self._steps: Steps | None = None
        self._active = False
        self._closed = False
        self._asked_s = 0.0
        self._dry_s = _NEVER_HELD

    # -- the caller's side ------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        with self._lock:
            if self._closed:
                return
            self._jobs.append(job)
            self._activate()

    def pull(self, limit: int | None = None) -> list[Event]:
        with self._lock:
            events = self._outbox.take(limit)
            self._activate()
            return events

    def cancel(self) -> None:
        with self._lock:
            self._drop()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._drop()

    @property
    def pending(self) -> int:
        """Jobs not begun."""
        return len(self._jobs)

    def _drop(self) -> None:
        self._jobs.clear()
        self._steps = None  # a quantum that is running holds its own, and drops it when it sees the new epoch
        self._outbox.next_epoch()
        self._dry_s = _NEVER_HELD
        if self._active and self._scheduler.withdraw(self):
            self._active = False  # what comes next must not wait for the deadline of what was dropped

    def _activate(self) -> None:
        if self._active or self._closed or self._outbox.full or not (self._jobs or self._steps):
            return
        self._active = True
        self._asked_s = self._clock.now_s()
        self._scheduler.post(self)

    # -- the workers' side ------------------------------------------------------------------

    def deadline_s(self) -> float:
        return max(self._dry_s, self._asked_s)

    def ready_s(self) -> float:
        return _NEVER_HELD if self._lead_s is None else self._dry_s - self._lead_s

    def run(self) -> bool:
        with self._lock:
            epoch, began_s = self._outbox.epoch, self._clock.now_s()
            steps, self._steps = self._steps, None
            job = self._jobs.popleft() if steps is None and self._jobs else None
            in_hand_s = self._dry_s - began_s if self._lead_s is None else 0.0
        events, steps = _advance(steps, job)
        if in_hand_s > CHEAP_IN_HAND_S:
            events, steps = self._go_on(epoch, began_s, in_hand_s, events, steps)
        with self._lock:
            woken = self._distribute(epoch, events)
            if epoch == self._outbox.epoch:
                self._steps = steps
            more = bool(self._steps or self._jobs) and not self._outbox.full and not self._closed
            self._active = more
        if woken:
            self._wake()
        return more

    def _next_job(self, epoch: int) -> Job | None:
        with self._lock:
            return self._jobs.popleft() if self._jobs and epoch == self._outbox.epoch else None

    def _go_on(
        self, epoch: int, began_s: float, in_hand_s: float, made: list[Event], steps: Steps | None
    ) -> tuple[list[Event], Steps | None]:
        """The next quanta in the same run, while there is room and time for them: all events, and what is left."""
        events, size = list(made), bytes_of(made)
        last_s, now_s = began_s, self._clock.now_s()
        while len(events) < AT_ONCE and not self._outbox.full_with(len(events), size) and now_s < began_s + AT_ONCE_S:
            if in_hand_s <= IN_HAND_S and (steps is None or not made or now_s - last_s >= CHEAP_S):
                break
            job = self._next_job(epoch) if steps is None else None
            if steps is None and job is None:
                break
            made, steps = _advance(steps, job)
            events += made
            size += bytes_of(made)
            last_s, now_s = now_s, self._clock.now_s()
        return events, steps

    def _distribute(self, epoch: int, events: list[Event]) -> bool:
        woken = self._outbox.put(epoch, events)
        if epoch == self._outbox.epoch:
            made_s = sum(event.samples / event.sample_rate_hz for event in events if isinstance(event, Audio))
            if made_s:
                now_s = self._clock.now_s()
                self._dry_s = max(self._dry_s, now_s) + made_s
                self._asked_s = now_s  # until then a first chunk keeps the urgency of the moment it was asked for
        return woken


def _advance(steps: Steps | None, job: Job | None) -> tuple[list[Event], Steps | None]:
    """One quantum: its events, and what is left of the job. A job that raises ends with a :class:`Failed`."""
    try:
        if steps is None and job is not None:
            steps = job()
        return ([], None) if steps is None else (next(steps), steps)
    except StopIteration:
        return [], None
    except AntiphonError as error:
        return [Failed.of(error)], None
    except Exception:
        _log.exception("a job failed")
        return [Failed("the engine failed on this piece of input; the rest goes on")], None
