"""A tool box from settings."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

import httpx

from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import InvalidInput
from antiphon.server.tools.box import ToolBox, ToolLimits
from antiphon.server.tools.handover import HandoverHook
from antiphon.server.tools.http import HttpTool, placeholders
from antiphon.server.tools.mcp_pipe import ServerPipe
from antiphon.server.tools.mcp_server import McpServer
from antiphon.server.tools.mcp_tool import McpTraits
from antiphon.server.tools.python import PythonTool, find_callable
from antiphon.server.tools.redact import Redactor
from antiphon.server.tools.signature import signature_of
from antiphon.server.tools.threads import Crew
from antiphon.server.tools.tool import Filler, Offer, Tool, ToolSource
from antiphon.settings import AgentToolSettings, HandoverSettings, SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.client._transport import TransportStreams

_MCP_CONNECT_S = 5.0


def tool_box(
    given: Sequence[AgentToolSettings],
    handover: HandoverSettings | None = None,
    *,
    limits: ToolLimits | None = None,
    clock: Clock | None = None,
) -> ToolBox:
    """Declare all tools; nothing is reached before :meth:`ToolBox.open`. Raises ``SettingsError`` that names the tool
    at fault."""
    limits = limits or ToolLimits()
    secrets = [secret for tool in given for secret in (*tool.headers.values(), *tool.env.values())]
    redact = Redactor(secrets)
    crew = Crew(2 * limits.calls)
    sources: list[ToolSource] = []
    web = _Web()
    names: set[str] = set()
    for tool in given:
        if tool.name in names:
            raise SettingsError(f"agent.tools: two are named {tool.name!r}; give each its own name")
        names.add(tool.name)
        try:
            sources.append(_source(tool, crew, web, redact, clock or MonotonicClock()))
        except InvalidInput as error:
            raise SettingsError(f"agent.tools: {tool.name}: {error}") from error
    try:
        hook = HandoverHook(handover) if handover is not None else None
    except InvalidInput as error:
        raise SettingsError(str(error)) from error
    return ToolBox([*sources, web], limits, redact, hook)


def _source(tool: AgentToolSettings, crew: Crew, web: "_Web", redact: Redactor, clock: Clock) -> ToolSource:
    if tool.python:
        return _python(tool, crew)
    if tool.url:
        return _http(tool, web)
    return _mcp(tool, redact, clock)


def _python(tool: AgentToolSettings, crew: Crew) -> PythonTool:
    path = tool.python or ""
    call = find_callable(path, path)
    signature = signature_of(call, derive=tool.parameters is None, where=path)
    schema = signature.schema if tool.parameters is None else _object(tool.parameters)
    return PythonTool(_offer(tool, schema, signature.description), call, signature, crew)


def _http(tool: AgentToolSettings, web: "_Web") -> HttpTool:
    url = tool.url or ""
    names = placeholders(url)
    if tool.parameters is None:
        properties: dict[str, Any] = {name: {"type": "string"} for name in names}
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": names}
        schema["additionalProperties"] = False
    else:
        schema = _object(tool.parameters)
        if missing := [name for name in names if name not in schema["properties"]]:
            raise InvalidInput(f"the url has {{{missing[0]}}}, but `parameters` has no such property", "parameters")
        schema["required"] = list(dict.fromkeys([*schema.get("required", ()), *names]))
    headers = {name: value.get_secret_value() for name, value in tool.headers.items()}
    return HttpTool(
        _offer(tool, schema, ""), url, web.client, method=tool.method, headers=headers, attempts=tool.attempts
    )


def _mcp(tool: AgentToolSettings, redact: Redactor, clock: Clock) -> McpServer:
    traits = McpTraits(
        tool.effect,
        tool.timeout_s,
        tool.prefix,
        tool.allow,
        tool.targets,
        Filler(tool.filler, tool.filler_after_s),
        {
            name: {
                "description": own.description,
                "effect": own.effect,
                "timeout_s": own.timeout_s,
                "targets": own.targets,
                "filler": Filler(own.filler, own.filler_after_s)
                if own.filler is not None or own.filler_after_s is not None
                else None,
            }
            for name, own in tool.tools.items()
        },
    )
    server: McpServer
    transport: Callable[[], AbstractAsyncContextManager[TransportStreams]]
    last_words: Callable[[], str] = str
    if tool.mcp_command:
        env = {name: value.get_secret_value() for name, value in tool.env.items()}
        pipe = ServerPipe(tool.mcp_command, env, lambda: server.lost())
        transport, last_words = pipe.connect, pipe.last_words
    else:
        url = tool.mcp_url or ""
        placeholders(url)  # refuses what is no url
        headers = {name: value.get_secret_value() for name, value in tool.headers.items()}
        transport = partial(_over_http, url, headers)
    server = McpServer(
        tool.name,
        traits,
        transport,
        clock,
        start_timeout_s=tool.start_timeout_s,
        required=tool.required,
        redact=redact,
        last_words=last_words,
    )
    return server


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str]) -> "AsyncGenerator[TransportStreams, None]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # An answer may take as long as its tool; whoever waits has a limit of its own.
    timeout = httpx2.Timeout(None, connect=_MCP_CONNECT_S)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def _offer(tool: AgentToolSettings, schema: dict[str, Any], description: str) -> Offer:
    description = tool.description or description
    if not description:
        raise InvalidInput("say in `description` what it does: a brain chooses by it", "description")
    if tool.targets and (unknown := [name for name in tool.targets if name not in schema["properties"]]):
        raise InvalidInput(f"targets names {unknown[0]!r}, which is no argument of it", "targets")
    return Offer(
        tool.name,
        description,
        schema,
        tool.effect or "write",
        tool.timeout_s,
        tool.targets,
        Filler(tool.filler, tool.filler_after_s),
    )


def _object(parameters: dict[str, Any]) -> dict[str, Any]:
    if parameters.get("type", "object") != "object" or not isinstance(parameters.get("properties", {}), dict):
        raise InvalidInput("`parameters` should be a JSON schema of an object with `properties`", "parameters")
    return {"type": "object", "properties": {}, **parameters}


class _Web:
    """The one HTTP client of all tools, closed with the box. It keeps no cookies: calls are no session."""

    def __init__(self) -> None:
        self.client = httpx.AsyncClient(
            trust_env=False, cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])), follow_redirects=False
        )

    def tools(self) -> tuple[Tool, ...]:
        return ()

    async def open(self) -> None:
        return None

    async def aclose(self) -> None:
        await self.client.aclose()
