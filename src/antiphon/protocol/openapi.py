"""``/openapi.json`` from the same structs that decode and encode the messages. Nothing is described twice."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

REF = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One response. ``body``: a msgspec type, or None with a ``content_type`` for a stream of bytes or events."""

    description: str
    body: Any = None
    content_type: str | None = "application/json"


@dataclass(frozen=True, slots=True)
class Query:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Socket:
    """The messages of a WebSocket, which OpenAPI has no words for: they go into ``x-websocket``."""

    receives: tuple[Any, ...]
    sends: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One route as the server offers it. ``path`` with ``{name}`` for parameters (``{name:path}`` is understood).

    ``request``: msgspec type of the body, ``request_type`` how it is written. ``responses``: status -> answer.
    ``socket``: the route is an upgrade.
    """

    method: str
    path: str
    summary: str
    request: Any = None
    responses: Mapping[int, Answer] = field(default_factory=dict)
    query: tuple[Query, ...] = ()
    tag: str = ""
    secured: bool = True
    socket: Socket | None = None
    request_type: str = "application/json"


def document(title: str, version: str, routes: Sequence[Route]) -> bytes:
    """OpenAPI 3.1 as JSON. Raises ``ValueError`` if two routes have the same method and path."""
    types = list(dict.fromkeys(_types(routes)))
    schemas, components = msgspec.json.schema_components(types, ref_template=REF)
    known = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path)
        operations = paths.setdefault(path, {})
        method = route.method.lower()
        if method in operations:
            raise ValueError(f"{route.method} {path} is described twice")
        operations[method] = _operation(route, path, known)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {"title": title, "version": version},
            "paths": paths,
            "components": {
                "schemas": components,
                "securitySchemes": {
                    "bearer": {"type": "http", "scheme": "bearer"},
                    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                },
            },
        }
    )


def _types(routes: Sequence[Route]) -> list[Any]:
    found: list[Any] = []
    for route in routes:
        bodies = [route.request, *(answer.body for answer in route.responses.values())]
        if route.socket is not None:
            bodies += [*route.socket.receives, *route.socket.sends]
        found += [body for body in bodies if body is not None]
    return found


def _operation(route: Route, path: str, known: Mapping[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {"summary": route.summary, "operationId": _operation_id(route.method, path)}
    if route.tag:
        operation["tags"] = [route.tag]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ] + [
        {
            "name": query.name,
            "in": "query",
            "required": query.required,
            "description": query.description,
            "schema": {"type": "string"},
        }
        for query in route.query
    ]
    if parameters:
        operation["parameters"] = parameters
    if route.request is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {route.request_type: {"schema": known[route.request]}},
        }
    operation["responses"] = {str(status): _answer(answer, known) for status, answer in route.responses.items()}
    if route.secured:
        operation["security"] = [{"bearer": []}, {"apiKey": []}]
    if route.socket is not None:
        operation["responses"].setdefault("101", {"description": "Switching to the WebSocket protocol"})
        operation["x-websocket"] = {
            "receives": [known[message] for message in route.socket.receives],
            "sends": [known[message] for message in route.socket.sends],
        }
    return operation


def _answer(answer: Answer, known: Mapping[Any, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"description": answer.description}
    if answer.content_type is not None and (answer.body is not None or answer.content_type != "application/json"):
        schema = known[answer.body] if answer.body is not None else {"type": "string", "format": "binary"}
        described["content"] = {answer.content_type: {"schema": schema}}
    return described


def _operation_id(method: str, path: str) -> str:
    words = re.findall(r"\w+", path) or ["root"]
    return "_".join([method.lower(), *words])
