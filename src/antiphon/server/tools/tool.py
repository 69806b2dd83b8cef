"""One tool that can be run, and where tools come from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.core.brain import Effect, ToolSpec
from antiphon.server.tools.outcome import ToolContext, ToolOutcome


@dataclass(frozen=True, slots=True)
class Filler:
    """What is said while a tool takes long; None: as for every tool."""

    text: str | None = None
    after_s: float | None = None


NO_FILLER = Filler()


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as it is declared. ``schema``: of its arguments, an object. ``targets``: see ``dialog.tools``."""

    name: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect = "write"
    timeout_s: float = 10.0
    targets: tuple[str, ...] | None = None
    filler: Filler = NO_FILLER

    @property
    def spec(self) -> ToolSpec:
        """As a brain is told of it."""
        return ToolSpec(
            self.name,
            self.description,
            json.dumps(self.schema, ensure_ascii=False, separators=(",", ":")),
            self.effect,
            self.timeout_s,
        )


class Tool(Protocol):
    """``arguments`` fit the offer's schema. ``key`` is the same for every attempt at the same write."""

    @property
    def offer(self) -> Offer: ...

    async def run(self, arguments: dict[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        """Raises ``ToolFailed``, whose message is for the brain."""
        ...


class ToolSource(Protocol):
    """Whatever has tools: one function, one address, a whole server."""

    def tools(self) -> Sequence[Tool]:
        """What there is now. May grow when a server that was away comes back."""
        ...

    async def open(self) -> None:
        """Make ready within a limit of its own. Raises ``InvalidInput`` if it is needed and not there."""
        ...

    async def aclose(self) -> None: ...


class OwnSource:
    """A tool that is a source of itself alone, and holds nothing open."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer

    @property
    def offer(self) -> Offer:
        return self._offer

    def tools(self: Tool) -> tuple[Tool, ...]:
        return (self,)

    async def open(self) -> None:
        return None

    async def aclose(self) -> None:
        return None
