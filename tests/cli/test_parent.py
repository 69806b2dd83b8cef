"""Servers that a command starts for itself end with it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

END_LIMIT_S = 60.0
ENDS = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]
ECHO = """
import sys
from antiphon.bench.target.echo import EchoServer, echo_app
if __name__ == "__main__":
    server = EchoServer(echo_app)
    print("it runs", file=sys.stderr, flush=True)
    sys.stdin.read()
"""


def killed(command: list[str], told: str, number: int) -> None:
    """Kill it when it has said so on standard error, which its servers have from it: the end of that is the end of all
    of them."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heeds_sigint,
    ) as process:
        assert process.stderr is not None
        said = ""
        while told not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(number)
        process.communicate(timeout=END_LIMIT_S)
        assert process.returncode != 0


def _heeds_sigint() -> None:
    """A shell has what it runs in the background ignore it, tests and their children included."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", ENDS)
def test_a_bench_that_is_killed_leaves_no_server(number: int) -> None:
    command = [sys.executable, "-m", "antiphon", "bench", "floor", "--no-store"]
    killed(command, "floor: 1 streams", number)


@pytest.mark.parametrize("number", ENDS)
def test_a_child_server_ends_with_its_parent(number: int, tmp_path: Path) -> None:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    killed([sys.executable, str(script)], "it runs", number)
