"""The real server in a process of its own, over a fresh order book, recording what happens."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from examples.orders.seed import write

ROOT = Path(__file__).resolve().parents[2]
AGENT = "examples/orders/agent.toml"
START_LIMIT_S = 120.0
STOP_LIMIT_S = 20.0


class DemoFailed(Exception):
    """The demo could not be held; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Order:
    """A row of the order book. ``delivery_day``: ISO date."""

    id: str
    customer: str
    status: str
    delivery_day: str
    part: str


@dataclass(frozen=True, slots=True)
class Book:
    """The order book at one moment. ``changes``: how many changes have been made to it since it was written."""

    orders: tuple[Order, ...]
    changes: int

    def order(self, number: str) -> Order:
        return next(order for order in self.orders if order.id == number)


@dataclass(frozen=True, slots=True)
class House:
    """Where the server is, and how long it took until its models were loaded and warm."""

    url: str
    ready_s: float


def fresh_book(path: Path, today: date) -> Book:
    """Write a new order book; returns what is in it."""
    write(path, today)
    return read_book(path)


def read_book(path: Path) -> Book:
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT id, customer, status, delivery_day, part FROM orders ORDER BY id").fetchall()
        changes = db.execute("SELECT count(*) FROM changes").fetchone()[0]
    return Book(tuple(Order(*row) for row in rows), int(changes))


@contextlib.contextmanager
def serving(folder: Path, book: Path, records: Path) -> Iterator[House]:
    """``antiphon serve`` with the order desk's agent. Stopped by its process id; what it recorded is whole then.

    Raises :class:`DemoFailed`.
    """
    port_file, log = folder / "port", folder / "server.log"
    command = [sys.executable, "-m", "antiphon", "serve", "--config", AGENT, "--host", "127.0.0.1", "--port", "0"]
    command += ["--port-file", str(port_file), "--log-level", "warning"]
    began = time.monotonic()
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            cwd=ROOT,  # the agent's file names its rules and tools from here
            env=_environment(book, records),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        port = _port(server, port_file, log, began + START_LIMIT_S)
        yield House(f"http://127.0.0.1:{port}", time.monotonic() - began)
    finally:
        server.terminate()
        try:
            server.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _environment(book: Path, records: Path) -> dict[str, str]:
    """The user's own settings stay out of it, except where the models are."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ANTIPHON_") or name.startswith("ANTIPHON_MODELS__")
    }
    return kept | {
        "ORDERS_DB": str(book),
        "ANTIPHON_RECORD__DIR": str(records),
        "ANTIPHON_RECORD__REDACT": "false",  # nobody real is in it, and the report shows what was said
    }


def _port(server: "subprocess.Popen[bytes]", port_file: Path, log: Path, deadline: float) -> int:
    while time.monotonic() < deadline:
        if port_file.exists() and (text := port_file.read_text().strip()):
            return int(text)
        if server.poll() is not None:
            raise DemoFailed(f"the server did not start; it says:\n{_tail(log)}\n(did `make setup` run?)")
        time.sleep(0.02)
    raise DemoFailed(f"the server was not ready within {START_LIMIT_S:g} s; it says:\n{_tail(log)}")


def _tail(log: Path, lines: int = 20) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
