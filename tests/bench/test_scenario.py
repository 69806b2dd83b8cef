"""Scenario files, and what the scripted model makes of them."""

import json
import re
from pathlib import Path

import pytest

from antiphon.bench.scenario import (
    Scenario,
    chosen_scenarios,
    read_scenario,
    scenarios_hash,
    shipped_scenarios,
    tool_result,
)
from antiphon.bench.scenario_script import NO_ANSWER, instructions_for, next_answer, scenario_of
from antiphon.core.brain import Message, ToolCall
from antiphon.core.errors import InvalidInput

SMALL = """
version = 1
name = "small"
about = ""
[[tools]]
name = "find"
effect = "read"
result = '{"colour": "{colour}", "state": "ready"}'
arguments = ["colour"]
[[answers]]
after = "find"
say = "The {colour} one is {state}."
[[answers]]
heard = "red|blue"
call = "find"
arguments = { colour = "red|blue" }
[[answers]]
heard = "tyre"
say = "We take the wheel off and look for the hole."
breaks_after = 4
[[steps]]
say = ["Is the red", 0.4, "no, the blue one ready?"]
"""


@pytest.fixture
def small() -> Scenario:
    return read_scenario(SMALL, "small.toml")


def ask(scenario: Scenario, *messages: Message) -> tuple[str, str, str]:
    said = next_answer(scenario, (Message("system", instructions_for(scenario)), *messages))
    return said.say, said.call, said.arguments


def test_all_that_ship_can_be_read_and_are_what_the_docs_promise() -> None:
    shipped = shipped_scenarios()
    assert set(shipped) == {"lookup", "interruption", "correction", "backchannel", "failure", "mix"}
    kinds = {step.kind for scenario in shipped.values() for step in scenario.steps}
    assert kinds == {"turn", "interruption", "backchannel"}
    assert [name for name, scenario in shipped.items() if scenario.corrected] == ["correction"]
    assert len(shipped["mix"].steps) >= 5


def test_every_line_of_those_that_ship_is_answered_as_it_expects() -> None:
    """With a perfect ear: what a call fails at is never the script."""
    for scenario in shipped_scenarios().values():
        tools = {tool.name: tool for tool in scenario.tools}
        for step in scenario.steps:
            if step.kind == "backchannel":
                continue
            user = Message("user", step.text)
            said = next_answer(scenario, (user,))
            reply = said.say
            if said.breaks:
                begun = Message("assistant", said.say)
                reply += next_answer(scenario, (user, begun)).say
            if said.call:
                result = tool_result(tools[said.call], json.loads(said.arguments))
                call = Message("assistant", "", (ToolCall("c", said.call, said.arguments),))
                reply = next_answer(scenario, (user, call, Message("tool", result, call_id="c"))).say
            assert step.expects
            assert re.search(step.expects, reply, re.IGNORECASE), (scenario.name, step.text, reply)


def test_the_right_writes_are_those_that_the_script_asks_for() -> None:
    for scenario in shipped_scenarios().values():
        asked = [next_answer(scenario, (Message("user", step.text),)) for step in scenario.steps]
        writes = {tool.name for tool in scenario.tools if tool.effect == "write"}
        made = [(one.call, json.loads(one.arguments)) for one in asked if one.call in writes]
        assert made == [(call.tool, call.arguments) for call in scenario.calls]


def test_the_last_word_counts_in_a_correction(small: Scenario) -> None:
    assert ask(small, Message("user", "The red, no, the BLUE one.")) == ("", "find", '{"colour": "blue"}')


def test_a_result_fills_the_answer(small: Scenario) -> None:
    call = Message("assistant", "", (ToolCall("c1", "find", "{}"),))
    result = Message("tool", '{"colour": "red", "state": "ready"}', call_id="c1")
    assert ask(small, Message("user", "red"), call, result)[0] == "The red one is ready."


def test_what_is_not_understood_is_said_so(small: Scenario) -> None:
    assert ask(small, Message("user", "hm?"))[0] == NO_ANSWER


def test_an_answer_breaks_once_and_goes_on_where_it_broke(small: Scenario) -> None:
    user = Message("user", "a flat tyre")
    broken = next_answer(small, (user,))
    assert (broken.say, broken.breaks) == ("We take the wheel", True)
    again = next_answer(small, (user, Message("assistant", "We take the wheel"), Message("system", "go on")))
    assert (again.say, again.breaks) == (" off and look for the hole.", False)


def test_a_script_is_found_by_the_instructions(small: Scenario) -> None:
    others = tuple(shipped_scenarios().values())
    messages = (Message("system", f"{instructions_for(small)}; call: 4;"), Message("user", "hi"))
    assert scenario_of(messages, (*others, small)) is small
    assert scenario_of((Message("user", "hi"),), others) is None


def test_tool_results_carry_their_arguments(small: Scenario) -> None:
    assert json.loads(tool_result(small.tools[0], {"colour": "blue"})) == {"colour": "blue", "state": "ready"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('call = "find"', 'call = "seek"'), "no such tool: seek"),
        (('heard = "tyre"', 'heard = "("'), "is no pattern"),
        (("version = 1", "versoin = 1"), "small.toml"),
        (('say = ["Is the red", 0.4, "no, the blue one ready?"]', 'say = ["x"]\nkind = "backchannel"'), "first step"),
        (("[[steps]]", "[[steps"), "small.toml"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_refused(change: tuple[str, str], fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        read_scenario(SMALL.replace(*change), "small.toml")


def test_scenarios_by_name_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(SMALL)
    assert [one.name for one in chosen_scenarios(("mix", "lookup"))] == ["mix", "lookup"]
    assert [one.name for one in chosen_scenarios((), (file,))] == ["small"]
    assert len(chosen_scenarios(())) == 6
    with pytest.raises(InvalidInput, match=r"no such scenario: nothing; known: .*lookup"):
        chosen_scenarios(("nothing",))
    with pytest.raises(InvalidInput, match="cannot read"):
        chosen_scenarios((), (tmp_path / "absent.toml",))


def test_the_hash_is_of_what_is_played(small: Scenario) -> None:
    other = read_scenario(SMALL.replace("ready?", "there?"), "other.toml")
    assert scenarios_hash((small,)) == scenarios_hash((read_scenario(SMALL, "x"),)) != scenarios_hash((other,))
