"""One scheduler owns the cores.

A single pool of workers serves every model; a worker takes the most urgent ready task of *any* model: earliest
deadline first, where a first chunk's deadline is the moment it was asked for and a refill's is the moment the
listener would run dry. Work-conserving: a deadline orders work, it never idles a core; only ``ready_s`` (the lead
cap) holds a task back.
"""

import heapq
import logging
import threading
from itertools import count
from typing import Protocol

from antiphon.core.clock import Clock

_log = logging.getLogger(__name__)


class Task(Protocol):
    """A bounded quantum of work. At most one instance of a task is queued or running at a time."""

    def deadline_s(self) -> float:
        """When its result is needed (monotonic seconds). Read once, when the task is posted."""
        ...

    def ready_s(self) -> float:
        """Not to be run before this (monotonic seconds); ``-inf`` for at once."""
        ...

    def run(self) -> bool:
        """Do one quantum. True: post again. Handles its own errors."""
        ...


class TaskQueue:
    """The order of work, without threads: two heaps, ready tasks by deadline and held tasks by ready time.

    ``put`` O(log n); ``take`` amortised O(log n). Ties go to the task that was posted first.
    """

    def __init__(self) -> None:
        self._ready: list[tuple[float, int, Task]] = []
        self._held: list[tuple[float, int, float, Task]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._ready) + len(self._held)

    def put(self, task: Task, now_s: float) -> None:
        ready_s, deadline_s = task.ready_s(), task.deadline_s()
        if ready_s > now_s:
            heapq.heappush(self._held, (ready_s, next(self._order), deadline_s, task))
        else:
            heapq.heappush(self._ready, (deadline_s, next(self._order), task))

    def take(self, now_s: float) -> Task | None:
        while self._held and self._held[0][0] <= now_s:
            self._release()
        return heapq.heappop(self._ready)[2] if self._ready else None

    def remove(self, task: Task) -> bool:
        """Take a task out; False if it is not here. O(n), for the rare cancel."""
        before = len(self)
        self._ready = [entry for entry in self._ready if entry[-1] is not task]
        self._held = [entry for entry in self._held if entry[-1] is not task]
        heapq.heapify(self._ready)
        heapq.heapify(self._held)
        return len(self) < before

    def next_ready_s(self) -> float | None:
        """When the earliest held task becomes ready; None if nothing is held."""
        return self._held[0][0] if self._held else None

    def next_deadline_s(self, now_s: float) -> tuple[float, float] | None:
        """(deadline, ready time) of the task that is to be run next; None if there is none."""
        while self._held and self._held[0][0] <= now_s:
            self._release()
        if self._ready:
            return self._ready[0][0], float("-inf")
        return (self._held[0][2], self._held[0][0]) if self._held else None

    def _release(self) -> None:
        _, order, deadline_s, task = heapq.heappop(self._held)
        heapq.heappush(self._ready, (deadline_s, order, task))


class Workers(Protocol):
    """Who runs tasks: the scheduler, or a lane of it."""

    @property
    def clock(self) -> Clock: ...

    def post(self, task: Task) -> None: ...

    def withdraw(self, task: Task) -> bool: ...


class Scheduler:
    """The worker pool around a :class:`TaskQueue`.

    ``workers`` threads (0: none, and the caller drives :meth:`run_next`, as virtual-time tests do).
    """

    def __init__(self, clock: Clock, workers: int) -> None:
        if workers < 0:
            raise ValueError("workers must not be negative")
        self.clock = clock
        self.workers = workers
        self._queue = TaskQueue()
        self._changed = threading.Condition()
        self._idle = 0
        """Workers that wait."""
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"antiphon-worker-{n}", daemon=True) for n in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def post(self, task: Task) -> None:
        """Queue a task; thread-safe. Ignored after :meth:`close`."""
        with self._changed:
            if self._closed:
                return
            self._queue.put(task, self.clock.now_s())
            if self._idle:
                self._changed.notify()

    def withdraw(self, task: Task) -> bool:
        """Take back a task that was posted and has not been begun; False if there is none. Thread-safe."""
        with self._changed:
            return self._queue.remove(task)

    def backlog(self) -> int:
        """Tasks waiting (not those running)."""
        with self._changed:
            return len(self._queue)

    def run_next(self) -> bool:
        """Run one ready task in the calling thread; False if none is ready. For pools without threads."""
        with self._changed:
            task = self._queue.take(self.clock.now_s())
        if task is None:
            return False
        if self._run(task):
            self.post(task)
        return True

    def next_ready_s(self) -> float | None:
        with self._changed:
            return self._queue.next_ready_s()

    def close(self, timeout_s: float = 2.0) -> None:
        """Stop after the quanta that are running; queued tasks are dropped. Idempotent."""
        with self._changed:
            self._closed = True
            self._queue = TaskQueue()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout_s)

    def _work(self) -> None:
        again: Task | None = None
        while (task := self._await_task(again)) is not None:
            again = task if self._run(task) else None

    def _await_task(self, again: Task | None) -> Task | None:
        """The next task for this worker; ``again``: the one that it has just run, to be posted again."""
        with self._changed:
            if again is not None and not self._closed:
                self._queue.put(again, self.clock.now_s())
            while not self._closed:
                now_s = self.clock.now_s()
                task = self._queue.take(now_s)
                if task is not None:
                    # For each task that was posted a worker was woken. One that goes on with its own wakes nobody,
                    # unless it has left something behind: an idle worker may be waiting for a later moment.
                    if again is not None and self._idle and len(self._queue):
                        self._changed.notify()
                    return task
                due_s = self._queue.next_ready_s()
                self._idle += 1
                self._changed.wait(None if due_s is None else max(0.0, due_s - now_s))
                self._idle -= 1
            return None

    def _run(self, task: Task) -> bool:
        """True: it is to be posted again."""
        try:
            return task.run()
        except Exception:
            # A task answers for its own errors; one that leaks must not take a core down with it.
            _log.exception("a task failed outside its own error handling")
            return False
