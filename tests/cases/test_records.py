"""Records of turns: what the fault runs showed to be wrong."""

import pytest

from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog.conversation_events import ConversationEvent, DtmfPressed, Written
from antiphon.dialog.turn_records import TurnRecords
from tests.dialog.logged_world import LoggedWorld
from tests.dialog.talking import tokens
from tests.dialog.test_conversation import LONG, last


@pytest.mark.parametrize("event", [Written("and the other one"), DtmfPressed("#")])
def test_a_written_or_dialled_turn_interrupts_the_turn_before_and_not_itself(event: ConversationEvent) -> None:
    world = LoggedWorld(lambda request: tokens(LONG if last(request) == "tell me all" else "It left."))
    world.listen(TurnRecords())
    world.says(1.0, "tell me all")
    world.at(6.0, event)
    world.run()
    first, second = world.finish()
    assert (first.turn, first.outcome) == (1, "interrupted")
    assert 0 < len(first.heard_text) < len(LONG)
    assert LONG.startswith(first.heard_text)
    assert (second.turn, second.outcome, second.heard_text) == (2, "answered", "It left.")


def test_a_written_turn_takes_back_an_answer_that_nobody_heard() -> None:
    world = LoggedWorld(lambda request: tokens("It left."))
    world.listen(TurnRecords())
    end_s = world.says(1.0, "tell me all", eager=False)
    world.at(end_s + 0.05, Written("and quickly"))
    world.run()
    first, second = world.finish()
    assert (first.outcome, second.outcome) == ("taken_back", "answered")
    assert world.users == ["tell me all and quickly"]


def test_an_answer_that_went_on_after_a_false_interruption_was_answered() -> None:
    world = LoggedWorld(lambda request: tokens(LONG))
    world.listen(TurnRecords())
    world.says(1.0, "tell me all")
    world.at(5.0, TurnStarted(0))
    world.at(8.0, TurnEnded("", 0, "timeout"))
    world.run()
    ignored, first = world.finish()
    assert (ignored.turn, ignored.outcome) == (2, "ignored")
    assert (first.turn, first.outcome, first.heard_text) == (1, "answered", LONG)
