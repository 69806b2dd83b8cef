"""Step engines: many streams share one model whose memory is a fixed-size state per slot.

A slot has an inbox of inputs and markers, an outbox and an epoch. :meth:`Batch.step_once` advances every ready slot
by one input, in sub-batches of the most urgent slots; the others are masked out, so their state does not move.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from antiphon.core.engine import StepModel, Wake
from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Event, Failed, Flushed, Marker
from antiphon.engine.outbox import Outbox
from antiphon.engine.scheduler import Scheduler

_log = logging.getLogger(__name__)

MAX_INBOX = 1024

_FAILED: list[Event] = [Failed("the engine failed on this piece of input; the rest goes on")]


class Slot:
    """One stream's place in a :class:`Batch`. The caller's side is single-threaded; ``Batch`` owns the other side.

    ``emit`` turns one output row into events; it runs in a worker.
    """

    def __init__(self, batch: "Batch", index: int, wake: Wake, emit: Callable[[Any], list[Event]]) -> None:
        self._batch = batch
        self.index = index
        self.wake = wake
        self.emit = emit
        self.inbox: deque[tuple[bool, Any]] = deque()
        self.outbox = Outbox()
        self.asked_s = 0.0
        self.fresh = True
        self.closed = False

    @property
    def ready(self) -> bool:
        return bool(self.inbox) and not self.outbox.full

    def push(self, item: Any) -> None:
        """Queue one model input (one row). Raises ``InvalidInput`` when the inbox is full."""
        with self._batch.lock:
            if len(self.inbox) >= MAX_INBOX:
                raise InvalidInput(f"{MAX_INBOX} inputs wait already; send no faster than they are used")
            self._put((False, item))

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        with self._batch.lock:
            self._put((True, marker))

    def pull(self, limit: int | None = None) -> list[Event]:
        with self._batch.lock:
            was_ready = self.ready
            events = self.outbox.take(limit)
            self._batch.activate(self, was_ready)
            return events

    def _put(self, entry: tuple[bool, Any]) -> None:
        was_ready = self.ready
        self.inbox.append(entry)
        self._batch.activate(self, was_ready)

    def tick(self, now_s: float) -> float | None:
        return None

    def cancel(self) -> None:
        """Forget inputs, outputs and the slot's memory."""
        with self._batch.lock:
            self.inbox.clear()
            self.outbox.next_epoch()
            self.fresh = True

    def close(self) -> None:
        self.cancel()
        self._batch.release(self)

    def save(self) -> bytes:
        """The slot's memory between steps, as the model serialises it."""
        return self._batch.save(self)

    def load(self, snapshot: bytes) -> None:
        """Continue from a snapshot: a voice, a warm prompt, a resumed call, a moved stream are all the same thing."""
        self._batch.load(self, snapshot)


class Batch:
    """``slots`` streams on one :class:`StepModel`. ``inputs`` of a step are rows of ``input_shape`` float32."""

    def __init__(
        self,
        model: StepModel,
        slots: int,
        input_shape: tuple[int, ...],
        scheduler: Scheduler,
        max_sub_batch: int | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self._model = model
        self._scheduler = scheduler
        self._input_shape = input_shape
        self._slots: list[Slot | None] = [None] * slots
        self._max_sub_batch = max_sub_batch or slots
        self._state = model.init_state(slots)
        self._blank = model.save(model.init_state(1), 0)
        self._stepping = threading.Lock()
        self._active = False

    @property
    def taken(self) -> int:
        return sum(slot is not None for slot in self._slots)

    def open(self, wake: Wake, emit: Callable[[Any], list[Event]]) -> Slot:
        """Raises ``AtCapacity`` when no slot is free."""
        with self.lock:
            for index, slot in enumerate(self._slots):
                if slot is None:
                    taken = self._slots[index] = Slot(self, index, wake, emit)
                    return taken
        raise AtCapacity(f"all {len(self._slots)} slots are in use; try again in a moment")

    def release(self, slot: Slot) -> None:
        with self.lock:
            if not slot.closed:
                slot.closed = True
                self._slots[slot.index] = None

    def save(self, slot: Slot) -> bytes:
        with self._stepping, self.lock:
            return self._blank if slot.fresh else self._model.save(self._state, slot.index)

    def load(self, slot: Slot, snapshot: bytes) -> None:
        with self._stepping, self.lock:
            self._state = self._model.load(self._state, slot.index, snapshot)
            slot.fresh = False

    def activate(self, slot: Slot, was_ready: bool) -> None:
        """Called under the lock when a slot may have become ready."""
        if not slot.ready:
            return
        if not was_ready:
            slot.asked_s = self._scheduler.clock.now_s()
        if not self._active:
            self._active = True
            self._scheduler.post(self)

    # -- the workers' side ------------------------------------------------------------------

    def deadline_s(self) -> float:
        return min((slot.asked_s for slot in self._slots if slot is not None and slot.ready), default=0.0)

    def ready_s(self) -> float:
        return float("-inf")

    def run(self) -> bool:
        self.step_once()
        with self.lock:
            self._active = any(slot is not None and slot.ready for slot in self._slots)
            return self._active

    def step_once(self) -> int:
        """Advance the most urgent ready slots by one input each; returns how many moved."""
        with self._stepping:
            with self.lock:
                woken = self._pass_markers()
                chosen = self._choose()
                mask = np.zeros(len(self._slots), bool)
                inputs = np.zeros((len(self._slots), *self._input_shape), np.float32)
                for slot, _, item in chosen:
                    mask[slot.index] = True
                    inputs[slot.index] = item
                    if slot.fresh:
                        self._state = self._model.load(self._state, slot.index, self._blank)
                        slot.fresh = False
            rows, state = self._step(inputs, mask) if chosen else (None, self._state)
            results = [
                (slot, epoch, _FAILED if rows is None else _emit(slot, rows[slot.index])) for slot, epoch, _ in chosen
            ]
            with self.lock:
                self._state = state
                woken += [slot for slot, epoch, events in results if slot.outbox.put(epoch, events)]
                woken += self._pass_markers()
        for slot in woken:
            slot.wake()
        return len(chosen)

    def _step(self, inputs: Any, mask: Any) -> tuple[Any, Any]:
        """Outputs and the new state; None and the old state where the model fails."""
        try:
            return self._model.step(inputs, self._state, mask)
        except Exception:
            _log.exception("a step failed")
            return None, self._state

    def _choose(self) -> list[tuple[Slot, int, Any]]:
        ready = sorted((s for s in self._slots if s is not None and s.ready), key=lambda s: s.asked_s)
        now_s = self._scheduler.clock.now_s()
        chosen = []
        for slot in ready[: self._max_sub_batch]:
            _, item = slot.inbox.popleft()
            slot.asked_s = now_s
            chosen.append((slot, slot.outbox.epoch, item))
        return chosen

    def _pass_markers(self) -> list[Slot]:
        """Markers at the head of an inbox come back at once: all before them has been stepped and distributed."""
        woken = []
        for slot in self._slots:
            while slot is not None and slot.inbox and slot.inbox[0][0]:
                _, marker = slot.inbox.popleft()
                if slot.outbox.put(slot.outbox.epoch, [Flushed(marker)]):
                    woken.append(slot)
        return woken


def _emit(slot: Slot, row: Any) -> list[Event]:
    try:
        return slot.emit(row)
    except Exception:
        _log.exception("a step's output could not be used")
        return _FAILED
