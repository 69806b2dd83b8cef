"""Long work in a lane: never on more workers than it has seats, most urgent first, and nobody else waits for it."""

import threading

import pytest

from antiphon.core.clock import ManualClock, MonotonicClock
from antiphon.engine.lane import Lane
from antiphon.engine.scheduler import Scheduler

from .note import Note


def run_all(scheduler: Scheduler) -> None:
    while scheduler.run_next():
        pass


def test_a_lane_runs_the_most_urgent_of_its_tasks_first() -> None:
    log: list[str] = []
    scheduler = Scheduler(ManualClock(), workers=0)
    lane = Lane(scheduler, 1)
    for name, deadline_s in (("c", 3.0), ("a", 1.0), ("b", 2.0)):
        lane.post(Note(name, log, deadline_s, times=2))
    run_all(scheduler)
    assert log == ["a", "a", "b", "b", "c", "c"]


def test_tasks_of_the_lane_and_of_others_are_ordered_by_deadline() -> None:
    log: list[str] = []
    scheduler = Scheduler(ManualClock(), workers=0)
    lane = Lane(scheduler, 1)
    lane.post(Note("long, far", log, 9.0, times=2))
    scheduler.post(Note("other", log, 5.0))
    lane.post(Note("long, near", log, 1.0))
    run_all(scheduler)
    assert log == ["long, near", "other", "long, far", "long, far"]


def test_a_held_task_waits_for_its_time_and_a_ready_one_does_not_wait_for_it() -> None:
    clock, log = ManualClock(), list[str]()
    scheduler = Scheduler(clock, workers=0)
    lane = Lane(scheduler, 1)
    lane.post(Note("held", log, 0.0, ready_s=5.0))
    assert not scheduler.run_next()
    assert scheduler.next_ready_s() == 5.0
    lane.post(Note("ready", log, 7.0))
    run_all(scheduler)
    assert log == ["ready"]
    clock.advance(5.0)
    run_all(scheduler)
    assert log == ["ready", "held"]


def test_a_withdrawn_task_is_never_run() -> None:
    log: list[str] = []
    scheduler = Scheduler(ManualClock(), workers=0)
    lane = Lane(scheduler, 2)
    kept, gone = Note("kept", log, 1.0), Note("gone", log, 0.0)
    lane.post(kept)
    lane.post(gone)
    assert lane.withdraw(gone)
    assert not lane.withdraw(gone)
    run_all(scheduler)
    assert log == ["kept"]


class Gate:
    """A task that holds its worker until it is let go, and notes how many are inside at once."""

    def __init__(self, shared: "Inside") -> None:
        self._shared = shared

    def deadline_s(self) -> float:
        return 0.0

    def ready_s(self) -> float:
        return float("-inf")

    def run(self) -> bool:
        self._shared.enter()
        return False


class Inside:
    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.entered = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.now = self.most = 0

    def enter(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.entered.release()
        self.let_go.wait(30)
        with self.lock:
            self.now -= 1


def test_a_worker_stays_free_for_others_whatever_waits_in_the_lane() -> None:
    inside, served = Inside(), threading.Event()

    class Urgent(Note):
        def run(self) -> bool:
            served.set()
            return False

    scheduler = Scheduler(MonotonicClock(), workers=2)
    try:
        lane = Lane.beside_others(scheduler)
        assert lane.seats == 1
        for _ in range(4):
            lane.post(Gate(inside))
        assert inside.entered.acquire(timeout=30)
        scheduler.post(Urgent("urgent", [], 1e9))  # its deadline is far, and yet it is served beside the long ones
        assert served.wait(30)
        inside.let_go.set()
        for _ in range(3):
            assert inside.entered.acquire(timeout=30)
        assert inside.most == 1
    finally:
        inside.let_go.set()
        scheduler.close()


def test_a_task_that_leaks_an_error_costs_no_seat() -> None:
    log: list[str] = []

    class Leaking(Note):
        def run(self) -> bool:
            raise RuntimeError("leak")

    scheduler = Scheduler(ManualClock(), workers=0)
    lane = Lane(scheduler, 1)
    lane.post(Leaking("leaks", log, 0.0))
    lane.post(Note("next", log, 1.0))
    run_all(scheduler)
    assert log == ["next"]


def test_one_worker_is_one_seat_and_no_seat_is_refused() -> None:
    assert Lane.beside_others(Scheduler(ManualClock(), workers=0)).seats == 1
    with pytest.raises(ValueError, match="seat"):
        Lane(Scheduler(ManualClock(), workers=0), 0)
