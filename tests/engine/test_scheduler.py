import threading

import pytest

from antiphon.core.clock import ManualClock, MonotonicClock
from antiphon.engine.scheduler import Scheduler, TaskQueue

from .note import Note


def test_earliest_deadline_first_and_ties_in_order_of_posting() -> None:
    log: list[str] = []
    scheduler = Scheduler(ManualClock(), workers=0)
    for name, deadline_s in (("c", 3.0), ("a", 1.0), ("b1", 2.0), ("b2", 2.0)):
        scheduler.post(Note(name, log, deadline_s))
    while scheduler.run_next():
        pass
    assert log == ["a", "b1", "b2", "c"]


def test_a_deadline_never_idles_a_core_but_a_ready_time_does() -> None:
    clock, log = ManualClock(), []
    scheduler = Scheduler(clock, workers=0)
    scheduler.post(Note("far deadline", log, deadline_s=1e6))
    scheduler.post(Note("held", log, deadline_s=0.0, ready_s=5.0))
    assert scheduler.run_next()
    assert not scheduler.run_next()
    assert scheduler.next_ready_s() == 5.0
    clock.advance(5.0)
    assert scheduler.run_next()
    assert log == ["far deadline", "held"]


def test_a_long_job_yields_to_an_urgent_one_between_quanta() -> None:
    log: list[str] = []
    scheduler = Scheduler(ManualClock(), workers=0)
    scheduler.post(Note("long", log, deadline_s=10.0, times=3))
    scheduler.run_next()
    scheduler.post(Note("urgent", log, deadline_s=0.0))
    while scheduler.run_next():
        pass
    assert log == ["long", "urgent", "long", "long"]


def test_a_task_that_raises_does_not_take_its_worker_down(caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()

    class Bad(Note):
        def run(self) -> bool:
            raise RuntimeError("boom")

    class Good(Note):
        def run(self) -> bool:
            done.set()
            return False

    scheduler = Scheduler(MonotonicClock(), workers=1)
    try:
        scheduler.post(Bad("bad", [], 0.0))
        scheduler.post(Good("good", [], 1.0))
        assert done.wait(5.0)
    finally:
        scheduler.close()
    assert "boom" in caplog.text


def test_a_worker_that_goes_on_with_its_own_task_wakes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    waiting = threading.Semaphore(0)

    class Long(Note):
        def run(self) -> bool:
            again = super().run()
            if not again:
                done.set()
            return again

    class Watched(threading.Condition):
        notified = 0

        def wait(self, timeout: float | None = None) -> bool:
            if threading.current_thread().name.startswith("antiphon-worker"):  # starting a thread waits as well
                waiting.release()
            return super().wait(timeout)

        def notify(self, n: int = 1) -> None:
            self.notified += 1
            super().notify(n)

    monkeypatch.setattr(threading, "Condition", Watched)
    scheduler = Scheduler(MonotonicClock(), workers=2)
    try:
        changed = scheduler._changed
        assert isinstance(changed, Watched)
        assert all(waiting.acquire(timeout=5.0) for _ in range(2))
        scheduler.post(Long("long", [], 0.0, times=20))
        assert done.wait(5.0)
        assert changed.notified == 1
    finally:
        scheduler.close()


def test_a_task_that_is_held_again_is_run_in_time_by_another_worker() -> None:
    """The worker that ran it is busy with something that came meanwhile."""
    twice = threading.Event()
    clock = MonotonicClock()

    class Blocking(Note):
        def run(self) -> bool:
            twice.wait(60.0)
            return False

    class Held(Note):
        def ready_s(self) -> float:
            if self.times == 1:  # it is being put back, under the lock: nobody is told of what comes here
                scheduler._queue.put(Blocking("blocking", self.log, 0.0), clock.now_s())
                return clock.now_s() + 0.001
            return super().ready_s()

        def run(self) -> bool:
            again = super().run()
            if not again:
                twice.set()
            return again

    log: list[str] = []
    scheduler = Scheduler(clock, workers=2)
    try:
        scheduler.post(Held("held", log, 0.0, times=2))
        assert twice.wait(5.0)
        assert log == ["held", "held"]
    finally:
        twice.set()
        scheduler.close()


def test_threads_end_on_close_and_later_posts_are_ignored() -> None:
    scheduler = Scheduler(MonotonicClock(), workers=2)
    scheduler.close()
    scheduler.close()
    scheduler.post(Note("late", [], 0.0))
    assert scheduler.backlog() == 0
    assert not [t for t in threading.enumerate() if t.name.startswith("antiphon-worker") and t in scheduler._threads]


def test_queue_counts_ready_and_held() -> None:
    queue = TaskQueue()
    queue.put(Note("a", [], 0.0), now_s=0.0)
    queue.put(Note("b", [], 0.0, ready_s=1.0), now_s=0.0)
    assert len(queue) == 2
    assert queue.take(0.0) is not None
    assert queue.take(0.0) is None
    assert queue.take(1.0) is not None


def test_a_withdrawn_task_is_not_run_and_the_others_keep_their_order() -> None:
    log: list[str] = []
    scheduler = Scheduler(ManualClock(), workers=0)
    tasks = {name: Note(name, log, deadline_s) for name, deadline_s in (("d", 4.0), ("b", 2.0), ("c", 3.0), ("a", 1.0))}
    tasks["held"] = Note("held", log, 0.0, ready_s=1.0)
    for task in tasks.values():
        scheduler.post(task)
    assert scheduler.withdraw(tasks["b"])
    assert scheduler.withdraw(tasks["held"])
    assert not scheduler.withdraw(tasks["b"])
    while scheduler.run_next():
        pass
    assert log == ["a", "c", "d"]
    assert scheduler.backlog() == 0
