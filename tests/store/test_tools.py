"""The real tools, as far as they can be had without a network."""

import os
import sys
from pathlib import Path

import pytest

from antiphon.store.tools import find_package, run_program, system_tools


def test_package_is_found_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "explosive_voice"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_package("explosive_voice") == package
    assert "explosive_voice" not in sys.modules


def test_missing_package_and_plain_module_have_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_module.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_package("no_such_package_here") is None
    assert find_package("plain_module") is None


def test_program_output_comes_line_by_line_with_errors_in_order() -> None:
    lines: list[str] = []
    script = "import sys; print('one'); sys.stdout.flush(); print('two', file=sys.stderr); sys.exit(3)"
    assert run_program([sys.executable, "-c", script], lines.append) == 3
    assert lines == ["one", "two"]


def test_program_is_stopped_when_we_are_interrupted() -> None:
    processes: list[int] = []

    def interrupt(line: str) -> None:
        processes.append(int(line))
        raise KeyboardInterrupt

    script = "import os, sys; print(os.getpid(), flush=True); import threading; threading.Event().wait()"
    with pytest.raises(KeyboardInterrupt):
        run_program([sys.executable, "-c", script], interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(processes[0], 0)


def test_real_tools_write_new_files_only(tmp_path: Path) -> None:
    tools = system_tools()
    with tools.create(tmp_path / "new") as file:
        file.write(b"x")
    with pytest.raises(FileExistsError):
        tools.create(tmp_path / "new")
    assert tools.free_bytes(tmp_path) > 0
