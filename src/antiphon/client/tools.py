"""Tools that this client runs for the agent."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from antiphon.client.events import ToolRan
from antiphon.core.brain import Effect
from antiphon.core.errors import AntiphonError, InvalidInput
from antiphon.protocol.native_messages import ClientTool, ToolAsked

Run: TypeAlias = Callable[..., Awaitable[Any]]

MOST_RUNNING = 32
MOST_REMEMBERED = 256
MOST_CHARS = 50_000


@dataclass(frozen=True, slots=True)
class Tool:
    """``run`` gets the call's arguments by name and returns text, or anything that JSON can hold.

    ``effect`` is "write" unless it truly changes nothing: a "read" may be called on a guess, and be cancelled.
    ``parameters``: JSON schema of the arguments.
    """

    name: str
    run: Run
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    effect: Effect = "write"
    timeout_ms: int = 10_000

    @property
    def declared(self) -> ClientTool:
        return ClientTool(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            effect=self.effect,
            timeout_ms=self.timeout_ms,
        )


class Toolbox:
    """Runs each call once, whatever is lost on the way: a call that comes again gets the answer of the first.

    ``tell`` is called with each outcome. A tool that fails says so to the agent, in words without a traceback.
    """

    def __init__(self, tools: Iterable[Tool], tell: Callable[[ToolRan], Awaitable[None]]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._tell = tell
        self._running: dict[str, asyncio.Task[None]] = {}
        self._reads: set[str] = set()
        self._done: dict[str, ToolRan] = {}

    async def call(self, asked: ToolAsked) -> None:
        if asked.call_id in self._running:
            return
        done = self._done.get(asked.call_id)
        if done is not None:
            await self._tell(done)
        elif len(self._running) >= MOST_RUNNING:
            await self._finish(asked, f"more than {MOST_RUNNING} calls at once", ok=False)
        else:
            tool = self._tools.get(asked.name)
            if tool is not None and tool.effect == "read":
                self._reads.add(asked.call_id)
            task = self._running[asked.call_id] = asyncio.create_task(self._run(asked))
            task.add_done_callback(lambda _: self._gone(asked.call_id))

    def cancel(self, call_id: str) -> None:
        """Stop a tool that only reads. One that writes goes on to its end: half a change is worse than one too many."""
        task = self._running.get(call_id)
        if task is not None and call_id in self._reads:
            task.cancel()

    async def close(self) -> None:
        """Reads are cancelled; writes are waited for."""
        for call_id in list(self._running):
            self.cancel(call_id)
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _gone(self, call_id: str) -> None:
        self._running.pop(call_id, None)
        self._reads.discard(call_id)

    async def _run(self, asked: ToolAsked) -> None:
        try:
            content = await self._answer(asked)
        except AntiphonError as error:
            await self._finish(asked, str(error), ok=False)
        except Exception as error:
            await self._finish(asked, f"{asked.name} failed: {type(error).__name__}: {error}", ok=False)
        else:
            await self._finish(asked, content, ok=True)

    async def _answer(self, asked: ToolAsked) -> str:
        tool = self._tools.get(asked.name)
        if tool is None:
            raise InvalidInput(f"there is no tool {asked.name!r} here; known: {', '.join(self._tools) or 'none'}")
        try:
            arguments = json.loads(asked.arguments or "{}")
        except (ValueError, RecursionError):
            raise InvalidInput(f"{asked.name}: the arguments are no JSON") from None
        if not isinstance(arguments, dict):
            raise InvalidInput(f"{asked.name}: the arguments are no JSON object")
        result = await asyncio.wait_for(tool.run(**arguments), tool.timeout_ms / 1000)
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

    async def _finish(self, asked: ToolAsked, content: str, *, ok: bool) -> None:
        if len(content) > MOST_CHARS:
            content, ok = f"{asked.name} gave more than {MOST_CHARS} characters", False
        ran = ToolRan(asked.call_id, asked.name, asked.arguments, content, ok)
        self._done[asked.call_id] = ran
        if len(self._done) > MOST_REMEMBERED:
            del self._done[next(iter(self._done))]
        self._running.pop(asked.call_id, None)
        await self._tell(ran)
