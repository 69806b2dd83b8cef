"""An application on the loopback in a process of its own, so that its CPU time can be told from the player's."""

import multiprocessing
import socket
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import uvicorn
from starlette.applications import Starlette

START_TIMEOUT_S = 20.0


class ChildServer:
    """``make(*arguments)`` gives the application, in the child; it is a function of a module. ``name`` is what an error
    calls it. ``port`` and ``pid`` are known once it runs, else ``RuntimeError`` is raised. Close it; it ends at the
    latest with this process, however that ends."""

    def __init__(self, name: str, make: Callable[..., Starlette], *arguments: Any, log_level: str = "warning") -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, arguments, log_level), daemon=True)
        self._process.start()
        theirs.close()  # the child has its own: if it dies, our end says so
        try:
            port: int | None = ours.recv() if ours.poll(START_TIMEOUT_S) else None
        except EOFError:
            port = None
        if port is None:
            self.close()
            raise RuntimeError(f"{name} did not start")
        self.port = port
        self.pid: int = self._process.pid or 0

    def close(self) -> None:
        self._process.terminate()
        self._process.join(5.0)


def _serve(ready: Connection, make: Callable[..., Starlette], arguments: tuple[Any, ...], log_level: str) -> None:
    app = make(*arguments)
    listener = socket.create_server(("127.0.0.1", 0))
    ready.send(listener.getsockname()[1])
    config = uvicorn.Config(app, log_level=log_level, access_log=False, ws_per_message_deflate=False, lifespan="off")
    server = uvicorn.Server(config)
    threading.Thread(target=_leave_with_parent, args=(server,), name="parent", daemon=True).start()
    server.run(sockets=[listener])


def _leave_with_parent(server: uvicorn.Server) -> None:
    """Also where the parent was killed, and could not say so."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        server.force_exit = server.should_exit = True
