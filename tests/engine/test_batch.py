import numpy as np
import pytest

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Event, Failed, Flushed
from antiphon.engine.batch import MAX_INBOX, Batch, Slot
from antiphon.engine.fake import LeakyIntegrator, VirtualLoop


class Row:
    def __init__(self, value: float) -> None:
        self.value = value


def emit(row: np.ndarray) -> list[Event]:
    return [Row(float(row[0]))]  # type: ignore[list-item]


def batch(slots: int = 4, sub: int | None = None) -> tuple[VirtualLoop, Batch, LeakyIntegrator]:
    loop, model = VirtualLoop(), LeakyIntegrator()
    return loop, Batch(model, slots, (4,), loop.scheduler, sub), model


def feed(slot: Slot, values: list[float]) -> None:
    for value in values:
        slot.push(np.full(4, value, np.float32))


def values(slot: Slot) -> list[float]:
    return [event.value for event in slot.pull() if isinstance(event, Row)]


def expected(inputs: list[float]) -> list[float]:
    state, out = np.float32(0.0), []
    for x in inputs:
        state = np.float32(0.9) * state + np.float32(x)
        out.append(float(state))
    return out


def test_chunked_equals_whole() -> None:
    loop, engine, _ = batch()
    inputs = [1.0, -2.0, 0.5, 3.0, 0.0, 1.0]
    slot = engine.open(lambda: None, emit)
    got = []
    for value in inputs:
        feed(slot, [value])
        loop.run()
        got += values(slot)
    assert got == expected(inputs)


def test_alone_equals_among_others() -> None:
    rng = np.random.default_rng(0)
    loop, engine, _ = batch(slots=4, sub=3)
    slots = [engine.open(lambda: None, emit) for _ in range(4)]
    inputs = [[float(x) for x in rng.normal(size=n)] for n in (7, 3, 12, 5)]
    for slot, row in zip(slots, inputs, strict=True):
        feed(slot, row)
    loop.run()
    assert [values(slot) for slot in slots] == [expected(row) for row in inputs]


def test_a_reused_slot_starts_from_nothing() -> None:
    loop, engine, _ = batch(slots=1)
    first = engine.open(lambda: None, emit)
    feed(first, [5.0, 5.0])
    loop.run()
    first.close()
    second = engine.open(lambda: None, emit)
    feed(second, [1.0])
    loop.run()
    assert values(second) == [1.0]


def test_cancel_forgets_input_output_and_memory() -> None:
    loop, engine, _ = batch()
    slot = engine.open(lambda: None, emit)
    feed(slot, [5.0, 5.0])
    engine.step_once()
    slot.cancel()
    loop.run()
    assert slot.pull() == []
    feed(slot, [1.0])
    loop.run()
    assert values(slot) == [1.0]


def test_at_capacity_and_a_closed_place_is_free_at_once() -> None:
    _, engine, _ = batch(slots=2)
    slots = [engine.open(lambda: None, emit) for _ in range(2)]
    with pytest.raises(AtCapacity):
        engine.open(lambda: None, emit)
    slots[0].close()
    slots[0].close()
    assert engine.taken == 1
    engine.open(lambda: None, emit)
    with pytest.raises(AtCapacity):
        engine.open(lambda: None, emit)


def test_markers_come_back_after_what_was_pushed_before() -> None:
    loop, engine, _ = batch()
    slot = engine.open(lambda: None, emit)
    slot.flush("empty")
    feed(slot, [1.0, 2.0])
    slot.flush("two")
    loop.run()
    kinds = [event.marker if isinstance(event, Flushed) else event.value for event in slot.pull()]  # type: ignore[attr-defined]
    assert kinds == ["empty", *expected([1.0, 2.0]), "two"]


def test_a_masked_slot_does_not_move_while_neighbours_do() -> None:
    loop, engine, _ = batch(slots=2)
    still, busy = (engine.open(lambda: None, emit) for _ in range(2))
    feed(still, [3.0])
    loop.run()
    feed(busy, [1.0] * 50)
    loop.run()
    feed(still, [0.0])
    loop.run()
    assert values(still) == expected([3.0, 0.0])


def test_a_stream_moves_to_another_batch_mid_way() -> None:
    loop, here, _ = batch()
    elsewhere_loop, there, _ = batch(slots=2)
    slot = here.open(lambda: None, emit)
    feed(slot, [1.0, 2.0])
    loop.run()
    head = values(slot)
    moved = there.open(lambda: None, emit)
    moved.load(slot.save())
    feed(moved, [3.0, 4.0])
    elsewhere_loop.run()
    assert head + values(moved) == pytest.approx(expected([1.0, 2.0, 3.0, 4.0]))


def test_ready_slots_share_a_step() -> None:
    loop, engine, model = batch(slots=4)
    for _ in range(4):
        feed(engine.open(lambda: None, emit), [1.0, 1.0])
    loop.run()
    assert model.steps == 2


def test_a_slot_is_as_urgent_as_the_moment_it_became_ready() -> None:
    loop, engine, _ = batch(slots=2, sub=1)
    early, late = (engine.open(lambda: None, emit) for _ in range(2))
    loop.clock.advance(5.0)
    feed(early, [1.0])
    loop.clock.advance(1.0)
    feed(late, [1.0])
    assert engine.deadline_s() == 5.0
    engine.step_once()
    assert (len(values(early)), len(values(late))) == (1, 0)
    assert engine.deadline_s() == 6.0


def test_a_step_that_fails_is_told_to_those_it_was_for_and_the_rest_goes_on() -> None:
    loop, engine, model = batch(slots=2)
    hit, spared = (engine.open(lambda: None, emit) for _ in range(2))
    feed(hit, [1.0])
    feed(spared, [1.0])
    loop.run()
    step = model.step

    def broken(*_: object) -> tuple[np.ndarray, np.ndarray]:
        raise RuntimeError("secret detail")

    model.step = broken  # type: ignore[method-assign]
    feed(hit, [7.0])
    loop.run()
    model.step = step  # type: ignore[method-assign]
    feed(hit, [2.0])
    feed(spared, [2.0])
    loop.run()
    events = hit.pull()
    failed = next(event for event in events if isinstance(event, Failed))
    assert "secret" not in failed.message
    assert [event.value for event in events if isinstance(event, Row)] == expected([1.0, 2.0])
    assert values(spared) == expected([1.0, 2.0])


def test_the_inbox_is_bounded() -> None:
    _, engine, _ = batch()
    slot = engine.open(lambda: None, emit)
    feed(slot, [0.0] * MAX_INBOX)
    with pytest.raises(InvalidInput):
        feed(slot, [0.0])
