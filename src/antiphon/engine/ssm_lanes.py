"""Steps of the state-space voice for many streams at once.

Every stream that can move is known here; a lane (one for each worker of the scheduler) takes the most urgent of them,
reads its text as far as its next packet needs, and makes that packet together with those of up to seven others. What a
stream remembers is a row of its own, so who steps beside it changes nothing but rounding.
"""

import logging
import threading

from antiphon.core.errors import AntiphonError, EngineFailed, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Saved, Unsaved
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.ssm_run import RAMP_STEPS, SsmRun
from antiphon.engine.ssm_snapshot import pack
from antiphon.models.ssm import Frames, SsmModel
from antiphon.models.ssm_sound import SAMPLE_RATE_HZ
from antiphon.models.ssm_state import SsmState

_log = logging.getLogger(__name__)

SUB_BATCH = 8
TEXT_UNITS = 6
"""Units read in one quantum (about 1.5 ms each); more are read in the next."""

_FAILED = Failed("the engine failed on this piece of input; the rest goes on")


class SsmLanes:
    """``lock`` guards what callers and workers share: who is here, whose turn it is, the outboxes."""

    def __init__(self, model: SsmModel, scheduler: Scheduler, sub_batch: int = SUB_BATCH) -> None:
        self.lock = threading.Lock()
        self.stepped = threading.Condition(self.lock)
        self.model = model
        self.scheduler = scheduler
        self.sub_batch = sub_batch
        self._runs: dict[SsmRun, None] = {}
        self._lanes = [_Lane(self) for _ in range(max(1, scheduler.workers))]

    def activate(self, run: SsmRun) -> None:
        """Under the lock: ``run`` may have something to do."""
        if run.ended or not run.has_work():
            return
        if run not in self._runs:
            self._runs[run] = None
            run.asked_s = self.scheduler.clock.now_s()
        self._call(run.deadline_s, run.ready_s)

    def drop(self, run: SsmRun) -> None:
        """Under the lock: nothing more of ``run`` is wanted. A step that is under way is thrown away."""
        run.ended = True
        self._runs.pop(run, None)

    def settle(self, run: SsmRun, limit_s: float = 5.0) -> None:
        """Under the lock: wait until no worker holds ``run``, at most a quantum. Raises ``EngineFailed`` if that never
        comes."""
        if not self.stepped.wait_for(lambda: not run.busy, limit_s):
            raise EngineFailed("the stream is being stepped for too long; try again")

    def save(self, run: SsmRun, limit_bytes: int) -> bool:
        """Under the lock: put ``run`` into its outbox as the last event, now or when the worker lets go that holds it;
        or tell there why not. Whether somebody must be woken."""
        run.saving = limit_bytes
        if run.busy or run.ended:
            return False
        try:
            snapshot = pack(run, self.scheduler.clock.now_s())
            if len(snapshot) > limit_bytes:
                raise InvalidInput(f"the snapshot would have {len(snapshot)} bytes, more than {limit_bytes}: too much "
                                   "text waits to be spoken", "snapshot")  # fmt: skip
        except Exception as error:  # a worker has more streams in hand than this one
            if not isinstance(error, AntiphonError):
                _log.exception("a stream could not be saved")
            run.saving = 0
            self.activate(run)
            return run.outbox.put(run.epoch, [Unsaved(str(error) or type(error).__name__)])
        self.drop(run)
        run.on_last()
        return run.outbox.put(run.epoch, [Saved(run.config.voice, snapshot)])

    def _call(self, deadline_s: float, ready_s: float) -> None:
        """See to it that a lane comes in time."""
        for lane in self._lanes:
            if not lane.posted and not lane.running:
                lane.post(deadline_s, ready_s)
                return
        for lane in self._lanes:
            later = lane.posted and (lane.due_s > deadline_s or lane.held_s > ready_s)
            if later and self.scheduler.withdraw(lane):
                lane.post(min(deadline_s, lane.due_s), min(ready_s, lane.held_s))
                return

    # -- the workers' side -----------------------------------------------------------------------

    def work(self, lane: "_Lane") -> None:
        with self.lock:
            lane.posted, lane.running = False, True
            now_s = self.scheduler.clock.now_s()
            first = self._most_urgent(now_s)
            if first is not None:
                first.busy = True
        try:
            if first is not None:
                self._serve(first, now_s)
        finally:
            with self.lock:
                lane.running = False
                self._call_again()

    def _call_again(self) -> None:
        waiting = [run for run in self._runs if not run.busy]
        if waiting:
            self._call(min(run.deadline_s for run in waiting), min(run.ready_s for run in waiting))

    def _most_urgent(self, now_s: float) -> SsmRun | None:
        for run in [run for run in self._runs if not run.busy and not run.has_work()]:
            del self._runs[run]
        able = [run for run in self._runs if not run.busy and run.ready_s <= now_s]
        return min(able, key=lambda run: run.deadline_s, default=None)

    def _serve(self, first: SsmRun, now_s: float) -> None:
        began_s = self.scheduler.clock.now_s()
        steps = first.wanted_steps(now_s)
        said, last = _guarded(first, steps, TEXT_UNITS)
        steps = 0 if last else min(steps, first.track.steps_ready(steps))
        if not steps:
            self._hand_out([first], [said])
            return
        with self.lock:
            others = self._others(steps, now_s)
        runs, texts = [first], [said]
        for run in others:
            # Nobody waits for the text of others while somebody's first packet is being made.
            said, last = ([], False) if steps < RAMP_STEPS[-1] else _guarded(run, steps, 1)
            if last or run.track.steps_ready(steps) < steps:
                self._hand_out([run], [said])
            else:
                runs.append(run)
                texts.append(said)
        try:
            made = self._packets(runs, steps, began_s)
        except Exception:
            _log.exception("a step failed")
            made = [[_FAILED] for _ in runs]
            for run in runs:
                run.track.queue.clear()
        self._hand_out(runs, [[*said, *events] for said, events in zip(texts, made, strict=True)])

    def _others(self, steps: int, now_s: float) -> list[SsmRun]:
        """Who else can make a packet of so many steps now, perhaps after a look at its text."""
        able = [
            run
            for run in self._runs
            if not run.busy
            and run.ready_s <= now_s
            and not run.outbox.full
            and (run.track.steps_ready(steps) >= steps or (steps == RAMP_STEPS[-1] and run.has_work()))
        ]
        able.sort(key=lambda run: run.deadline_s)
        chosen = able[: self.sub_batch - 1]
        for run in chosen:
            run.busy = True
        return chosen

    def _packets(self, runs: list[SsmRun], steps: int, began_s: float) -> list[list[Event]]:
        for run in runs:
            run.set_volume()
        state = SsmState.join([run.track.state for run in runs])
        samples, state = self.model.advance(Frames.join([run.track.frames(steps) for run in runs]), state)
        spent_s = (self.scheduler.clock.now_s() - began_s) / len(runs)
        made = []
        for row, run in enumerate(runs):
            run.track.state = state.take([row])
            made.append(run.packet(samples[row], spent_s))
        return made

    def _hand_out(self, runs: list[SsmRun], made: list[list[Event]]) -> None:
        woken = []
        with self.lock:
            now_s = self.scheduler.clock.now_s()
            for run, events in zip(runs, made, strict=True):
                run.busy = False
                if run.ended:
                    continue
                wake = run.outbox.put(run.epoch, events)
                made_s = sum(e.samples for e in events if isinstance(e, Audio)) / SAMPLE_RATE_HZ
                if made_s:
                    run.dry_s = max(run.dry_s, now_s) + made_s
                    run.asked_s = now_s
                if run.saving:
                    wake = self.save(run, run.saving) or wake
                if not run.has_work():
                    self._runs.pop(run, None)
                if wake:
                    woken.append(run)
            self.stepped.notify_all()
        for run in woken:
            run.wake()


class _Lane:
    """The scheduler's task: see :class:`antiphon.engine.scheduler.Task`. It never posts itself by its return value, so
    that the lanes always know whether it is posted."""

    def __init__(self, lanes: SsmLanes) -> None:
        self._lanes = lanes
        self.posted = self.running = False
        self.due_s = self.held_s = float("-inf")

    def post(self, due_s: float, held_s: float) -> None:
        self.posted, self.due_s, self.held_s = True, due_s, held_s
        self._lanes.scheduler.post(self)

    def deadline_s(self) -> float:
        return self.due_s

    def ready_s(self) -> float:
        return self.held_s

    def run(self) -> bool:
        self._lanes.work(self)
        return False


def _guarded(run: SsmRun, steps: int, units: int) -> tuple[list[Event], bool]:
    """Read text as far as a packet of ``steps`` needs, at most so many ``units``, and pass what is no sound; see
    :meth:`SsmRun.pass_head`."""
    events: list[Event] = []
    for _ in range(units):
        try:
            passed, last = run.pass_head()
            events += passed
            if last or not run.wants_text(steps):
                return events, last
            entry = run.reading.next()
            if entry is not None:
                events += run.act(entry)
        except AntiphonError as error:
            events.append(Failed.of(error))
        except Exception:
            _log.exception("a piece of text failed")
            events.append(_FAILED)
    return events, False
