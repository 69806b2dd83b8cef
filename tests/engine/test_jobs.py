import random
from collections.abc import Iterator

import pytest

from antiphon.core.errors import EngineFailed
from antiphon.core.event import Audio, Event, Failed, Flushed
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.jobs import AT_ONCE, AT_ONCE_S, CHEAP_IN_HAND_S, CHEAP_S, IN_HAND_S, JobLine, Steps
from antiphon.engine.outbox import Outbox

RATE_HZ = 1000


def audio(name: str, seconds: float = 1.0) -> Audio:
    return Audio(name.encode(), 0, round(seconds * RATE_HZ), RATE_HZ)


def names(events: list[Event]) -> list[str]:
    return [e.data.decode() if isinstance(e, Audio) else str(e) for e in events]


class Line:
    """A job line on a virtual loop, whose quanta cost time on its clock."""

    def __init__(self, loop: VirtualLoop, lead_s: float | None = None, outbox: Outbox | None = None) -> None:
        self.loop = loop
        self.wakes = 0
        self.made_at: list[tuple[str, float]] = []
        self.line = JobLine(loop.scheduler, self.wake, lead_s, outbox)

    def wake(self) -> None:
        self.wakes += 1

    def job(self, *parts: str, cost_s: float = 0.0, seconds: float = 1.0, fail: Exception | None = None) -> None:
        def steps() -> Iterator[list[Event]]:
            for part in parts:
                self.loop.clock.advance(cost_s)
                self.made_at.append((part, self.loop.clock.now_s()))
                yield [audio(part, seconds)]
            if fail is not None:
                raise fail

        self.line.submit(steps)

    def marker(self, marker: str) -> None:
        def steps() -> Steps:
            yield [Flushed(marker)]

        self.line.submit(steps)


def test_jobs_run_in_order_and_markers_follow_what_was_before_them() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a1", "a2")
    line.marker("m1")
    line.job("b1")
    line.marker("m2")
    loop.run()
    assert [e.data if isinstance(e, Audio) else e.marker for e in line.line.pull()] == [b"a1", b"a2", "m1", b"b1", "m2"]


def test_wake_is_called_once_per_empty_box() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b", "c")
    loop.run()
    assert line.wakes == 1
    line.line.pull()
    line.job("d")
    loop.run()
    assert line.wakes == 2


def test_stale_output_after_cancel_is_dropped_even_from_a_running_quantum() -> None:
    loop = VirtualLoop()
    line = Line(loop)

    def steps() -> Iterator[list[Event]]:
        yield [audio("old1")]
        line.line.cancel()  # the caller cancels while this quantum runs
        yield [audio("old2")]
        yield [audio("old3")]

    line.line.submit(steps)
    loop.run()
    assert line.line.pull() == []
    line.job("new")
    loop.run()
    assert names(line.line.pull()) == ["new"]


def test_cancel_drops_queued_jobs_and_undelivered_output() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b")
    line.job("c")
    loop.scheduler.run_next()
    line.line.cancel()
    loop.run()
    assert line.line.pull() == []
    assert [name for name, _ in line.made_at] == ["a"]


def test_close_is_idempotent_and_ends_the_line() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a")
    line.line.close()
    line.line.close()
    line.job("b")
    loop.run()
    assert line.line.pull() == []


def test_back_pressure_a_full_outbox_stops_the_work_until_something_is_pulled() -> None:
    loop = VirtualLoop()
    line = Line(loop, outbox=Outbox(max_events=2))
    line.job("a", "b", "c", "d", "e")
    loop.run()
    assert [name for name, _ in line.made_at] == ["a", "b"]
    assert names(line.line.pull(1)) == ["a"]
    loop.run()
    assert [name for name, _ in line.made_at] == ["a", "b", "c"]
    assert names(line.line.pull()) == ["b", "c"]
    loop.run()
    assert names(line.line.pull()) == ["d", "e"]


def test_back_pressure_by_bytes() -> None:
    loop = VirtualLoop()
    line = Line(loop, outbox=Outbox(max_bytes=10))
    line.job("12345", "67890", "x")
    loop.run()
    assert names(line.line.pull()) == ["12345", "67890"]


def test_a_long_job_holds_another_callers_first_chunk_no_longer_than_one_quantum() -> None:
    loop = VirtualLoop()
    long, other = Line(loop), Line(loop)
    long.job(*(f"l{n}" for n in range(100)), cost_s=0.05)
    asked = [0.42, 1.03, 2.5]
    for at_s in asked:
        loop.at(at_s, lambda: other.job("first", cost_s=0.01))
    loop.run()
    waits = [made - at_s - 0.01 for (_, made), at_s in zip(other.made_at, asked, strict=True)]
    assert max(waits) <= 0.05 + 1e-9
    assert len(long.made_at) == 100


def test_refills_go_to_whoever_runs_dry_first() -> None:
    loop = VirtualLoop()
    ahead, behind = Line(loop), Line(loop)
    ahead.job("a1", seconds=10.0)
    behind.job("b1", seconds=1.0)
    loop.run()
    ahead.job("a2", cost_s=0.01)
    behind.job("b2", cost_s=0.01)
    loop.run()
    assert (behind.made_at[1], ahead.made_at[1]) == (("b2", 0.01), ("a2", 0.02))


def test_without_a_lead_cap_nothing_is_slowed() -> None:
    line = Line(loop := VirtualLoop())
    line.job(*"abcdef", seconds=10.0)
    loop.run()
    assert loop.clock.now_s() == 0.0
    assert len(line.line.pull()) == 6


def test_a_lead_cap_holds_audio_back_to_the_listeners_pace() -> None:
    line = Line(loop := VirtualLoop(), lead_s=0.5)
    line.job(*"abcd", seconds=1.0)
    loop.run()
    assert line.made_at == [("a", 0.0), ("b", 0.5), ("c", 1.5), ("d", 2.5)]


def test_text_after_a_cancel_does_not_wait_for_what_was_cancelled() -> None:
    line = Line(loop := VirtualLoop(), lead_s=0.5)
    line.job("old", "never", seconds=10.0)
    loop.at(1.0, line.line.cancel)
    loop.at(1.0, lambda: line.job("new"))
    loop.run()
    assert line.made_at == [("old", 0.0), ("new", 1.0)]


def test_text_after_a_cancel_is_a_first_chunk_again() -> None:
    loop = VirtualLoop()
    speaker, other = Line(loop), Line(loop)
    speaker.job("old", "never", seconds=10.0)
    other.job("o1", seconds=1.0)
    loop.scheduler.run_next()
    loop.scheduler.run_next()
    other.job("o2", cost_s=0.01)
    speaker.line.cancel()
    speaker.job("new", cost_s=0.01)
    loop.run()
    assert (speaker.made_at[1], other.made_at[1]) == (("new", 0.01), ("o2", 0.02))


def test_a_closed_line_leaves_nothing_with_the_scheduler() -> None:
    line = Line(loop := VirtualLoop(), lead_s=0.5)
    line.job("a", "b", seconds=60.0)
    loop.run(until_s=1.0)
    assert loop.scheduler.backlog() == 1
    line.line.close()
    assert loop.scheduler.backlog() == 0


def test_A16_pacing_by_deadline_leaves_no_hole_under_jittered_work() -> None:
    loop, jitter = VirtualLoop(), random.Random(16)
    lines = [Line(loop, lead_s=0.3) for _ in range(5)]
    for line in lines:
        for part in range(50):
            line.job(str(part), cost_s=jitter.choice((0.005, 0.01, 0.05)), seconds=0.25)
    loop.run()
    gaps = 0
    for line in lines:
        dry_s = line.made_at[0][1]
        for _, made_s in line.made_at:
            gaps += made_s > dry_s
            assert dry_s - made_s <= 0.3, "and made no further ahead than asked"
            dry_s = max(dry_s, made_s) + 0.25
    assert gaps == 0


def test_a_held_stream_does_not_idle_the_core_for_others() -> None:
    loop = VirtualLoop()
    capped, free = Line(loop, lead_s=0.1), Line(loop)
    capped.job("a", "b", seconds=5.0)
    free.job("x", "y", "z")
    loop.run(until_s=1.0)
    assert [name for name, _ in free.made_at] == ["x", "y", "z"]
    assert [name for name, _ in capped.made_at] == ["a"]


def test_a_failed_job_says_so_and_the_next_goes_on() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", fail=EngineFailed("no such phoneme"))
    line.job("b")
    loop.run()
    assert names(line.line.pull())[::2] == ["a", "b"]
    line.job("c", fail=RuntimeError("secret detail"))
    loop.run()
    failed = line.line.pull()[-1]
    assert isinstance(failed, Failed)
    assert "secret" not in failed.message


def test_a_job_that_cannot_begin_says_so_and_the_next_goes_on() -> None:
    def unable() -> Steps:
        raise EngineFailed("no such voice")

    line = Line(loop := VirtualLoop())
    line.line.submit(unable)
    line.job("b")
    loop.run()
    assert names(line.line.pull()) == [str(Failed("no such voice")), "b"]


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_pull_takes_at_most_limit(limit: int) -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b", "c")
    loop.run()
    assert len(line.line.pull(limit)) == limit


def test_quanta_that_cost_next_to_nothing_are_handed_over_together_once_something_plays() -> None:
    line = Line(loop := VirtualLoop())
    parts = [str(number) for number in range(AT_ONCE + 3)]
    line.job(*parts)
    assert loop.scheduler.run_next()
    assert names(line.line.pull()) == parts[:1]  # the listener waits for the first
    assert loop.scheduler.run_next()
    assert names(line.line.pull()) == parts[1 : AT_ONCE + 1]
    assert line.wakes == 2


def test_the_next_jobs_quanta_come_along_and_so_does_the_marker() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b")
    line.job("c")
    line.marker("end")
    assert loop.scheduler.run_next()
    assert names(line.line.pull()) == ["a"]
    assert loop.scheduler.run_next()
    assert names(line.line.pull()) == ["b", "c", str(Flushed("end"))]
    assert not loop.scheduler.run_next()


def test_a_job_of_the_next_epoch_is_not_begun_in_the_run_of_the_last() -> None:
    line = Line(loop := VirtualLoop())

    def cancelled() -> Iterator[list[Event]]:
        line.line.cancel()
        line.job("new")
        yield [audio("old")]

    line.job("a")
    line.line.submit(cancelled)
    assert loop.scheduler.run_next()
    assert names(line.line.pull()) == ["a"]
    loop.run()
    assert names(line.line.pull()) == ["new"]


def test_quanta_are_handed_over_one_by_one_to_a_listener_who_has_little_in_hand() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b", "c", "d", seconds=0.6 * CHEAP_IN_HAND_S)
    for together in (["a"], ["b"], ["c", "d"]):
        assert loop.scheduler.run_next()
        assert names(line.line.pull()) == together


def test_what_may_be_dear_does_not_hold_up_what_was_made_for_a_listener_who_has_little_in_hand() -> None:
    line = Line(loop := VirtualLoop())
    assert 4 * 0.6 * CHEAP_IN_HAND_S < IN_HAND_S
    line.job("a", "b", "c", seconds=0.6 * CHEAP_IN_HAND_S)
    line.job("d", seconds=0.6 * CHEAP_IN_HAND_S)  # its first quantum
    line.job("e", "f", seconds=1.2 * CHEAP_IN_HAND_S, cost_s=CHEAP_S)  # dear
    for together in (["a"], ["b"], ["c"], ["d"], ["e"], ["f"]):
        assert loop.scheduler.run_next()
        assert names(line.line.pull()) == together


def test_a_quantum_that_makes_nothing_does_not_tell_that_the_next_is_cheap() -> None:
    def steps() -> Iterator[list[Event]]:
        yield [audio("a", 1.2 * CHEAP_IN_HAND_S)]
        yield []
        yield [audio("b", 1.0)]

    line = Line(loop := VirtualLoop())
    line.line.submit(steps)
    for together in (["a"], [], ["b"]):
        assert loop.scheduler.run_next()
        assert names(line.line.pull()) == together


def test_a_run_of_quanta_ends_when_its_time_is_up() -> None:
    line = Line(loop := VirtualLoop())
    assert AT_ONCE_S <= 0.005  # other streams wait that long
    line.job("a", "b", "c", "d", "e", "f", cost_s=0.3 * AT_ONCE_S)
    for together in (["a"], ["b", "c", "d", "e"], ["f"]):
        assert loop.scheduler.run_next()
        assert names(line.line.pull()) == together


def test_quanta_that_cost_something_are_handed_over_one_by_one() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b", "c", cost_s=2 * AT_ONCE_S)
    for name in ("a", "b", "c"):
        assert loop.scheduler.run_next()
        assert names(line.line.pull()) == [name]


def test_what_was_made_together_is_dropped_together() -> None:
    line = Line(loop := VirtualLoop())
    line.job("a", "b", "c")
    loop.run()
    line.line.cancel()
    assert line.line.pull() == []
