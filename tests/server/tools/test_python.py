"""Tools that are Python callables: found by name, run on the loop or in a thread."""

import asyncio
import json
import sys
import threading
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.box import ToolBox
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome
from antiphon.server.tools.python import PythonTool, find_callable
from antiphon.server.tools.signature import signature_of
from antiphon.server.tools.threads import Crew
from antiphon.server.tools.tool import Offer

from ..support import run


def tool(call: Any) -> PythonTool:
    signature = signature_of(call, derive=True, where="here")
    return PythonTool(Offer("act", "It acts.", signature.schema), call, signature, Crew(4))


async def call(function: Any, arguments: dict[str, Any], key: str = "k") -> ToolOutcome:
    return await ToolBox([tool(function)]).call("act", arguments, key, ToolContext("call-7"))


def in_thread(day: date, count: int = 2) -> dict[str, object]:
    return {"day": day, "weekday": day.weekday(), "count": count, "thread": threading.current_thread().name}


async def on_loop(idempotency_key: str, where: ToolContext) -> tuple[str, ...]:
    return idempotency_key, where.conversation_id, threading.current_thread().name


class Shop:
    async def __call__(self, what: str) -> None:
        asyncio.get_running_loop()


def test_arguments_arrive_as_they_are_hinted_and_results_leave_as_json() -> None:
    async def test() -> None:
        outcome = await call(in_thread, {"day": "2026-12-04"})
        told = {"day": "2026-12-04", "weekday": 4, "count": 2, "thread": "antiphon-tool"}
        assert json.loads(outcome.content) == told
        assert json.loads((await call(on_loop, {})).content) == ["k", "call-7", "MainThread"]
        assert (await call(Shop(), {"what": "x"})).content == '{"status":"done"}'
        assert (await call(lambda: "plain", {})).content == "plain"

    run(test())


def test_what_a_hint_forbids_is_refused_before_the_call() -> None:
    async def test() -> None:
        outcome = await call(in_thread, {"day": "2026-12-99", "count": "two"})
        assert not outcome.ok
        assert "day: should be a date" in outcome.content
        assert "count: should be integer" in outcome.content

    run(test())


def leave() -> None:
    sys.exit(3)


async def leave_the_loop() -> None:
    sys.exit(3)


def say_no() -> None:
    raise ToolFailed("It is closed.")


@pytest.mark.parametrize(
    ("function", "says"), [(leave, "SystemExit"), (leave_the_loop, "SystemExit"), (say_no, "It is closed.")]
)
def test_nothing_that_a_tool_does_reaches_the_server(function: Any, says: str) -> None:
    async def test() -> None:
        outcome = await call(function, {})
        assert not outcome.ok
        assert says in outcome.content

    run(test())


def test_a_callable_is_found_also_in_the_folder_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop_of_the_test.py").write_text("class A:\n    def open(): return 7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert find_callable("shop_of_the_test:A.open", "x")() == 7


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("json", "package.module:function"),
        ("no_such_module:f", "no module no_such_module"),
        ("json:no_such", "no function no_such"),
        ("json:__name__", "no function __name__"),
    ],
)
def test_a_callable_that_is_not_there_is_said(path: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        find_callable(path, "here")
