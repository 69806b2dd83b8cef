"""A real `antiphon serve` in its own process, as a user starts it."""

import contextlib
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

START_LIMIT_S = 60.0
STOP_LIMIT_S = 20.0
API_KEY = "sk_test_of_the_real_clients"


def strict(sdk: Callable[..., Any], base_url: str, api_key: str) -> Any:
    """A client that tries once, and for which replies that do not fit the SDK's own types are errors."""
    return sdk(api_key=api_key, base_url=base_url, max_retries=0, _strict_response_validation=True)


@dataclass(frozen=True)
class Server:
    """Where it listens. ``cert`` is what a client must trust; None: no TLS. ``key`` is "any" where none is asked."""

    port: int
    log: Path
    key: str = "any"
    cert: Path | None = None

    @property
    def http(self) -> str:
        return f"{'https' if self.cert else 'http'}://127.0.0.1:{self.port}"

    @property
    def ws(self) -> str:
        return f"{'wss' if self.cert else 'ws'}://127.0.0.1:{self.port}"

    @property
    def openai(self) -> str:
        return f"{self.http}/v1"

    def gauge(self, name: str) -> float:
        """The sum of a gauge of /metrics over its labels."""
        verify: ssl.SSLContext | bool = self.trust if self.cert else False
        lines = httpx.get(f"{self.http}/metrics", verify=verify, trust_env=False).text.splitlines()
        values = [float(line.split()[-1]) for line in lines if line.startswith((f"{name} ", f"{name}{{"))]
        assert values, f"no gauge {name}"
        return sum(values)

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.cert)

    def tail(self, lines: int = 80) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


@contextlib.contextmanager
def serving(
    folder: Path,
    *options: str,
    variables: Mapping[str, str] | None = None,
    secured: bool = False,
    program: Sequence[str] = ("-m", "antiphon"),
) -> Iterator[Server]:
    """Start, wait for readiness, and stop by process id. ``secured``: self-signed TLS and one API key. ``program``:
    how Python is told to run antiphon."""
    port_file, log = folder / "port", folder / "server.log"
    own = {
        "ANTIPHON_TTS__DICTIONARIES": str(folder / "dictionaries.db"),
        "ANTIPHON_AGENT__SESSIONS": str(folder / "sessions.db"),
    }
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1", **own, **(variables or {})}
    if secured:
        environment |= {
            "ANTIPHON_SERVER__TLS__SELF_SIGNED": "true",
            "ANTIPHON_SERVER__TLS__DIR": str(folder),
            "ANTIPHON_SERVER__API_KEYS__TESTER": API_KEY,
        }
    command = [sys.executable, *program, "serve", "--host", "127.0.0.1", "--port", "0"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port-file", str(port_file), *options],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    try:
        port = _wait_for_port(process, port_file, log)
        cert = next(folder.glob("*cert.pem"), None) if secured else None
        server = Server(port, log, API_KEY if secured else "any", cert)
        _wait_until_ready(process, server)
        yield server
    finally:
        _stop(process, log)


def _wait_for_port(process: subprocess.Popen[bytes], port_file: Path, log: Path) -> int:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        _still_running(process, log)
        if port_file.exists() and (text := port_file.read_text().strip()):
            return int(text)
        time.sleep(0.02)
    raise AssertionError(f"no port after {START_LIMIT_S} s; its log:\n{log.read_text(errors='replace')}")


def _wait_until_ready(process: subprocess.Popen[bytes], server: Server) -> None:
    verify: ssl.SSLContext | bool = server.trust if server.cert else False
    deadline = time.monotonic() + START_LIMIT_S
    with httpx.Client(verify=verify, trust_env=False) as client:
        while time.monotonic() < deadline:
            _still_running(process, server.log)
            with contextlib.suppress(httpx.TransportError):
                if client.get(f"{server.http}/ready").status_code == 200:
                    return
            time.sleep(0.05)
    raise AssertionError(f"not ready after {START_LIMIT_S} s; its log:\n{server.tail()}")


def _still_running(process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        text = log.read_text(errors="replace")
        raise AssertionError(
            f"`antiphon serve` ended with code {process.returncode}. Did `make setup` run? Its log:\n{text}"
        )


def _stop(process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        text = log.read_text(errors="replace")
        raise AssertionError(f"the server did not stop within {STOP_LIMIT_S} s of SIGTERM; its log:\n{text}") from None
