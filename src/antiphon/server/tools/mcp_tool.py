"""One tool of an MCP server."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from antiphon.core.brain import Effect
from antiphon.server.tools.outcome import ToolContext, ToolOutcome, failed, said
from antiphon.server.tools.redact import Redactor
from antiphon.server.tools.signature import KEY
from antiphon.server.tools.tool import NO_FILLER, Filler, Offer

if TYPE_CHECKING:
    from mcp_types import CallToolResult
    from mcp_types import Tool as ListedTool

CallRemote: TypeAlias = "Callable[[str, dict[str, Any], str, Effect], Awaitable[CallToolResult]]"
"""The server's name of a tool, its arguments, the call's key, and what it does."""


@dataclass(frozen=True, slots=True)
class McpTraits:
    """What is said here about a server's tools. ``overrides``: server's name of a tool -> values that count instead of
    its own: description, effect, timeout_s, targets, filler."""

    effect: Effect | None = None
    timeout_s: float = 10.0
    prefix: str = ""
    allow: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    filler: Filler = NO_FILLER
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class McpTool:
    """The call's key goes with the request's metadata, and into an
    argument ``idempotency_key`` if the tool has one; the brain does not see that argument."""

    def __init__(self, listed: "ListedTool", traits: McpTraits, call: CallRemote, redact: Redactor) -> None:
        self._offer = offer_of(listed, traits)
        self._name = listed.name
        self._call = call
        self._redact = redact
        self._takes_key = KEY in (listed.input_schema.get("properties") or {})

    @property
    def offer(self) -> Offer:
        return self._offer

    async def run(self, arguments: dict[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        given = {**arguments, KEY: key} if self._takes_key and key else arguments
        result = await self._call(self._name, given, key, self._offer.effect)
        content = _content(result)
        if result.is_error:
            return failed(self._redact(content[:2_000]) or "the tool failed without a word")
        return ToolOutcome(True, content)


def offer_of(tool: "ListedTool", traits: McpTraits) -> Offer:
    """A tool as it is declared here, after what the server says of it."""
    own = traits.overrides.get(tool.name, {})
    hint = tool.annotations.read_only_hint if tool.annotations else None
    effect: Effect = own.get("effect") or traits.effect or ("read" if hint else "write")
    return Offer(
        traits.prefix + tool.name,
        own.get("description") or tool.description or tool.title or tool.name.replace("_", " "),
        _schema(tool.input_schema),
        effect,
        own.get("timeout_s") or traits.timeout_s,
        own.get("targets") or traits.targets,
        own.get("filler") or traits.filler,
    )


def _schema(given: dict[str, Any]) -> dict[str, Any]:
    properties = given.get("properties")
    if not isinstance(properties, dict) or KEY not in properties:
        return {"type": "object", "properties": {}, **given}
    kept = {name: value for name, value in properties.items() if name != KEY}
    required = [name for name in given.get("required", ()) if name != KEY]
    return {**given, "properties": kept, "required": required}


def _content(result: "CallToolResult") -> str:
    structured = result.structured_content
    if structured is not None and not result.is_error:
        # Servers wrap what is no object as {"result": value}.
        bare = isinstance(structured, dict) and set(structured) == {"result"}
        return said(structured["result"]) if bare else said(structured)
    return "\n".join(_blocks(result.content)) or said(None)


def _blocks(content: Sequence[Any]) -> list[str]:
    texts = []
    for block in content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "resource" and getattr(block.resource, "text", None) is not None:
            texts.append(block.resource.text)
        else:
            texts.append(json.dumps({"kind": block.type, "note": "left out: it cannot be spoken"}))
    return texts
