"""A lane for long work: tasks that take a worker for seconds may have only so many workers at once.

One scheduler still owns the cores and orders all work by deadline; but it cannot take a worker back from a task, so two
long ones on two workers would keep every first chunk of every other voice waiting. In a lane they queue for its seats.
Nothing waits while a seat is free and a worker has nothing more urgent to do.
"""

import logging
import threading

from antiphon.core.clock import Clock
from antiphon.engine.scheduler import Scheduler, Task, TaskQueue

_log = logging.getLogger(__name__)
_NEVER_HELD = float("-inf")


class Lane:
    """``seats``: how many of the scheduler's workers its tasks may have at once. Like a scheduler for whoever posts."""

    def __init__(self, scheduler: Scheduler, seats: int) -> None:
        if seats < 1:
            raise ValueError("a lane needs at least one seat")
        self.clock: Clock = scheduler.clock
        self._scheduler = scheduler
        self._queue = TaskQueue()
        self._lock = threading.Lock()
        self._seats = [_Seat(self) for _ in range(seats)]

    @classmethod
    def beside_others(cls, scheduler: Scheduler) -> "Lane":
        """One that leaves a worker to everybody else, where there are two or more."""
        return cls(scheduler, max(1, scheduler.workers - 1))

    @property
    def seats(self) -> int:
        return len(self._seats)

    def post(self, task: Task) -> None:
        """Queue a task; thread-safe."""
        with self._lock:
            self._queue.put(task, self.clock.now_s())
            self._arrange()

    def withdraw(self, task: Task) -> bool:
        """Take back a task that was posted and has not been begun; False if there is none. Thread-safe."""
        with self._lock:
            return self._queue.remove(task)

    def run_one(self, seat: "_Seat") -> None:
        """A worker came to this seat."""
        with self._lock:
            seat.state = "taken"
            task = self._queue.take(self.clock.now_s())
        again = False
        try:
            again = task is not None and task.run()
        except Exception:
            # A task answers for its own errors; one that leaks must not take a seat down with it.
            _log.exception("a task failed outside its own error handling")
        with self._lock:
            seat.state = "free"
            if again and task is not None:
                self._queue.put(task, self.clock.now_s())
            self._arrange()

    def _arrange(self) -> None:
        """Free seats ask the scheduler for a worker as long as there are tasks for them, with the most urgent one's
        deadline. The lock is held: the scheduler's comes after it, never before."""
        wanted = len(self._queue)
        urgency = self._queue.next_deadline_s(self.clock.now_s())
        for seat in self._seats:
            if seat.state == "taken":
                continue
            if seat.state == "asking":
                if urgency is not None and (seat.deadline, seat.ready) == urgency:
                    wanted -= 1
                    continue
                if not self._scheduler.withdraw(seat):
                    wanted -= 1  # a worker has it already, and is on its way here
                    continue
                seat.state = "free"
            if wanted > 0 and urgency is not None:
                seat.deadline, seat.ready = urgency
                seat.state = "asking"
                self._scheduler.post(seat)
                wanted -= 1


class _Seat:
    """A task of the scheduler's that runs one task of the lane's."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.state = "free"
        self.deadline = 0.0
        self.ready = _NEVER_HELD

    def deadline_s(self) -> float:
        return self.deadline

    def ready_s(self) -> float:
        return self.ready

    def run(self) -> bool:
        self._lane.run_one(self)
        return False  # it has asked again by itself
