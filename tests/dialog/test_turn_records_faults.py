"""The two hundred faulty dialogues again, seen through their records."""

from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from antiphon.dialog.reply import Reply
from antiphon.dialog.turn_record import TurnRecord
from antiphon.dialog.turn_records import TurnRecords
from tests.dialog import test_conversation_faults as faults

from .logged_world import LoggedWorld

SEEDS = faults.SEEDS


@cache
def played(seed: int) -> tuple[LoggedWorld, list[TurnRecord]]:
    def world(*args: Any, **more: Any) -> LoggedWorld:
        return LoggedWorld(*args, **more).listen(TurnRecords())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults, "World", world)
        dialogue = faults.play(seed, reports=seed % 2 == 1)
    assert isinstance(dialogue, LoggedWorld)
    return dialogue, dialogue.finish()


def test_stages_have_no_gaps_and_no_turn_is_told_twice() -> None:
    for seed in SEEDS:
        _, records = played(seed)
        turns = [record.turn for record in records]
        assert len(turns) == len(set(turns)), seed
        for record in records:
            assert all(one.end_s == other.begin_s for one, other in pairwise(record.stages)), seed
            assert all(stage.seconds >= 0 for stage in record.stages), seed


def test_a_fault_that_was_recorded_is_a_cause_and_a_good_turn_has_none() -> None:
    causes = set()
    for seed in SEEDS:
        _, records = played(seed)
        for record in records:
            recorded = [entry.fault for entry in record.ledger if entry.fault]
            assert record.cause == (recorded[0] if recorded else record.cause), seed
            causes.add(record.cause)
    assert causes >= {None, "llm", "tts", "tool", "network"}


def test_the_heard_text_is_that_of_the_history() -> None:
    compared = 0
    for seed in SEEDS:
        world, records = played(seed)
        replies = [entry for entry in world.conversation.history.entries if isinstance(entry, Reply)]
        for record in records:
            said = " ".join(reply.heard for reply in replies if reply.turn == record.turn).split()
            heard = record.heard_text.split()
            if said or record.outcome == "taken_back":
                assert said[: len(heard)] == heard, (seed, record.turn)
                compared += len(heard)
    assert compared > 1_000


def test_every_tool_that_ran_is_recorded_with_its_end() -> None:
    for seed in SEEDS:
        world, records = played(seed)
        for record in records:
            for tool in record.tools:
                run = world.conversation.desk.runs.get(tool.call_id)
                if run is not None and tool.ended_s is not None:
                    assert tool.state in (run.state, "timed_out"), (seed, tool)
