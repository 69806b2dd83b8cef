"""A tool that is an HTTP request."""

import asyncio
import json
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome
from antiphon.server.tools.tool import Offer, OwnSource

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_CONNECT_S = 3.0
_PAUSES_S = (0.1, 0.4, 1.0)
_LIMIT_BYTES = 256 * 1024
_BODY_SHOWN = 2_000
_GZIP_OR_ZLIB = 47
_PASSING = (502, 503, 504)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class HttpTool(OwnSource):
    """Fills the arguments into the url, the rest into the query (GET, DELETE) or a JSON body, and sends it.

    ``Idempotency-Key`` goes with every request that has a key. A server that could not be reached is tried again, up to
    ``attempts`` times, with the same key; one that was lost after that only by a read. Redirects are not followed:
    they would carry the headers to wherever they point.
    """

    def __init__(
        self,
        offer: Offer,
        url: str,
        client: httpx.AsyncClient,
        *,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        attempts: int = 3,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(offer)
        self._url = url
        self._client = client
        self._method = method
        self._headers = dict(headers or {})
        self._attempts = attempts
        self._sleep = sleep
        self._host = urlsplit(url).hostname or ""
        self._placed = frozenset(placeholders(url))

    async def run(self, arguments: dict[str, Any], key: str, context: ToolContext) -> ToolOutcome:
        request = self._request(arguments, key)
        reads = self._offer.effect == "read"
        for attempt in range(self._attempts):
            last = attempt == self._attempts - 1
            try:
                response, body, cut = await self._send(request)
            except _NOT_SENT as error:
                if last:
                    raise ToolFailed(f"{self._host} cannot be reached; nothing was done") from error
            except httpx.HTTPError as error:
                if not reads:
                    raise ToolFailed(
                        f"the connection to {self._host} was lost; it is not known whether it was done"
                    ) from error
                if last:
                    raise ToolFailed(f"the connection to {self._host} was lost") from error
            else:
                if not (reads and response.status_code in _PASSING and not last):
                    return self._outcome(response, body, cut)
            await self._sleep(_PAUSES_S[min(attempt, len(_PAUSES_S) - 1)])
        raise AssertionError("the last attempt returns or raises")

    def _request(self, arguments: dict[str, Any], key: str) -> httpx.Request:
        url = filled(self._url, arguments)
        rest = {name: value for name, value in arguments.items() if name not in self._placed}
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", **self._headers}
        if key:
            headers["Idempotency-Key"] = key
        timeout = httpx.Timeout(None, connect=_CONNECT_S)
        if self._method in ("GET", "DELETE"):
            pairs: list[tuple[str, str | int | float | bool | None]] = [
                (name, _text(one)) for name, value in rest.items() for one in _listed(value)
            ]
            merged = httpx.URL(url).copy_merge_params(pairs) if pairs else httpx.URL(url)
            return self._client.build_request(self._method, merged, headers=headers, timeout=timeout)
        return self._client.build_request(self._method, url, headers=headers, json=rest, timeout=timeout)

    async def _send(self, request: httpx.Request) -> tuple[httpx.Response, bytes, bool]:
        """(response, body, whether the body was cut)."""
        response = await self._client.send(request, stream=True, follow_redirects=False)
        try:
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _LIMIT_BYTES:
                    break
                await asyncio.sleep(0)  # thousands of tiny pieces may be there already
            return response, *self._unpacked(response, bytes(body))
        finally:
            await response.aclose()

    def _unpacked(self, response: httpx.Response, body: bytes) -> tuple[bytes, bool]:
        """The body and whether it is cut. A server that packs though it was not asked to may have packed gigabytes, so
        no more is unpacked than is wanted."""
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed in ("gzip", "deflate"):
            try:
                unpacked = zlib.decompressobj(_GZIP_OR_ZLIB).decompress(body, _LIMIT_BYTES + 1)
            except zlib.error:
                packed = "broken"
            else:
                return unpacked[:_LIMIT_BYTES], len(body) > _LIMIT_BYTES or len(unpacked) > _LIMIT_BYTES
        if packed not in ("", "identity"):
            about = "but packed in a way that was not asked for; what it says cannot be read"
            raise ToolFailed(f"{self._host} answered {response.status_code}, {about}")
        return body[:_LIMIT_BYTES], len(body) > _LIMIT_BYTES

    def _outcome(self, response: httpx.Response, body: bytes, cut: bool) -> ToolOutcome:
        text = body.decode(response.charset_encoding or "utf-8", "replace").strip() if _charset_known(response) else ""
        status = response.status_code
        if response.is_redirect:
            raise ToolFailed(f"{self._host} answered with a redirect ({status}), which is not followed")
        if not response.is_success:
            raise ToolFailed(f"{self._host} answered {status}", {"status": status, "answer": _inside(text)})
        if cut:
            note = f"the answer is longer than {_LIMIT_BYTES} bytes; only its beginning is here"
            return ToolOutcome(True, json.dumps({"note": note, "beginning": text[:_BODY_SHOWN]}, ensure_ascii=False))
        return ToolOutcome(True, text or json.dumps({"status": "done"}))


def placeholders(url: str) -> list[str]:
    """The arguments that a url's path and query name. Raises ``InvalidInput`` for a url that cannot be used."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that do not match
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("a tool's url should look like https://host/path", "url")
    if "{" in parts.scheme + parts.netloc:
        raise InvalidInput("a tool's url may have {placeholders} in its path and query only, not in the host", "url")
    if parts.username or parts.password:
        raise InvalidInput("a tool's url must not hold a password; use headers", "url")
    return list(dict.fromkeys(_PLACEHOLDER.findall(parts.path + "?" + parts.query)))


def filled(url: str, arguments: Mapping[str, Any]) -> str:
    """The url with arguments put in, escaped. Raises ``ToolFailed`` for one that would change the path's shape."""
    path, mark, query = url.partition("?")

    def put(match: re.Match[str]) -> str:
        return quote(_text(arguments.get(match[1], "")), safe="")

    for template, segment in zip(path.split("/"), _PLACEHOLDER.sub(put, path).split("/"), strict=True):
        if "{" in template and segment in ("", ".", ".."):
            names = ", ".join(_PLACEHOLDER.findall(template))
            raise ToolFailed(f"the arguments do not fit: {names}: must not be empty, '.' or '..'")
    return _PLACEHOLDER.sub(put, path) + mark + _PLACEHOLDER.sub(put, query)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _inside(text: str) -> Any:
    """A body as JSON if it is some, so that it is not quoted twice."""
    if len(text) <= _BODY_SHOWN:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text[:_BODY_SHOWN]


def _charset_known(response: httpx.Response) -> bool:
    try:
        "".encode(response.charset_encoding or "utf-8")
    except LookupError:
        return False
    return True
