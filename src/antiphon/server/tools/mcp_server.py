"""The tools of one MCP server: listed when it starts, asked when they are called; it is started again when it dies."""

import asyncio
import importlib
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from antiphon.core.brain import Effect
from antiphon.core.clock import Clock
from antiphon.core.errors import AntiphonError, InvalidInput
from antiphon.server.tools.mcp_tool import McpTool, McpTraits
from antiphon.server.tools.outcome import ToolFailed
from antiphon.server.tools.redact import Redactor
from antiphon.server.tools.tool import Tool

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp_types import CallToolResult

log = logging.getLogger("antiphon.tools")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 30.0
_HEALTHY_S = 10.0
"""A server that lived so long is started again at once."""
_END_S = 6.0
_MOST_PAGES, _MOST_TOOLS = 20, 128
_KEY_NAME = "antiphon/idempotency_key"


class McpServer:
    """``transport`` makes the connection; ``ended`` of it is :meth:`lost`. One task holds the connection from its
    beginning to its end, as its cancel scopes demand; calls come from any other."""

    def __init__(
        self,
        name: str,
        traits: McpTraits,
        transport: "Callable[[], AbstractAsyncContextManager[TransportStreams]]",
        clock: Clock,
        *,
        start_timeout_s: float = 10.0,
        required: bool = False,
        redact: Redactor | None = None,
        last_words: Callable[[], str] = str,
    ) -> None:
        self.name = name
        self._traits = traits
        self._transport = transport
        self._clock = clock
        self._start_timeout_s = start_timeout_s
        self._required = required
        self._redact = redact or Redactor()
        self._last_words = last_words
        self._tools: tuple[McpTool, ...] = ()
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._tried = asyncio.Event()
        self._ended = asyncio.Event()
        self._wanted = asyncio.Event()
        self._closing = False
        self._problem = ""
        self._keeper: asyncio.Task[None] | None = None

    @property
    def problem(self) -> str:
        """Why it is not there; empty while it is."""
        return "" if self._ready.is_set() else self._problem

    def tools(self) -> Sequence[Tool]:
        return self._tools

    def lost(self) -> None:
        """The connection is of no use any more."""
        self._ended.set()

    async def open(self) -> None:
        """Returns when the tools are known or the time is over; then it is tried again in the background."""
        try:
            # Seconds on a busy machine: not on the loop, and not of the server's time.
            await asyncio.to_thread(importlib.import_module, "mcp")
        except ModuleNotFoundError:
            raise InvalidInput(f"tool {self.name!r} is an MCP server: pip install 'antiphon[mcp]'") from None
        self._keeper = asyncio.get_running_loop().create_task(self._keep())
        await self._tried.wait()
        if self._ready.is_set():
            return
        if self._required:
            await self.aclose()
            raise InvalidInput(f"MCP server {self.name!r} is required: {self._problem}")
        log.warning("MCP server %s is not there: %s; its tools are missing until it is", self.name, self._problem)

    async def call(self, tool: str, arguments: dict[str, Any], key: str, effect: Effect) -> "CallToolResult":
        """Raises ``ToolFailed``. A read that lost its server is asked once more of the next one."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        for last in (False, True):
            client = await self._connected()
            try:
                return await client.call_tool(tool, arguments, meta=_meta(key))
            except MCPError as error:
                if error.code != CONNECTION_CLOSED:
                    raise ToolFailed(self._redact(error.message)[:500]) from None
            except RuntimeError as error:  # the answer breaks the tool's own schema, or asks back
                raise ToolFailed(f"the answer of {self.name} cannot be used: {type(error).__name__}") from None
            except Exception as error:  # of the network; httpx2's are no common class of ours
                log.warning("MCP server %s: %s", self.name, type(error).__name__)
            if client is self._client:
                self.lost()
            if effect == "write":
                raise ToolFailed(f"the connection to {self.name} was lost; it is not known whether it was done")
            if last:
                raise ToolFailed(f"the connection to {self.name} was lost")
            await asyncio.sleep(0)  # the keeper takes note
        raise AssertionError("the second attempt returns or raises")

    async def aclose(self) -> None:
        """Ends the server, with its process group."""
        self._closing = True
        self._ended.set()
        self._wanted.set()
        if self._keeper is not None:
            done, _ = await asyncio.wait({self._keeper}, timeout=_END_S)
            if not done:
                self._keeper.cancel()
                await asyncio.wait({self._keeper}, timeout=_END_S)

    async def _connected(self) -> "Client":
        self._wanted.set()
        try:
            async with asyncio.timeout(self._start_timeout_s):
                await self._ready.wait()
        except TimeoutError:
            raise ToolFailed(f"{self.name} is not there; nothing was done") from None
        if self._client is None:
            raise ToolFailed(f"{self.name} is not there; nothing was done")
        return self._client

    async def _keep(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._closing:
            self._ended.clear()
            self._wanted.clear()
            began_s = self._clock.now_s()
            await self._live_once()
            self._tried.set()
            if self._closing:
                return
            healthy = self._clock.now_s() - began_s > _HEALTHY_S
            pause_s = _FIRST_PAUSE_S if healthy else min(pause_s * 2, _LONGEST_PAUSE_S)
            log.warning("MCP server %s: %s; trying again in %g s", self.name, self._problem, pause_s)
            try:
                async with asyncio.timeout(pause_s):
                    await self._wanted.wait()  # a caller that waits is a reason to try now
            except TimeoutError:
                pass

    async def _live_once(self) -> None:
        """One connection, from the start of the server to its end."""
        life = asyncio.get_running_loop().create_task(self._live())
        ready = asyncio.get_running_loop().create_task(self._ready.wait())
        try:
            await asyncio.wait({life, ready}, timeout=self._start_timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if not ready.done() and not life.done():
                self._problem = f"it has not answered within {self._start_timeout_s:g} s"
                life.cancel()
            if ready.done():
                self._tried.set()
            await asyncio.wait({life})
        finally:
            ready.cancel()
            self._ready.clear()
            self._client = None
            if not life.done():
                life.cancel()
                await asyncio.wait({life}, timeout=_END_S)
        if not life.cancelled() and (error := life.exception()) is not None:
            self._problem = self._why(error)

    async def _live(self) -> None:
        from mcp import Client

        async with Client(self._transport(), cache=None) as client:
            listed, cursor = [], None
            for _ in range(_MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                listed += page.tools
                cursor = page.next_cursor
                if not cursor or len(listed) >= _MOST_TOOLS:
                    break
            self._take(listed[:_MOST_TOOLS])
            self._client = client
            self._problem = "the connection was lost"
            if not self._ended.is_set():
                self._ready.set()
            await self._ended.wait()
            self._ready.clear()
            self._client = None

    def _take(self, listed: Sequence[Any]) -> None:
        allow = self._traits.allow
        names = {tool.name for tool in listed}
        for missing in sorted({*(allow or ()), *self._traits.overrides} - names):
            log.warning("MCP server %s has no tool %r; it has: %s", self.name, missing, ", ".join(sorted(names)))
        self._tools = tuple(
            McpTool(tool, self._traits, self.call, self._redact)
            for tool in listed
            if allow is None or tool.name in allow
        )

    def _why(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        if isinstance(error, OSError) and error.strerror:
            reason = f"it cannot be started: {error.strerror}"
        elif isinstance(error, AntiphonError):
            reason = str(error)
        else:
            reason = f"{type(error).__name__}: {str(error)[:200]}"
        words = self._last_words()
        return self._redact(f"{reason}; it said: {words}" if words else reason)


def _meta(key: str) -> Any:
    return {_KEY_NAME: key} if key else None
