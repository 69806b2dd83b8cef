"""The clients are the published ones, in the versions that the project states."""

import importlib.metadata
import json
import re
import tomllib
from pathlib import Path

import pytest

from .required import JS, required_node

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
PINS = dict(re.split(r"==", pin) for pin in PROJECT["project"]["optional-dependencies"]["clients"])


@pytest.mark.parametrize("name", PINS)
def test_python_client_is_the_pinned_one(name: str) -> None:
    try:
        assert importlib.metadata.version(name) == PINS[name]
    except importlib.metadata.PackageNotFoundError:
        pytest.fail(f"{name} is not installed: run `make setup`", pytrace=False)


def test_javascript_client_is_the_pinned_one() -> None:
    required_node()
    for name, version in json.loads((JS / "package.json").read_text())["dependencies"].items():
        assert re.fullmatch(r"[\d.]+", version), "an exact version"
        assert json.loads((JS / "node_modules" / name / "package.json").read_text())["version"] == version
