"""All tools of an agent, and what holds for every call of them."""

import asyncio
import json
import logging
import traceback
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.core.brain import ToolSpec
from antiphon.core.errors import AntiphonError
from antiphon.server.tools.handover import HandoverHook
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome, failed
from antiphon.server.tools.redact import Redactor
from antiphon.server.tools.schema import faults, parse_arguments, read_arguments
from antiphon.server.tools.tool import NO_FILLER, Tool, ToolSource

log = logging.getLogger("antiphon.tools")
_REMEMBERED = 512
_BEGINNING = 2_000


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """``calls`` run at once, ``waiting`` wait for a place. ``write_s``: how long a write is waited for. ``close_s``:
    how long writes may take to end when the server leaves. ``content_chars``: of one result."""

    calls: int = 16
    waiting: int = 64
    content_chars: int = 20_000
    write_s: float = 120.0
    close_s: float = 10.0


class ToolBox:
    """Runs tools by name. A read is given up at its ``timeout_s`` or when its caller is cancelled. A write that has
    begun goes on to its end, whoever is cancelled; calls of it with the same key are one call."""

    def __init__(
        self,
        sources: Sequence[ToolSource] = (),
        limits: ToolLimits | None = None,
        redact: Redactor | None = None,
        hook: HandoverHook | None = None,
    ) -> None:
        self._sources = tuple(sources)
        self._hook = hook
        self._limits = limits or ToolLimits()
        self._redact = redact or Redactor()
        self._places = asyncio.Semaphore(self._limits.calls)
        self._jobs: set[_Job] = set()
        self._writes: dict[tuple[str, str], _Job] = {}
        self._done: OrderedDict[tuple[str, str], ToolOutcome] = OrderedDict()
        self._closing = False

    async def open(self) -> None:
        """Reach the servers among the sources, all at once, each within its own limit. Raises ``InvalidInput`` if one
        that is required is not there; all are closed then."""
        results = await asyncio.gather(*(source.open() for source in self._sources), return_exceptions=True)
        errors = [result for result in results if isinstance(result, BaseException)]
        taken = self._by_name()
        for tool in (tool for source in self._sources for tool in source.tools()):
            if taken[tool.offer.name] is not tool:
                log.warning("two tools are named %s; the first is used. A prefix tells them apart", tool.offer.name)
        if errors:
            await self.aclose()
            raise errors[0]

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that there are now, as a brain is told of them."""
        return tuple(tool.offer.spec for tool in self._by_name().values())

    @property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """Tool -> the arguments that name what it writes to, where they are declared (``dialog.tools``)."""
        offers = [tool.offer for tool in self._by_name().values()]
        return {offer.name: offer.targets for offer in offers if offer.targets is not None}

    @property
    def fillers(self) -> dict[str, tuple[str | None, float | None]]:
        """Tool -> what is said while it takes long, and after how many seconds, where it has something of its own."""
        offers = [tool.offer for tool in self._by_name().values()]
        return {o.name: (o.filler.text, o.filler.after_s) for o in offers if o.filler != NO_FILLER}

    async def call(
        self,
        name: str,
        arguments: str | Mapping[str, Any],
        key: str = "",
        context: ToolContext | None = None,
    ) -> ToolOutcome:
        """Run one call to its end. Raises nothing but ``CancelledError``; what went wrong is in the outcome.

        ``arguments`` is a JSON object, as text or read. A write is waited for longer than its ``timeout_s``, because
        the truth that comes late is better than none: it is for the conversation to tell the caller meanwhile.
        """
        tool = self._by_name().get(name)
        if tool is None:
            known = ", ".join(self._by_name()) or "none"
            return failed(f"there is no tool {name[:64]}; there are: {known}")
        values = parse_arguments(arguments) if isinstance(arguments, str) else read_arguments(arguments)
        problems = [values] if isinstance(values, str) else self._faults(tool, values)
        if isinstance(values, str) or problems:
            return failed("The arguments do not fit. " + "; ".join(problems))
        if self._closing:
            return failed("the server is closing; nothing was done")
        write, identity = tool.offer.effect == "write", (name, key)
        if write and key and identity in self._done:
            return self._done[identity]
        job = self._writes.get(identity) if write and key else None
        if job is None:
            if len(self._jobs) >= self._limits.calls + self._limits.waiting:
                return failed("too many calls are under way; nothing was done, try again in a moment")
            job = self._begin(tool, values, key, context or ToolContext())
        return await self._wait(job, context)

    async def handover(self, payload: Mapping[str, Any]) -> bool:
        """Tell the webhook that a person takes over; says whether it was told. Raises nothing."""
        return self._hook is not None and await self._hook.handover(payload)

    async def aclose(self) -> None:
        """No new calls; reads end now, writes may end within ``close_s``; then the sources go."""
        self._closing = True
        for job in self._jobs:
            if not job.must_end:
                job.task.cancel()
        if self._jobs:
            _, late = await asyncio.wait({job.task for job in self._jobs}, timeout=self._limits.close_s)
            for job in [job for job in self._jobs if job.task in late]:
                log.warning("tool %s: a write has not ended; it is not known whether it was done", job.tool.offer.name)
                job.task.cancel()
        ends = [source.aclose() for source in self._sources]
        if self._hook is not None:
            ends.append(self._hook.aclose())
        results = await asyncio.gather(*ends, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                log.warning("a source of tools did not close in order: %s", type(result).__name__)

    def _by_name(self) -> dict[str, Tool]:
        tools: dict[str, Tool] = {}
        for source in self._sources:
            for tool in source.tools():
                tools.setdefault(tool.offer.name, tool)
        return tools

    def _faults(self, tool: Tool, values: dict[str, Any]) -> list[str]:
        try:
            return faults(tool.offer.schema, values)
        except Exception as error:  # a schema from elsewhere may hold anything; the tool judges for itself
            log.warning("tool %s: its schema cannot be used: %s", tool.offer.name, type(error).__name__)
            return []

    def _begin(self, tool: Tool, values: dict[str, Any], key: str, context: ToolContext) -> "_Job":
        job = _Job(tool)
        job.task = asyncio.get_running_loop().create_task(self._run(job, values, key, context))
        self._jobs.add(job)
        identity = (tool.offer.name, key)
        if key and tool.offer.effect == "write":
            self._writes[identity] = job

        def ended(task: "asyncio.Task[ToolOutcome]") -> None:
            self._jobs.discard(job)
            if self._writes.get(identity) is job:
                del self._writes[identity]
            if task.cancelled() or task.exception() is not None:
                return
            if task.result().ok and key and tool.offer.effect == "write":
                self._done[identity] = task.result()
                while len(self._done) > _REMEMBERED:
                    self._done.popitem(last=False)

        job.task.add_done_callback(ended)
        return job

    async def _wait(self, job: "_Job", context: ToolContext | None) -> ToolOutcome:
        offer = job.tool.offer
        limit_s = offer.timeout_s if offer.effect == "read" else max(self._limits.write_s, offer.timeout_s)
        job.waiters += 1
        try:
            done, _ = await asyncio.wait({job.task}, timeout=limit_s)
        except asyncio.CancelledError:
            job.waiters -= 1
            self._abandon(job, context)
            raise
        job.waiters -= 1
        if done:
            if job.task.cancelled():
                return failed("the server is closing" + ("" if job.must_end else "; nothing was done"))
            return job.task.result()
        self._abandon(job, context)
        if offer.effect == "read":
            return failed(f"no answer within {limit_s:g} s")
        return failed(f"no answer within {limit_s:g} s; it is not known whether it was done")

    def _abandon(self, job: "_Job", context: ToolContext | None) -> None:
        if not job.must_end:
            if not job.waiters:
                job.task.cancel()
            return
        report = context.report if context else None

        def ended(task: "asyncio.Task[ToolOutcome]") -> None:
            if report is not None and not task.cancelled():
                report(task.result())

        job.task.add_done_callback(ended)

    async def _run(self, job: "_Job", values: dict[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        offer = job.tool.offer
        try:
            async with asyncio.timeout(offer.timeout_s):
                await self._places.acquire()
        except TimeoutError:
            return failed("too many calls are under way; nothing was done, try again in a moment")
        try:
            job.started = True
            outcome = await job.tool.run(values, key, context)
        except ToolFailed as error:
            outcome = failed(str(error), error.details)
        except AntiphonError as error:
            outcome = failed(str(error))
        except Exception as error:
            # Where, but not what: messages of exceptions hold callers' data.
            where = "".join(traceback.format_tb(error.__traceback__)[-3:]).rstrip()
            log.error("tool %s failed: %s\n%s", offer.name, type(error).__name__, self._redact(where))
            outcome = failed(f"the tool failed ({type(error).__name__})")
        finally:
            self._places.release()
        return self._bounded(outcome)

    def _bounded(self, outcome: ToolOutcome) -> ToolOutcome:
        content = self._redact(outcome.content)
        size = len(content)
        if size > self._limits.content_chars:
            most = self._limits.content_chars
            note = f"The result has {size} characters, more than {most}: only its beginning is here."
            content = json.dumps({"note": note, "beginning": content[:_BEGINNING]}, ensure_ascii=False)
        return ToolOutcome(outcome.ok, content)


class _Job:
    """One call under way."""

    __slots__ = ("started", "task", "tool", "waiters")

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.task: asyncio.Task[ToolOutcome]
        self.started = False
        self.waiters = 0

    @property
    def must_end(self) -> bool:
        return self.started and self.tool.offer.effect == "write"
