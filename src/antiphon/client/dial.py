"""From an address to a socket whose session has begun, or to one clear reason why not."""

import asyncio
from collections.abc import Callable
from ssl import SSLContext, SSLError
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from antiphon.client.errors import Refused, Unreachable
from antiphon.core.errors import InvalidInput
from antiphon.protocol import native_messages as wire

PATH = "/agents/websocket"
MAX_FRAME_BYTES = 4 << 20
Ready = TypeVar("Ready")
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
_STATUS_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 429: "at_capacity", 503: "not_ready"}


def socket_url(url: str, path: str = PATH) -> str:
    """The socket of a server's base address, whose own path is kept if it has one. Raises ``InvalidInput``."""
    if "://" not in url:
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - it is only checked when asked for
    except ValueError as error:
        raise InvalidInput(f"{url[:200]!r} is no address: {error}", "url") from None
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise InvalidInput(f"{url[:200]!r} is no address of a server; wanted is http://host:port", "url")
    return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") or path, parts.query, ""))


async def dial(
    url: str, api_key: str, tls: SSLContext | None, within_s: float, path: str = PATH
) -> ClientConnection:
    """An open socket. Raises ``InvalidInput``, ``Unreachable``, ``Refused``."""
    address = socket_url(url, path)
    more: dict[str, Any] = {"ssl": tls} if tls is not None and address.startswith("wss") else {}
    try:
        return await connect(
            address,
            additional_headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            **more,
            compression=None,
            max_size=MAX_FRAME_BYTES,
            open_timeout=within_s,
            proxy=None,
        )
    except InvalidStatus as refusal:
        status = refusal.response.status_code
        code = _STATUS_CODES.get(status, f"http_{status}")
        said = _words_of(bytes(refusal.response.body or b"")) or f"the server answered with {status}"
        raise Refused(f"{address}: {said}", code, status=status) from None
    except InvalidURI as error:
        raise InvalidInput(f"{url[:200]!r} is no address: {error}", "url") from None
    except InvalidHandshake as error:
        raise Unreachable(f"{address} is no WebSocket server: {error}") from None
    except SSLError as error:
        raise Unreachable(f"{address}: no trust could be made: {error.reason or error}") from None
    except TimeoutError:
        raise Unreachable(f"{address} did not answer within {within_s:g} s") from None
    except OSError as error:
        raise Unreachable(f"nobody answers at {address}: {error.strerror or error}") from None


async def introduce(
    socket: ClientConnection,
    first: str | bytes,
    answer: type[Ready],
    decode: Callable[[str | bytes], object],
    within_s: float,
) -> Ready:
    """Send the ``first`` frame and wait for its ``answer``. Raises ``Unreachable``, ``Refused``; the socket is closed
    then."""
    try:
        async with asyncio.timeout(within_s):
            await socket.send(first)
            while True:
                message = decode(await socket.recv())
                if isinstance(message, answer):
                    return message
                if isinstance(message, wire.ErrorMessage):
                    raise Refused(message.message, message.code, param=message.param)
                if isinstance(message, wire.Closed):
                    raise Refused(f"the server closed at once: {message.reason}", message.reason)
    except Refused:
        await socket.close()
        raise
    except msgspec.DecodeError as error:
        await socket.close()
        raise Unreachable(f"what answers speaks another protocol: {error}") from None
    except ConnectionClosed as closed:
        code = closed.rcvd.code if closed.rcvd else 0
        raise Refused(
            f"the server closed the socket ({code}) before it was ready", "at_capacity" if code == 1013 else "closed"
        ) from None
    except TimeoutError:
        await socket.close()
        raise Unreachable(f"the server was not ready within {within_s:g} s") from None


def why(closed: ConnectionClosed) -> str:
    """A socket ended."""
    frame = closed.rcvd
    return f"closed with {frame.code}{' ' + frame.reason if frame.reason else ''}" if frame else "no goodbye"


def _words_of(body: bytes) -> str:
    """The message of an error's body, whatever the dialect."""
    try:
        found = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return ""
    while isinstance(found, dict):
        found = next((found[key] for key in ("error", "message", "title", "detail") if found.get(key)), "")
    return found[:500] if isinstance(found, str) else ""
