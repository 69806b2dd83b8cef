"""From the protocols' pure replies to Starlette's responses, and errors in the shape of the path that was asked for."""

from http import HTTPStatus
from typing import Any

import msgspec
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import AntiphonError
from antiphon.protocol import cartesia_errors, openai_http
from antiphon.protocol.http import JSON, Reply, TooLarge, TooSlow, Unauthenticated, credentials
from antiphon.protocol.openai_realtime_http import key_in
from antiphon.protocol.versions import pick_version
from antiphon.server.auth import Principal
from antiphon.server.front import MethodNotAllowed, request_id_of, route_of
from antiphon.server.hub import Hub
from antiphon.server.lifecycle import Unready


def respond(reply: Reply) -> Response:
    return Response(reply.body, reply.status, dict(reply.headers), reply.content_type)


def json_response(body: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(body), status, media_type=JSON)


def version_of(connection: HTTPConnection[Any]) -> str:
    """Which Cartesia version a request speaks."""
    return pick_version(connection.query_params.get("cartesia_version"), connection.headers.get("cartesia-version"))


def error_response(error: AntiphonError, scope: Scope) -> Response:
    """OpenAI's shape under ``/v1``, Cartesia's elsewhere."""
    if scope["path"].startswith("/v1/"):
        response = respond(openai_http.error_reply(error))
    else:
        version = version_of(HTTPConnection(scope))
        response = respond(cartesia_errors.error_reply(error, version, request_id_of(scope)))
    if isinstance(error, MethodNotAllowed):
        response.status_code = HTTPStatus.METHOD_NOT_ALLOWED
        response.headers["allow"] = error.allow
    elif isinstance(error, Unauthenticated):
        response.headers["www-authenticate"] = "Bearer"
    elif isinstance(error, Unready):
        response.headers["retry-after"] = "1"
    elif isinstance(error, TooLarge | TooSlow):
        response.headers["connection"] = "close"  # or the rest of the body would have to be read and thrown away
    return response


def admit(hub: Hub, connection: HTTPConnection[Any], grant: str | None) -> Principal:
    """Who calls. Raises ``Unauthenticated``, ``Forbidden``; journals the refusal."""
    credential = credentials(connection.headers, connection.query_params)
    credential = credential or key_in(connection.scope.get("subprotocols", ()))
    try:
        return hub.gate.admit(credential, grant, unix_time_s())
    except AntiphonError as error:
        scope = connection.scope
        hub.refuse(error, request_id_of(scope), route_of(scope), "auth")
        raise
