"""Cartesia's routes for pronunciation dictionaries. The file is touched by threads, never by the loop."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from antiphon.protocol.cartesia_dictionaries import DictionaryBody, read_create, read_update
from antiphon.protocol.cartesia_pages import PageQuery
from antiphon.server.hub import Hub
from antiphon.server.reply import admit, json_response
from antiphon.server.speech import read_body
from antiphon.text.pronounce import said_as

PATH, ONE = "/pronunciation-dicts", "/pronunciation-dicts/{id}"
PIN, UNPIN = f"{ONE}/pin", f"{ONE}/unpin"


class DictionaryRoutes:
    """Endpoints. A caller sees its own dictionaries only."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def list_all(self, request: Request) -> Response:
        owner = self._owner(request)
        query = PageQuery.read(request.query_params)
        return json_response(await asyncio.to_thread(self._hub.dictionaries.page, owner, query))

    async def create(self, request: Request) -> Response:
        owner = self._owner(request)
        draft = read_create(await self._body(request), said_as)
        return json_response(await asyncio.to_thread(self._hub.dictionaries.create, owner, draft))

    async def get(self, request: Request) -> Response:
        owner = self._owner(request)
        return json_response(await asyncio.to_thread(self._hub.dictionaries.get, owner, _id(request)))

    async def update(self, request: Request) -> Response:
        owner = self._owner(request)
        draft = read_update(await self._body(request), said_as)
        return json_response(await asyncio.to_thread(self._hub.dictionaries.update, owner, _id(request), draft))

    async def delete(self, request: Request) -> Response:
        owner = self._owner(request)
        await asyncio.to_thread(self._hub.dictionaries.delete, owner, _id(request))
        return Response(status_code=204)

    async def pin(self, request: Request) -> Response:
        return json_response(await self._pinned(request, True))

    async def unpin(self, request: Request) -> Response:
        return json_response(await self._pinned(request, False))

    async def _pinned(self, request: Request, pinned: bool) -> DictionaryBody:
        owner = self._owner(request)
        return await asyncio.to_thread(self._hub.dictionaries.pin, owner, _id(request), pinned)

    def _owner(self, request: Request) -> str:
        return admit(self._hub, request, None).name

    async def _body(self, request: Request) -> bytes:
        server = self._hub.settings.server
        return await read_body(request, server.body_limit_bytes, server.body_timeout_s)


def _id(request: Request) -> str:
    return str(request.path_params["id"])
