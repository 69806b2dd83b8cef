from collections.abc import Iterator

import pytest

from .scripted_server import ScriptedServer, serving


@pytest.fixture(scope="module")
def scripted() -> ScriptedServer:
    return ScriptedServer()


@pytest.fixture(scope="module")
def url(scripted: ScriptedServer) -> Iterator[str]:
    with serving(scripted) as base:
        yield base


@pytest.fixture(autouse=True)
def _forget(scripted: ScriptedServer) -> None:
    scripted.heard.clear()
    scripted.refuse_sockets = False
