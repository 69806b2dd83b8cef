"""Which calls run, when, and how they end."""

import pytest

from antiphon.core.brain import ToolCall, ToolSpec
from antiphon.dialog.tool_run import CallTool, CancelTool, ToolSettings
from antiphon.dialog.tools import ToolDesk

SPECS = (
    ToolSpec("look", "Looks", timeout_s=5.0),
    ToolSpec("book", "Books", effect="write", timeout_s=5.0),
)


def desk(**settings: object) -> ToolDesk:
    return ToolDesk("conversation", SPECS, ToolSettings(**settings))


def call(name: str, arguments: str = "{}", call_id: str = "c") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def states(tools: ToolDesk) -> list[str]:
    return [run.state for run in tools.runs.values()]


def test_a_read_runs_on_a_guess():
    tools = desk()
    recorded, actions = tools.ask(call("look"), 1, "r", False, 0.0)
    assert [type(action) for action in actions] == [CallTool]
    assert tools.finish(recorded.call_id, "here")
    assert tools.take_results() == [("c", "here")]


def test_a_write_waits_for_the_turn_and_runs_once():
    tools = desk()
    _, actions = tools.ask(call("book"), 1, "r", False, 0.0)
    assert not actions
    (action,) = tools.commit("r", 1.0)
    assert isinstance(action, CallTool)
    assert action.effect == "write"
    assert not tools.commit("r", 1.1)


def test_a_wrong_guess_never_writes():
    tools = desk()
    tools.ask(call("book"), 1, "r", False, 0.0)
    tools.ask(call("look", call_id="d"), 1, "r", False, 0.0)
    assert tools.discard("r") == [CancelTool("d")]
    assert states(tools) == ["superseded", "cancelled"]
    assert not tools.commit("r", 1.0)


def test_the_same_write_twice_in_one_turn_is_one_write_with_one_result():
    tools = desk()
    _, first = tools.ask(call("book", '{"a": 1, "b": 2}'), 1, "r", True, 0.0)
    again, second = tools.ask(call("book", '{"b":2,"a":1}'), 1, "r2", True, 0.5)
    assert len(first) == 1
    assert second == []
    tools.finish("c", "booked")
    assert tools.take_results() == [("c", "booked"), (again.call_id, "booked")]
    third, nothing = tools.ask(call("book", '{"a":1,"b":2}'), 1, "r3", True, 1.0)
    assert nothing == []
    assert tools.take_results() == [(third.call_id, "booked")]


def test_X1_a_write_of_the_turn_before_whose_outcome_was_not_heard_is_not_done_again():
    tools = desk()
    tools.ask(call("book"), 1, "r1", True, 0.0)
    tools.finish("c", "booked")
    _, actions = tools.ask(call("book"), 2, "r2", True, 5.0)
    assert actions == []
    tools.tell("r1")
    tools.tell("r2")
    _, actions = tools.ask(call("book"), 3, "r3", True, 9.0)
    assert len(actions) == 1


def test_keys_tell_turns_and_arguments_apart_and_nothing_else():
    def key(turn: int, arguments: str, conversation: str = "conversation") -> str:
        tools = ToolDesk(conversation, SPECS)
        _, (action,) = tools.ask(call("book", arguments), turn, "r", True, 0.0)
        assert isinstance(action, CallTool)
        return action.key

    assert key(1, '{"a":1,"b":2}') == key(1, '{ "b": 2, "a": 1 }')
    assert len({key(1, '{"a":1}'), key(2, '{"a":1}'), key(1, '{"a":2}'), key(1, '{"a":1}', "other")}) == 4


def test_another_attempt_at_a_failed_write_has_its_key():
    tools = desk()
    _, (first,) = tools.ask(call("book"), 1, "r", True, 0.0)
    tools.finish("c", "no", ok=False)
    _, (second,) = tools.ask(call("book"), 1, "r", True, 1.0)
    assert first.key == second.key
    assert first.call.call_id != second.call.call_id


def test_a_correction_of_the_same_target_supersedes():
    tools = desk(targets={"book": ("appointment",)})
    tools.ask(call("book", '{"appointment":7,"day":"Friday"}'), 1, "r", False, 0.0)
    tools.ask(call("book", '{"appointment":7,"day":"Thursday"}'), 1, "r", False, 0.1)
    tools.ask(call("book", '{"appointment":8,"day":"Friday"}'), 1, "r", False, 0.2)
    assert states(tools) == ["superseded", "waiting", "waiting"]
    assert len(tools.commit("r", 1.0)) == 2


def test_two_writes_without_declared_targets_are_two_writes():
    tools = desk()
    tools.ask(call("book", '{"item":"tea"}'), 1, "r", False, 0.0)
    tools.ask(call("book", '{"item":"milk"}'), 1, "r", False, 0.1)
    assert len(tools.commit("r", 1.0)) == 2


def test_an_interruption_cancels_reads_and_lets_writes_end():
    tools = desk()
    tools.ask(call("look"), 1, "r", True, 0.0)
    tools.ask(call("book", call_id="d"), 1, "r", True, 0.0)
    assert tools.interrupt("r") == [CancelTool("c")]
    assert tools.writing
    assert tools.finish("d", "booked")
    assert not tools.writing
    assert ("d", "booked") in tools.take_results()


def test_X1_a_result_that_comes_too_late_is_not_lost():
    tools = desk()
    tools.ask(call("book"), 1, "r", True, 0.0)
    assert tools.tick(4.9) == []
    assert tools.deadline_s == 5.0
    assert tools.tick(5.0) == []  # nobody knows whether it was done, so it is not called off
    assert states(tools) == ["timed_out"]
    assert not tools.finish("c", "booked after all")
    assert tools.take_results()[-1] == ("c", "booked after all")
    _, actions = tools.ask(call("book"), 1, "r", True, 6.0)
    assert actions == []


def test_a_read_that_takes_too_long_is_called_off():
    tools = desk()
    tools.ask(call("look"), 1, "r", True, 0.0)
    assert tools.tick(5.0) == [CancelTool("c")]
    assert states(tools) == ["timed_out"]
    assert tools.deadline_s is None


@pytest.mark.parametrize(("name", "arguments"), [("fly", "{}"), ("look", "{"), ("look", "[1]"), ("book", '"x"')])
def test_a_call_that_makes_no_sense_fails_at_once(name, arguments):
    tools = desk()
    _, actions = tools.ask(call(name, arguments), 1, "r", True, 0.0)
    assert actions == []
    assert states(tools) == ["failed"]
    ((_, content),) = tools.take_results()
    assert "failed" in content


def test_ids_that_a_brain_uses_twice_are_made_unique():
    tools = desk()
    ids = [tools.ask(call("look"), 1, "r", True, 0.0)[0].call_id for _ in range(3)]
    assert len(set(ids)) == 3


def test_a_turn_has_only_so_many_calls():
    tools = desk(max_calls_per_turn=3)
    actions = [tools.ask(call("look"), 1, "r", True, 0.0)[1] for _ in range(5)]
    assert [len(each) for each in actions] == [1, 1, 1, 0, 0]


def test_the_end_of_a_conversation_leaves_nothing_open_but_running_writes():
    tools = desk()
    tools.ask(call("look", call_id="a"), 1, "r", True, 0.0)
    tools.ask(call("book", call_id="b"), 1, "r", True, 0.0)
    tools.ask(call("book", '{"x":1}', call_id="w"), 1, "s", False, 0.0)
    assert tools.close() == [CancelTool("a")]
    assert states(tools) == ["cancelled", "running", "cancelled"]


def test_memory_is_bounded():
    tools = desk()
    for i in range(2_000):
        recorded, _ = tools.ask(call("look"), i, "r", True, 0.0)
        tools.finish(recorded.call_id, "x")
        tools.take_results()
    assert len(tools.runs) <= 257


def test_unknown_results_are_ignored():
    assert not desk().finish("nobody", "x")


def test_a_write_waits_a_moment_longer_than_its_turn():
    tools = desk(write_grace_s=0.3)
    tools.ask(call("book"), 1, "r", False, 0.0)
    assert tools.commit("r", 1.0) == []
    assert tools.deadline_s == 1.3
    assert tools.start_due(1.2) == []
    assert [type(action) for action in tools.start_due(1.3)] == [CallTool]
    assert tools.start_due(2.0) == []


def test_the_moment_counts_from_the_end_of_the_turn():
    tools = desk(write_grace_s=0.3)
    _, actions = tools.ask(call("book"), 1, "r", True, 5.2, since_s=5.0)
    assert (actions, tools.deadline_s) == ([], 5.3)
    _, actions = tools.ask(call("book", '{"a": 1}', "d"), 1, "r", True, 6.0, since_s=5.0)
    assert {action.call.call_id for action in actions} == {"c", "d"}, "both are due"
    _, actions = tools.ask(call("look", call_id="e"), 1, "r", True, 5.0)
    assert len(actions) == 1, "reads never wait"


def test_no_write_begins_while_the_user_speaks():
    tools = desk(write_grace_s=0.3)
    tools.ask(call("book"), 1, "r", True, 0.0)
    tools.held = True
    assert tools.start_due(1.0) == []
    assert tools.deadline_s is None, "there is nothing to wait for but the user"
    tools.held = False
    assert len(tools.start_due(1.0)) == 1


def test_a_write_that_was_cut_off_before_it_began_is_never_done():
    tools = desk(write_grace_s=0.3)
    tools.ask(call("book"), 1, "r", True, 0.0)
    assert tools.interrupt("r") == []
    assert states(tools) == ["superseded"]
    assert not tools.touched("r")
    assert tools.start_due(9.0) == []
    ((_, said),) = tools.take_results()
    assert "went on before it began" in said


def test_when_nobody_can_correct_a_write_any_more_it_is_done():
    tools = desk(write_grace_s=0.3)
    tools.ask(call("book"), 1, "r", True, 0.0)
    assert len(tools.start_due(0.1, last=True)) == 1
    assert tools.touched("r")
