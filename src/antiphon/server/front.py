"""The outermost layer around the routes: request ids, slashes, origins, and nothing of ours ever shown to a caller."""

import asyncio
import ipaddress
import traceback
import uuid
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.core.errors import AntiphonError, EngineFailed, InvalidInput
from antiphon.protocol.http import Forbidden, shown
from antiphon.server.hub import Hub
from antiphon.server.journal import Crashed, RequestEnded
from antiphon.server.lifecycle import Unready

REQUEST_ID = "antiphon.request_id"
CLIENT_CLOSED = 499


class MethodNotAllowed(InvalidInput):
    """The path exists, the method on it does not. HTTP 405."""

    def __init__(self, message: str, allow: str) -> None:
        super().__init__(message)
        self.allow = allow


ErrorShape = Callable[[AntiphonError, Scope], Response]
"""An error as the protocol of the path that was asked for would say it."""


def request_id_of(scope: Scope) -> str:
    return str(scope[REQUEST_ID])


def route_of(scope: Scope) -> str:
    """The pattern that matched (a label with few values), or "other"."""
    return str(getattr(scope.get("route"), "path", "other"))


def _cannot_be_bent(host: str) -> bool:
    """Whether ``host`` (with its port) is an address or this machine's own name. Any other name may be made to mean
    this machine by whoever owns it, so that a page of theirs passes for one of ours (DNS rebinding)."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return name.lower() == "localhost"
    return True


class CallerGone(Exception):
    """Nobody is there to be answered."""


class Front:
    """Wraps the router."""

    def __init__(self, app: ASGIApp, hub: Hub, error_shape: ErrorShape) -> None:
        self._app = app
        self._hub = hub
        self._error_shape = error_shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        scope[REQUEST_ID] = uuid.uuid4().hex
        path = scope["path"]
        if path != "/" and path.endswith("/"):  # no redirects: they cost clients their POST bodies and upgrades
            path = scope["path"] = path.rstrip("/") or "/"
            scope["raw_path"] = path.encode()
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await self._socket(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = request_id_of(scope).encode()
        answered = False

        async def tracked(message: Message) -> None:
            nonlocal answered
            if message["type"] in ("websocket.accept", "websocket.http.response.start"):
                answered = True
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id)]
            await send(message)

        await self._guarded(scope, receive, tracked, lambda: answered)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        clock = self._hub.clock
        began_s = clock.now_s()
        request_id = request_id_of(scope)
        status = 0
        complete = False

        async def tracked(message: Message) -> None:
            nonlocal status, complete
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            elif message["type"] == "http.response.body" and not message.get("more_body", False):
                complete = True
            await send(message)

        try:
            await self._guarded(scope, receive, tracked, lambda: status != 0)
        finally:
            now_s = clock.now_s()
            answered = status if complete else CLIENT_CLOSED
            route = route_of(scope)
            self._hub.journal.log(
                RequestEnded(now_s, request_id, scope["method"], route, answered, round(now_s - began_s, 4))
            )

    async def _guarded(self, scope: Scope, receive: Receive, send: Send, started: Callable[[], bool]) -> None:
        try:
            self._check_origin(scope)
            await self._app(scope, receive, send)
        except AntiphonError as error:
            if not started():
                await self._error_shape(error, scope)(scope, receive, send)
        except CallerGone:
            return
        except asyncio.CancelledError:
            if self._hub.lifecycle.phase != "stopped":
                raise
            if not started():  # who was still sending a request when the server left
                await self._error_shape(Unready("the server is shutting down"), scope)(scope, receive, send)
        except Exception:
            route = route_of(scope)
            trace = traceback.format_exc()
            self._hub.journal.log(Crashed(self._hub.clock.now_s(), request_id_of(scope), route, trace))
            if not started():
                fault = EngineFailed(f"internal error; request {request_id_of(scope)}")
                await self._error_shape(fault, scope)(scope, receive, send)
            # Else nothing: a body that just stops is seen as broken by the client, which is the truth.

    def _check_origin(self, scope: Scope) -> None:
        """Without keys, only pages that were allowed may use this server: any web page can reach a loopback port.

        Where keys are needed a strange page has none, so that browsers with an access token come in from anywhere.
        """
        if not self._hub.gate.is_open:
            return
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        allowed = self._hub.settings.server.cors_origins
        if not origin or "*" in allowed or origin in allowed or scope.get("method") in ("GET", "HEAD", "OPTIONS"):
            return
        host = headers.get(b"host", b"").decode("latin-1")
        if origin.partition("://")[2] != host or not _cannot_be_bent(host):
            error = Forbidden(f"pages of {shown(origin)} may not use this server; allow them with server.cors_origins")
            self._hub.refuse(error, request_id_of(scope), route_of(scope), "origin")
            raise error
