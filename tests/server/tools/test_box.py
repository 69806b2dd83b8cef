"""What holds for every call of every tool."""

import asyncio
import json
import logging
from typing import Any

import pytest

from antiphon.server.tools.box import ToolBox, ToolLimits
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome
from antiphon.server.tools.tool import Filler

from ..support import run, until
from .support import ScriptedTool


async def done(arguments: dict[str, Any], key: str) -> str:
    return "done"


class Gate:
    """A tool's work that ends when the test says."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def __call__(self, arguments: dict[str, Any], key: str) -> str:
        await self.open.wait()
        return "done"


def error(outcome: ToolOutcome) -> str:
    assert not outcome.ok
    return str(json.loads(outcome.content)["error"])


def test_a_call_is_run_and_its_result_given_back() -> None:
    async def test() -> None:
        box = ToolBox([tool := ScriptedTool(done, effect="read", targets=("a",), filler=Filler("Wait.", 0.5))])
        await box.open()
        assert await box.call("act", "{}") == ToolOutcome(True, "done")
        assert [(spec.name, spec.effect) for spec in box.specs()] == [("act", "read")]
        assert box.targets == {"act": ("a",)}
        assert box.fillers == {"act": ("Wait.", 0.5)}
        await box.aclose()
        assert tool.closed
        assert "closing" in error(await box.call("act", "{}"))

    run(test())


def test_what_cannot_be_called_says_why() -> None:
    async def test() -> None:
        schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
        box = ToolBox([tool := ScriptedTool(done, schema=schema)])
        assert error(await box.call("akt", {})) == "there is no tool akt; there are: act"
        assert error(await box.call("act", {})) == "The arguments do not fit. day: is missing"
        assert "JSON" in error(await box.call("act", "{day"))
        assert "JSON object" in error(await box.call("act", [1]))  # type: ignore[arg-type]
        assert tool.began == 0

    run(test())


@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_fault_is_an_outcome_and_its_message_stays_inside(effect: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def fault(arguments: dict[str, Any], key: str) -> str:
        raise KeyError(arguments["who"])

    async def reason(arguments: dict[str, Any], key: str) -> str:
        raise ToolFailed("The shop is closed.", {"opens": "nine"})

    async def test() -> None:
        said = await ToolBox([ScriptedTool(fault, effect=effect)]).call("act", {"who": "caller@example.org"})
        assert error(said) == "the tool failed (KeyError)"
        outcome = await ToolBox([ScriptedTool(reason, effect=effect)]).call("act", {})
        assert json.loads(outcome.content) == {"error": "The shop is closed.", "opens": "nine"}

    with caplog.at_level(logging.DEBUG):
        run(test())
    assert "test_box.py" in caplog.text
    assert "caller@" not in caplog.text


def test_a_read_is_given_up_in_time_and_when_its_caller_is() -> None:
    async def test() -> None:
        gate = Gate()
        box = ToolBox([tool := ScriptedTool(gate, effect="read", timeout_s=0.01)])
        assert error(await box.call("act", {})) == "no answer within 0.01 s"
        await until(lambda: tool.cancelled == 1)
        patient = ToolBox([other := ScriptedTool(gate, effect="read")])
        task = asyncio.get_running_loop().create_task(patient.call("act", {}))
        await until(lambda: other.began)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: other.cancelled == 1)

    run(test())


def test_a_read_that_will_not_stop_is_not_waited_for() -> None:
    async def stubborn(arguments: dict[str, Any], key: str) -> str:
        for _ in range(3):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
        return "never"

    async def test() -> None:
        box = ToolBox([ScriptedTool(stubborn, effect="read", timeout_s=0.01)], ToolLimits(close_s=0.01))
        assert "no answer" in error(await box.call("act", {}))
        await box.aclose()

    run(test())


def test_a_write_outlives_its_caller_and_is_reported() -> None:
    async def test() -> None:
        gate, late = Gate(), list[ToolOutcome]()
        box = ToolBox([tool := ScriptedTool(gate)])
        task = asyncio.get_running_loop().create_task(box.call("act", {}, "k", ToolContext(report=late.append)))
        await until(lambda: tool.began)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert late == []
        gate.open.set()
        await until(lambda: late)
        assert late == [ToolOutcome(True, "done")]
        assert (tool.began, tool.cancelled) == (1, 0)

    run(test())


def test_a_write_that_takes_too_long_is_reported_when_it_ends() -> None:
    async def test() -> None:
        gate, late = Gate(), list[ToolOutcome]()
        box = ToolBox([ScriptedTool(gate, timeout_s=0.01)], ToolLimits(write_s=0.02))
        outcome = await box.call("act", {}, "k", ToolContext(report=late.append))
        assert "not known whether it was done" in error(outcome)
        gate.open.set()
        await until(lambda: late)
        assert late == [ToolOutcome(True, "done")]

    run(test())


def test_writes_with_one_key_are_one_write() -> None:
    async def test() -> None:
        gate = Gate()
        box = ToolBox([tool := ScriptedTool(gate)])
        calls = [asyncio.get_running_loop().create_task(box.call("act", {}, "k")) for _ in range(3)]
        await until(lambda: tool.began)
        calls[0].cancel()
        gate.open.set()
        assert [await call for call in calls[1:]] == [ToolOutcome(True, "done")] * 2
        assert await box.call("act", {}, "k") == ToolOutcome(True, "done")
        assert tool.began == 1
        await box.call("act", {}, "another")
        assert tool.began == 2

    run(test())


def test_a_write_that_failed_may_be_tried_again_with_its_key() -> None:
    outcomes = [ToolOutcome(False, "no"), ToolOutcome(True, "yes")]

    async def second_time(arguments: dict[str, Any], key: str) -> ToolOutcome:
        return outcomes.pop(0)

    async def test() -> None:
        box = ToolBox([ScriptedTool(second_time)])
        assert not (await box.call("act", {}, "k")).ok
        assert (await box.call("act", {}, "k")).ok
        assert (await box.call("act", {}, "k")).content == "yes"

    run(test())


def test_calls_at_once_are_bounded_and_what_has_no_place_is_not_begun() -> None:
    async def test() -> None:
        gate = Gate()
        box = ToolBox([tool := ScriptedTool(gate, timeout_s=0.05)], ToolLimits(calls=1, waiting=1))
        first = asyncio.get_running_loop().create_task(box.call("act", {}, "1"))
        await until(lambda: tool.began)
        second = asyncio.get_running_loop().create_task(box.call("act", {}, "2"))
        await asyncio.sleep(0)
        assert "nothing was done" in error(await box.call("act", {}, "3"))
        assert "nothing was done" in error(await second)
        gate.open.set()
        assert (await first).ok
        assert tool.began == 1

    run(test())


def test_a_result_of_any_length_is_cut_with_a_word_of_it() -> None:
    async def long(arguments: dict[str, Any], key: str) -> str:
        return "x" * 30_000

    async def test() -> None:
        outcome = await ToolBox([ScriptedTool(long)]).call("act", {})
        assert outcome.ok
        assert "30000 characters, more than 20000" in json.loads(outcome.content)["note"]
        assert len(outcome.content) < 3_000

    run(test())


def test_the_end_waits_for_writes_and_not_for_reads() -> None:
    async def test() -> None:
        gate = Gate()
        box = ToolBox([tool := ScriptedTool(gate)])
        other = ToolBox([read := ScriptedTool(gate, effect="read")])
        write = asyncio.get_running_loop().create_task(box.call("act", {}, "k"))
        reading = asyncio.get_running_loop().create_task(other.call("act", {}))
        await until(lambda: tool.began and read.began)
        await other.aclose()
        assert "closing" in error(await reading)
        closing = asyncio.get_running_loop().create_task(box.aclose())
        await asyncio.sleep(0)
        assert not closing.done()
        gate.open.set()
        await closing
        assert (await write).ok

    run(test())


def test_a_write_that_never_ends_does_not_hold_up_the_end() -> None:
    async def test() -> None:
        box = ToolBox([tool := ScriptedTool(Gate())], ToolLimits(close_s=0.01))
        write = asyncio.get_running_loop().create_task(box.call("act", {}, "k"))
        await until(lambda: tool.began)
        await box.aclose()
        assert not (await write).ok

    run(test())


def test_a_schema_from_elsewhere_that_is_nonsense_refuses_nobody() -> None:
    async def test() -> None:
        schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}
        assert (await ToolBox([ScriptedTool(done, schema=schema)]).call("act", {"a": "x"})).ok

    run(test())
