"""The real clients are never skipped: without them the tests fail, and say how to get them."""

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

JS = Path(__file__).parent / "js"


def required(module: str) -> Any:
    """Import a client library."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        pytest.fail(f"cannot import {module} ({error}): run `make setup`", pytrace=False)


def required_node() -> Path:
    """The Node that `make test` installed the JavaScript client with; the environment's own comes first."""
    if not (JS / "node_modules" / "@cartesia" / "cartesia-js").is_dir():
        pytest.fail("the JavaScript client is not installed: run `make setup`, then `make test`", pytrace=False)
    beside = Path(sys.executable).parent / "node"
    found = beside if beside.exists() else shutil.which("node")
    if found is None:
        pytest.fail("no Node: run `make setup`, then `make test`", pytrace=False)
    return Path(found)
