"""Where a server listens, and how: its address, its certificate, and uvicorn's settings."""

import socket
import ssl
from pathlib import Path

import uvicorn

from antiphon.core.errors import AntiphonError
from antiphon.server.app import App
from antiphon.server.tls import self_signed
from antiphon.server.transport import RequestProtocol, SocketProtocol, WireConfig
from antiphon.settings import ServerSettings, Settings

BACKLOG = 2048
_HEAD_TIMEOUT_S = 20.0
_STALL_GRACE_S = 5.0


class StartFailed(AntiphonError):
    """The server cannot start; the message says why and what to do."""


def bind(server: ServerSettings) -> socket.socket:
    """A bound socket, not yet listening: no client shall wait on a server that may fail. Raises ``StartFailed``."""
    try:
        found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError, ValueError) as error:  # too long for a name, or with a NUL in it
        why = getattr(error, "strerror", None) or str(error)
        raise StartFailed(f"host {server.host[:80]!r} is not an address of this machine: {why}") from None
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
    except OSError as error:
        sock.close()
        hint = "; another program uses it: choose another with --port, or --port 0 for a free one"
        busy = error.errno in (48, 98)  # EADDRINUSE on macOS and on Linux
        raise StartFailed(
            f"cannot listen on {server.host}:{server.port}: {error.strerror}{hint if busy else ''}"
        ) from None
    sock.setblocking(False)
    return sock


def config(settings: Settings, app: App, pair: tuple[Path, Path] | None = None) -> uvicorn.Config:
    """uvicorn's settings for our server. ``pair``: of :func:`certificate_for`."""
    server = settings.server
    cert, key = pair or (None, None)
    return WireConfig(
        app,
        # The application's own limit comes first; this one is for what it has let go of.
        stall_timeout_s=server.stall_timeout_s + _STALL_GRACE_S,
        head_timeout_s=min(server.body_timeout_s, _HEAD_TIMEOUT_S),
        loop="auto",
        http=RequestProtocol,
        ws=SocketProtocol,
        ws_max_size=server.frame_limit_bytes,
        ws_ping_interval=server.ping_interval_s,
        # A client that plays as it reads answers a ping only after the audio before it; the stall limit finds the dead.
        ws_ping_timeout=None,
        ws_per_message_deflate=False,  # it costs milliseconds per chunk, and base64 of noise-like audio hardly shrinks
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=server.keep_alive_s,
        timeout_graceful_shutdown=1,
        ssl_certfile=cert,
        ssl_keyfile=key,
    )


def certificate_for(server: ServerSettings) -> tuple[Path, Path] | None:
    """The PEM files of the certificate and its key, made here if the settings want that; None: no TLS. Raises
    ``StartFailed``."""
    tls = server.tls
    if tls.cert is not None:
        pair = tls.cert, tls.key or tls.cert
    elif tls.self_signed:
        try:
            pair = self_signed(tls.dir, (server.host,))
        except OSError as error:
            raise StartFailed(f"cannot write a certificate into {tls.dir}: {error.strerror}") from None
    else:
        return None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*pair)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StartFailed(f"the TLS certificate {pair[0]} with key {pair[1]} cannot be used: {why}") from None
    return pair
