"""``antiphon serve``: listen, warm up, say one clear line, and leave in order.

Faults that a user can mend (a taken port, a bad certificate, missing models) are one line each, never a traceback.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
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
from antiphon.server.binding import BACKLOG, StartFailed, bind, certificate_for, config
from antiphon.server.hub import Engines
from antiphon.server.observe import configure_logging
from antiphon.server.records import Keepers, may_keep_sessions, require_boundaries
from antiphon.server.tls import trust_hint
from antiphon.server.tools import ToolBox, tool_box
from antiphon.settings import Settings, SettingsError

EXIT_OK, EXIT_FAILED, EXIT_BAD_SETTINGS = 0, 1, 2


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
            certificate = certificate_for(settings.server)
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
    site.sock.listen(BACKLOG)  # here, so that whoever reads our line can connect
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
