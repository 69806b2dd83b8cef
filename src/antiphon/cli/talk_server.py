"""A server in this process, for whoever just wants to talk: on loopback, on a free port, gone with the command."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import uvicorn

from antiphon.server.app import create_app
from antiphon.server.binding import bind, config
from antiphon.server.run import House
from antiphon.settings import Settings, load

WITHIN_S = 2.0
BACKLOG = 16
_LOCAL = {"server.host": "127.0.0.1", "server.port": 0, "log.level": "error"}


class _Quiet(uvicorn.Server):
    """Ctrl-C is the command's, not this server's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def local_settings(given: Path | None, voice: str | None) -> Settings:
    """The user's settings, but only this machine is served, without keys or TLS."""
    loaded = load(given, {**_LOCAL, "tts.default_voice": voice})
    server = loaded.server.model_copy(
        update={"host": "127.0.0.1", "port": 0, "port_file": None, "api_keys": {}, "tls": type(loaded.server.tls)()}
    )
    return loaded.model_copy(update={"server": server})


@contextlib.asynccontextmanager
async def local_server(settings: Settings, build: Callable[[Settings], House]) -> AsyncIterator[str]:
    """Its address, once it is warm. Raises what ``build`` raises."""
    with contextlib.closing(bind(settings.server)) as sock:
        house = await asyncio.to_thread(build, settings)
        try:
            await asyncio.to_thread(house.registry.warm_up)
            app = create_app(settings, house.registry, brain=house.brain)
            server = _Quiet(config(settings, app))
            sock.listen(BACKLOG)  # here, so that whoever gets the address can connect
            serving = asyncio.create_task(server.serve([sock]))
            app.hub.lifecycle.ready()
            try:
                yield f"http://127.0.0.1:{sock.getsockname()[1]}"
            finally:
                await app.hub.lifecycle.drain(0.0)
                server.should_exit = True
                await asyncio.wait([serving], timeout=WITHIN_S)
        finally:
            house.close()
