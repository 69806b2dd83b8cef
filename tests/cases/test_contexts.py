"""Contexts, cancel, ordering, sockets: what users of other voice stacks reported (docs/faults.md)."""

from antiphon.core.turns import TurnStarted, TurnUpdated
from antiphon.dialog.conversation_actions import CallTool
from tests.dialog.world import World, asks, tokens


def test_c7_words_said_before_the_socket_was_lost_are_answered_when_it_is_back() -> None:
    world = World(lambda request: tokens("It left on Monday."))
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnUpdated("where is my parcel", 0))
    world.lose_client(2.0, 5.0)
    world.run()
    assert world.users == ["where is my parcel"]
    assert world.heard == world.recorded == "It left on Monday."
    assert world.sounds[0].begin_s >= 5.0


def test_c7_a_turn_that_a_lost_socket_cut_in_two_gets_one_answer() -> None:
    world = World(lambda request: tokens("It left on Monday."))
    world.first_token_s = 0.5
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnUpdated("where is my", 0))
    world.lose_client(2.0, 3.0)
    world.says(3.1, "parcel please", pace_s=0.1)
    world.run()
    assert world.users == ["where is my parcel please"]
    assert world.heard == world.recorded == "It left on Monday."


def test_c7_nothing_is_written_while_nobody_is_there() -> None:
    world = World(lambda request: asks("book") if request.messages[-1].role == "user" else tokens("It is booked."))
    world.at(1.0, TurnStarted(0))
    world.at(1.5, TurnUpdated("book a table", 0))
    world.lose_client(2.0, 5.0)
    world.run()
    ((called_s, _),) = world.actions(CallTool)
    assert called_s >= 5.0
    assert len(world.executed) == 1
    assert world.heard == "It is booked."


def test_c7_a_listeners_word_before_the_loss_is_no_turn() -> None:
    world = World(lambda request: tokens("The first one was sent on Monday and the second one is on its way to you."))
    world.says(1.0, "tell me all")
    world.at(3.0, TurnStarted(0))
    world.at(3.3, TurnUpdated("mhm", 0))
    world.lose_client(3.4, 6.0)
    world.run()
    assert world.users == ["tell me all"]
    assert world.heard == world.recorded == "The first one was sent on Monday and the second one is on its way to you."
