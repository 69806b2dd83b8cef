"""Commands are imported when they run, not when the program starts."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from antiphon.cli import app
from antiphon.cli.app import COMMANDS
from antiphon.cli.bench import COMMANDS as BENCH_COMMANDS

HEAVY = ("numpy", "onnxruntime", "uvicorn", "httpx", "antiphon.engine", "antiphon.server", "antiphon.bench")


def test_the_program_starts_without_any_command() -> None:
    code = "import sys, antiphon.cli, antiphon.cli.bench; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in HEAVY if name in loaded]


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if name != "bench"])
def test_every_command_is_found_where_the_table_says(name: str) -> None:
    result = CliRunner().invoke(app, [name, "--help"])
    assert (result.exit_code, result.exception) == (0, None)
    assert f"Usage: antiphon {name}" in result.output


@pytest.mark.parametrize("name", list(BENCH_COMMANDS))
def test_every_command_of_the_bench_is_found(name: str) -> None:
    result = CliRunner().invoke(app, ["bench", name, "--help"])
    assert (result.exit_code, result.exception) == (0, None)
    assert f"Usage: antiphon bench {name}" in result.output


def test_lists_hold_every_command_that_is_not_hidden() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    assert all(name in shown for name, entry in COMMANDS.items() if not entry.hidden)


def test_a_misspelt_command_is_answered_with_the_right_one() -> None:
    result = CliRunner().invoke(app, ["bensh"])
    assert result.exit_code == 2
    assert "'bench'" in result.output
