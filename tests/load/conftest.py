from collections.abc import Iterator

import pytest

from tests.clients.running import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("load")) as running:
        yield running
