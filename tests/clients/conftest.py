"""One plain server and one with TLS and a key, for all real clients."""

import time
from collections.abc import Iterator

import pytest

from .running import Server, serving

_SERVERS = ("server", "secured")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Plain HTTP and WebSocket, no key asked: what `antiphon serve` gives without options."""
    with serving(tmp_path_factory.mktemp("plain")) as running:
        yield running
        assert_nothing_is_left(running)


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """TLS by a self-signed certificate, and an API key."""
    with serving(tmp_path_factory.mktemp("secured"), secured=True) as running:
        yield running
        assert_nothing_is_left(running)


def assert_nothing_is_left(running: Server) -> None:
    """When all clients are gone, so are their streams and sockets; and nothing went wrong unseen."""
    deadline = time.monotonic() + 5.0
    left = {"antiphon_active_streams": 1.0, "antiphon_connections": 1.0}
    while any(left.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {name: running.gauge(name) for name in left}
    assert not any(left.values()), f"{left}\n{running.tail()}"
    log = running.log.read_text(errors="replace")
    assert "Traceback" not in log, log
    assert " ERROR " not in log, log


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failure shows what the server wrote meanwhile."""
    report = yield
    if report.failed and isinstance(item, pytest.Function):
        for name in _SERVERS:
            running = item.funcargs.get(name)
            if isinstance(running, Server):
                report.sections.append((f"log of the {name} server", running.tail()))
    return report
