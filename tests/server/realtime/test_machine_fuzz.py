"""Whatever happens on a Realtime socket: its record changes nothing, does not fail, and its stages have no gaps."""

import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.protocol.openai_realtime import RealtimeLimits

from ...protocol.openai_realtime_shell import Shell
from ...protocol.test_openai_realtime_fuzz import STEPS, Steps, play
from .world import World, checked

GOES_WELL: "list[st.SearchStrategy[tuple[str, Any]]]" = [
    STEPS, STEPS, st.just(("turn", "yes")), st.just(("tick", 1.0)),
]  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(*GOES_WELL), max_size=40), lost=st.booleans())
def test_the_record_changes_nothing_and_does_not_fail(
    caplog: pytest.LogCaptureFixture, steps: Steps, lost: bool
) -> None:
    limits = RealtimeLimits(max_items=8)
    world, plain = World("realtime", limits), Shell("realtime", limits)
    plain.tick()
    caplog.clear()
    with caplog.at_level(logging.ERROR, "antiphon"):
        play(world, steps)
        play(plain, steps)
        assert world.frames == plain.frames
        records = world.leaves(lost)
    assert not caplog.records
    assert len({record.turn for record in records}) == len(records)
    for record in records:
        checked(record)
