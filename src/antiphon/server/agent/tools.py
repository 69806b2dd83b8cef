"""Runs the server's own tools for a session: every call comes to an end, also after an interruption or a goodbye."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

from antiphon.core.brain import ToolSpec
from antiphon.dialog.conversation_actions import Handover
from antiphon.dialog.tool_run import CallTool
from antiphon.server.agent.plan import HANDOVER, ServerTools
from antiphon.server.tools.outcome import ToolContext, ToolOutcome


class ToolSource(Protocol):
    """Where tools are executed."""

    def specs(self) -> Sequence[ToolSpec]: ...

    @property
    def targets(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def fillers(self) -> Mapping[str, tuple[str | None, float | None]]: ...

    async def call(self, name: str, arguments: Mapping[str, Any], key: str, context: ToolContext) -> ToolOutcome: ...

    async def handover(self, payload: Mapping[str, Any]) -> object: ...


class ToolRunner(Protocol):
    """What a session needs: it begins things, and hears of the ends of calls by :data:`Finished`."""

    @property
    def running(self) -> bool:
        """Whether something is still on its way that has to come to its end."""
        ...

    def start(self, call: CallTool, turn: int) -> None: ...

    def cancel(self, call_id: str) -> None: ...

    def hand_over(self, session_id: str, handover: Handover) -> None: ...


Finished = Callable[[str, str, bool], None]
"""(call id, what it said, whether it went well); a write that was given up may be heard of twice."""


class ToolTasks:
    """A task for each call. ``finished`` is told on the loop's thread, ``idle`` whenever nothing runs any more."""

    def __init__(self, source: ToolSource, session_id: str, finished: Finished, idle: Callable[[], None]) -> None:
        self._source = source
        self._session_id = session_id
        self._finished = finished
        self._idle = idle
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._others: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> bool:
        return bool(self._calls or self._others)

    def start(self, call: CallTool, turn: int) -> None:
        call_id = call.call.call_id
        task = asyncio.get_running_loop().create_task(self._run(call, turn))
        self._calls[call_id] = task
        task.add_done_callback(lambda _: self._gone(call_id))

    def cancel(self, call_id: str) -> None:
        """Only reads are cancelled by a conversation."""
        task = self._calls.get(call_id)
        if task is not None:
            task.cancel()

    def hand_over(self, session_id: str, handover: Handover) -> None:
        payload = {
            "session_id": session_id,
            "reason": handover.reason,
            "transcript": [
                {"role": message.role, "content": message.content}
                for message in handover.transcript
                if message.role in ("user", "assistant") and message.content
            ],
            "ledger": list(handover.ledger),
        }
        task = asyncio.get_running_loop().create_task(self._tell_a_person(payload))
        self._others.add(task)
        task.add_done_callback(self._told)

    async def _run(self, call: CallTool, turn: int) -> None:
        call_id = call.call.call_id

        def report(outcome: ToolOutcome) -> None:
            self._finished(call_id, outcome.content, outcome.ok)

        context = ToolContext(self._session_id, turn, report)
        try:
            arguments = json.loads(call.call.arguments or "{}")
            outcome = await self._source.call(call.call.name, arguments, call.key, context)
        except Exception as error:  # whatever a tool does, its call ends
            content = json.dumps({"error": f"the tool failed: {type(error).__name__}"})
            self._finished(call_id, content, False)
        else:
            self._finished(call_id, outcome.content, outcome.ok)

    async def _tell_a_person(self, payload: Mapping[str, Any]) -> None:
        await self._source.handover(payload)

    def _gone(self, call_id: str) -> None:
        self._calls.pop(call_id, None)
        self._rest()

    def _told(self, task: "asyncio.Task[None]") -> None:
        self._others.discard(task)
        if not task.cancelled():
            task.exception()  # the source has logged it; a session must not end by it
        self._rest()

    def _rest(self) -> None:
        if not self.running:
            self._idle()


class NoTools:
    """A server without tools."""

    targets: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    fillers: Mapping[str, tuple[str | None, float | None]] = MappingProxyType({})

    def specs(self) -> Sequence[ToolSpec]:
        return ()

    async def call(self, name: str, arguments: Mapping[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(False, json.dumps({"error": f"there is no tool {name}"}))

    async def handover(self, payload: Mapping[str, Any]) -> object:
        return None


NO_TOOLS: Final = NoTools()

_CALL_A_PERSON = ToolSpec(
    HANDOVER,
    "Hand the conversation over to a human colleague. Say nothing after it.",
    '{"type":"object","properties":{"reason":{"type":"string","description":"Why, in a few words"}}}',
    effect="write",
)


def server_tools(source: ToolSource, handover: bool) -> ServerTools:
    """``handover``: the agent may call a person."""
    specs = list(source.specs())
    if handover and all(spec.name != HANDOVER for spec in specs):
        specs.append(_CALL_A_PERSON)
    return ServerTools(tuple(specs), source.targets, source.fillers)
