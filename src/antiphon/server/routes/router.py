"""From described routes to a router: what a path answers to, method by method, and what it says to all else."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router, WebSocketRoute, request_response
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.core.errors import NotFound
from antiphon.protocol import openapi
from antiphon.protocol.http import shown
from antiphon.server.front import MethodNotAllowed
from antiphon.server.routes.cartesia import upgrade_needed


@dataclass(frozen=True, slots=True)
class Entry:
    """A described route and the endpoint behind it: a function of a request, or an ASGI application."""

    described: openapi.Route
    endpoint: Any


@dataclass(frozen=True, slots=True)
class Page:
    """What is served as it is."""

    path: str
    body: bytes | str
    media_type: str
    headers: dict[str, str] | None = None


def router(entries: Sequence[Entry], pages: Sequence[Page]) -> Router:
    """Fixed paths before patterns: ``/voices/clone`` is not a voice."""
    sockets: list[BaseRoute] = []
    by_path: dict[str, dict[str, Any]] = {}
    for entry in entries:
        path, endpoint = entry.described.path, entry.endpoint
        if entry.described.socket is not None:
            sockets.append(WebSocketRoute(path, _Socket(endpoint)))
            endpoint = upgrade_needed
        by_path.setdefault(path, {})[entry.described.method] = endpoint
    paths = sorted(by_path, key=lambda path: "{" in path)
    routes = [*sockets, *(Route(path, _Methods(by_path[path])) for path in paths)]
    routes += [Route(page.path, _Methods({"GET": _shows(page)})) for page in pages]
    return Router(routes, redirect_slashes=False, default=_no_route)


def _shows(page: Page) -> Any:
    async def show(request: Request) -> Response:
        return Response(page.body, media_type=page.media_type, headers=page.headers)

    return show


class _Methods:
    """What one path answers to, method by method. HEAD is GET without its body; OPTIONS names the methods."""

    def __init__(self, endpoints: dict[str, Any]) -> None:
        self._apps: dict[str, ASGIApp] = {method: _asgi(endpoint) for method, endpoint in endpoints.items()}
        if "GET" in self._apps:
            self._apps.setdefault("HEAD", self._apps["GET"])
        self._allow = ", ".join(sorted({*self._apps, "OPTIONS"}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._apps.get(scope["method"])
        if app is not None:
            await app(scope, receive, send)
        elif scope["method"] == "OPTIONS":
            await Response(status_code=204, headers={"allow": self._allow})(scope, receive, send)
        else:
            raise MethodNotAllowed(f"{scope['method']} {shown(scope['path'])}: use {self._allow}", self._allow)


def _asgi(endpoint: Any) -> ASGIApp:
    return request_response(endpoint) if inspect.isroutine(endpoint) else endpoint


class _Socket:
    """Starlette takes an object (but not a bound method) as an ASGI application."""

    def __init__(self, endpoint: ASGIApp) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint(scope, receive, send)


async def _no_route(scope: Scope, receive: Receive, send: Send) -> None:
    asked = f"{scope.get('method', 'WebSocket')} {shown(scope['path'])}"
    raise NotFound(f"{asked}: there is no such route; /docs lists them", "route")
