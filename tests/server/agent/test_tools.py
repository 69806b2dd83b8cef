"""Every call comes to an end, whatever a tool does."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from antiphon.core.brain import Message, ToolCall, ToolSpec
from antiphon.dialog.conversation_actions import Handover
from antiphon.dialog.tool_run import CallTool
from antiphon.server.agent.tools import NO_TOOLS, ToolTasks, server_tools
from antiphon.server.tools import ToolContext, ToolOutcome

from ..support import run, until


class Source:
    targets: Mapping[str, tuple[str, ...]] = {"book": ("day",)}
    fillers: Mapping[str, tuple[str | None, float | None]] = {}

    def __init__(self) -> None:
        self.told: list[Mapping[str, Any]] = []
        self.cancelled = 0
        self.reports: list[Any] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("book", "Books", effect="write"),)

    async def call(self, name: str, arguments: Mapping[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        if name == "break":
            raise RuntimeError("secret")
        if name == "stay":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        self.reports.append(context.report)
        return ToolOutcome(True, json.dumps([name, dict(arguments), key, context.conversation_id, context.turn]))

    async def handover(self, payload: Mapping[str, Any]) -> bool:
        self.told.append(payload)
        raise RuntimeError("nobody is there")


class Desk:
    def __init__(self) -> None:
        self.source = Source()
        self.ended: list[tuple[str, str, bool]] = []
        self.idle = 0
        self.tasks = ToolTasks(self.source, "s1", lambda *end: self.ended.append(end), self._idle)

    def _idle(self) -> None:
        self.idle += 1

    def start(self, name: str, arguments: str = "{}") -> None:
        self.tasks.start(CallTool(ToolCall("c1", name, arguments), "k1", "write"), 4)


def test_a_result_a_fault_and_a_late_word() -> None:
    async def test() -> None:
        desk = Desk()
        desk.start("book", '{"day":"friday"}')
        assert desk.tasks.running
        await until(lambda: desk.idle == 1)
        assert desk.ended == [("c1", '["book", {"day": "friday"}, "k1", "s1", 4]', True)]
        desk.source.reports[0](ToolOutcome(False, "after all not"))
        assert desk.ended[-1] == ("c1", "after all not", False)
        desk.start("break")
        await until(lambda: desk.idle == 2)
        call_id, content, ok = desk.ended[-1]
        assert (call_id, ok) == ("c1", False)
        assert "secret" not in content

    run(test())


def test_a_read_that_nobody_waits_for_is_cancelled() -> None:
    async def test() -> None:
        desk = Desk()
        desk.start("stay")
        await asyncio.sleep(0)
        desk.tasks.cancel("c1")
        desk.tasks.cancel("unknown")
        await until(lambda: desk.idle == 1)
        assert (desk.source.cancelled, desk.ended, desk.tasks.running) == (1, [], False)

    run(test())


def test_a_person_is_told_what_was_said_and_a_failure_ends_nothing() -> None:
    async def test() -> None:
        desk = Desk()
        transcript = (Message("system", "Be brief."), Message("user", "Help!"), Message("tool", "{}", call_id="c"))
        desk.tasks.hand_over("s1", Handover("asked", transcript, ({"kind": "handover"},)))
        await until(lambda: desk.idle == 1)
        assert desk.source.told == [
            {
                "session_id": "s1",
                "reason": "asked",
                "transcript": [{"role": "user", "content": "Help!"}],
                "ledger": [{"kind": "handover"}],
            }
        ]

    run(test())


def test_what_a_session_is_told_of_the_tools() -> None:
    tools = server_tools(Source(), handover=True)
    assert [spec.name for spec in tools.specs] == ["book", "handover"]
    assert tools.targets == {"book": ("day",)}
    assert server_tools(NO_TOOLS, handover=False).specs == ()
