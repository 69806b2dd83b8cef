"""``antiphon serve``: listen, warm up, say one clear line, and leave in order.

Faults that a user can mend (a taken port, a bad certificate, missing models) are one line each, never a traceback.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

import uvicorn

from antiphon.core.brain import Brain
from antiphon.core.errors import AntiphonError
from antiphon.server.agent import session_keeper
from antiphon.server.agent.echo import require_echo
from antiphon.server.app import App, create_app
from antiphon.server.auth import gate_for
from antiphon.server.hub import Engines
from antiphon.server.observe import configure_logging
from antiphon.server.records import Keepers, may_keep_sessions, require_boundaries
from antiphon.server.tls import self_signed, trust_hint
from antiphon.server.tools import ToolBox, tool_box
from antiphon.server.transport import RequestProtocol, SocketProtocol, WireConfig
from antiphon.settings import ServerSettings, Settings, SettingsError

EXIT_OK, EXIT_FAILED, EXIT_BAD_SETTINGS = 0, 1, 2
_BACKLOG = 2048
_HEAD_TIMEOUT_S = 20.0
_STALL_GRACE_S = 5.0


class StartFailed(AntiphonError):
    """The server cannot start; the message says why and what to do."""


class WarmEngines(Engines, Protocol):
    """The registry of engines, which can also prove itself."""

    def warm_up(self) -> None: ...


class House(Protocol):
    """Engines that were built, with the workers behind them."""

    @property
    def registry(self) -> WarmEngines: ...

    @property
    def brain(self) -> Brain | None: ...

    @property
    def device(self) -> str:
        """Where models really run."""
        ...

    def close(self) -> None: ...


class _Server(uvicorn.Server):
    """uvicorn without its own idea of signals: it would close sockets before their contexts have had a last word."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    settings: Settings,
    build: Callable[[Settings], House],
    *,
    out: TextIO | None = None,
) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code. ``build`` loads the engines (may raise)."""
    out = out or sys.stdout
    configure_logging(settings.log.level, settings.log.format == "json", redacted=settings.log.redact)
    try:
        require_boundaries(settings)
        require_echo(settings.agent)
        sock = bind(settings.server)
        with contextlib.closing(sock):
            certificate = _certificate(settings.server)
            gate_for(settings.server)  # a door left open is said before models are loaded
            tools = tool_box(settings.agent.tools, settings.agent.handover)
            allowed = may_keep_sessions(settings)
            with contextlib.closing(Keepers(settings)) as keepers, session_keeper(settings, allowed) as keeper:
                house = build(settings)
                try:
                    sinks = keepers.sinks
                    app = create_app(
                        settings,
                        house.registry,
                        brain=house.brain,
                        tools=tools,
                        turn_sinks=sinks,
                        keeper=keeper,
                        device=house.device,
                    )
                    return _run(_Site(settings, app, house.registry, tools, sock, certificate, house.device, out))
                finally:
                    house.close()
    except SettingsError as error:
        print(f"antiphon: {error}", file=sys.stderr)  # noqa: T201
        return EXIT_BAD_SETTINGS
    except AntiphonError as error:
        print(f"antiphon: {error}", file=sys.stderr)  # noqa: T201
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_OK


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


def config(settings: Settings, app: App, certificate: tuple[Path, Path] | None = None) -> uvicorn.Config:
    """uvicorn's settings for our server."""
    server = settings.server
    cert, key = certificate or (None, None)
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
        backlog=_BACKLOG,
        timeout_keep_alive=server.keep_alive_s,
        timeout_graceful_shutdown=1,
        ssl_certfile=cert,
        ssl_keyfile=key,
    )


def _certificate(server: ServerSettings) -> tuple[Path, Path] | None:
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


@dataclass(frozen=True, slots=True)
class _Site:
    settings: Settings
    app: App
    voices: WarmEngines
    tools: ToolBox
    sock: socket.socket
    certificate: tuple[Path, Path] | None
    device: str
    out: TextIO


def _run(site: _Site) -> int:
    uvicorn_config = config(site.settings, site.app, site.certificate)
    with asyncio.Runner(loop_factory=uvicorn_config.get_loop_factory()) as runner:
        return runner.run(_main(site, _Server(uvicorn_config)))


async def _main(site: _Site, server: uvicorn.Server) -> int:
    loop = asyncio.get_running_loop()
    leaving = asyncio.Event()
    lifecycle = site.app.hub.lifecycle

    def leave() -> None:
        """A second signal is impatience."""
        if leaving.is_set():
            lifecycle.hurry()
        leaving.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, leave)
    site.sock.listen(_BACKLOG)  # here, so that whoever reads our line can connect
    serving = loop.create_task(server.serve([site.sock]))
    warming = asyncio.ensure_future(_warm(site))
    left = loop.create_task(leaving.wait())
    failure: BaseException | None = None
    try:
        await asyncio.wait((serving, warming, left), return_when=asyncio.FIRST_COMPLETED)
        if warming.done() and not leaving.is_set():
            failure = warming.exception()
            if failure is None:
                _keep_what_is_loaded()
                lifecycle.ready()
                _announce(site)
                await asyncio.wait((serving, left), return_when=asyncio.FIRST_COMPLETED)
        await lifecycle.drain(site.settings.server.drain_timeout_s if failure is None else 0.0)
    finally:
        _forget_port(site)
        server.should_exit = True
        left.cancel()
        warming.cancel()
        await asyncio.gather(serving, left, warming, return_exceptions=True)
        await site.tools.aclose()
        await _let_go(site.app.hub.brain)
    if isinstance(failure, AntiphonError):
        raise failure
    if failure is not None:
        raise StartFailed(f"warm-up failed: {failure}") from failure
    return EXIT_OK


async def _warm(site: _Site) -> None:
    """A real inference, and the tools' own servers reached."""
    await asyncio.gather(_in_thread(site.voices.warm_up), site.tools.open())


async def _let_go(brain: Brain) -> None:
    """Connections that a brain keeps are closed while their loop still runs."""
    if isinstance(brain, _Closable):
        await brain.aclose()


@runtime_checkable
class _Closable(Protocol):
    async def aclose(self) -> None: ...


def _keep_what_is_loaded() -> None:
    """Lexicons and models live as long as the process. A full collection would look through them again and again,
    for 50 ms or more each time, in which nothing else runs."""
    gc.collect()
    gc.freeze()


def _in_thread(call: Callable[[], None]) -> "asyncio.Future[None]":
    """Like ``asyncio.to_thread``, but a loop that closes does not wait for it: Ctrl-C works during a long warm-up."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def work() -> None:
        error: BaseException | None = None
        try:
            call()
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has closed meanwhile
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=work, name="warm-up", daemon=True).start()
    return done


def _forget_port(site: _Site) -> None:
    """Remove the port file if it is still the one that we wrote: a path may be a device, or another server's by now."""
    file = site.settings.server.port_file
    with contextlib.suppress(OSError, ValueError):
        if file is not None and file.is_file() and file.read_text() == _port_line(site):
            file.unlink()


def _port_line(site: _Site) -> str:
    return f"{site.sock.getsockname()[1]}\n"


def _announce(site: _Site) -> None:
    """One line for people and for scripts: what is served, where, and who may come in."""
    server, voice, port = site.settings.server, site.voices.default_voice, site.sock.getsockname()[1]
    if server.port_file is not None:
        try:
            server.port_file.write_text(_port_line(site))
        except OSError as error:
            raise StartFailed(f"cannot write the port to {server.port_file}: {error.strerror}") from None
    scheme = "https" if site.certificate else "http"
    host = f"[{server.host}]" if ":" in server.host else server.host
    keys = f"keys={len(server.api_keys)}" if server.api_keys else "keys=none"
    line = f"antiphon ready: {scheme}://{host}:{port} voice={voice.name} engine={voice.engine} device={site.device}"
    line += f" workers={site.settings.engine.worker_count} brain={site.app.hub.brain.name} {keys}"
    if site.certificate and server.tls.cert is None:
        line += f"\n{trust_hint(site.certificate[0])}"
    try:
        print(line, file=site.out, flush=True)
    except OSError as error:  # nobody reads it, or the disk is full: no reason not to serve
        logging.getLogger("antiphon").warning("the ready line cannot be written: %s", error.strerror)
