"""Who may import whom, and where the clock, the environment and the event loop may be touched."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import antiphon

ROOT = Path(antiphon.__file__).parent
ROOMS = {path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
FILES = sorted(ROOT.rglob("*.py"))

ALLOWED = {
    "core": set(),
    "audio": {"core"},
    "text": {"core"},
    "store": {"core"},
    "dialog": {"core", "text"},
    "protocol": {"core", "audio.pcm"},
    "models": {"core", "text", "store"},
    "engine": {"core", "audio", "text", "store", "models"},
    "client": {"core", "protocol"},
    "server": {"core", "audio", "text", "store", "engine", "dialog", "protocol", "client", "settings"},
    "bench": {"core", "audio", "text", "store", "protocol", "client"},
    "settings": {"core"},
}
ASYNCIO = ("server/", "client/", "cli.py", "cli/", "engine/llm.py", "bench/player.py", "bench/target/")


SERVER_ROOMS = {
    "tools": set[str](),
    "records": {"agent"},
    "observe": {"journal", "agent", "records"},
    "realtime": {"agent", "lifecycle"},
}
"""Rooms of the server that stand apart from the rest of it, and what they may import of it."""
DOORS = ("server.app", "server.binding", "server.run", "server.routes")
"""What no other room of the server may import."""


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    package = ("antiphon", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            # "from antiphon import text" names a room by its alias; "from antiphon.text import unit" by its module.
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(name: str, place: str) -> bool:
    return name == place or name.startswith(place + ".")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_import_only_whom_they_may(path: Path) -> None:
    room = room_of(path)
    if room in ("cli", "__init__", "__main__"):
        return
    allowed = ALLOWED[room] | {room}
    for name in imports(path):
        if not within(name, "antiphon") or name == "antiphon.__version__":
            continue
        inner = name.removeprefix("antiphon.")
        assert any(within(inner, place) for place in allowed), f"{room} must not import {inner}"


@pytest.mark.parametrize("path", [p for p in FILES if room_of(p) == "server"], ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_of_the_server_import_only_whom_they_may(path: Path) -> None:
    room = path.relative_to(ROOT / "server").parts[0]
    inner = {name.removeprefix("antiphon.") for name in imports(path) if within(name, "antiphon.server")}
    if (ROOT / "server" / room).is_dir():
        for name in inner:
            mine = within(name, f"server.{room}")
            assert mine or not any(within(name, door) for door in DOORS), f"server/{room} must not import {name}"
    if room in SERVER_ROOMS:
        allowed = {f"server.{each}" for each in (*SERVER_ROOMS[room], room)}
        for name in inner:
            assert any(within(name, place) for place in allowed), f"server/{room} must not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_clock_environment_and_event_loop_stay_in_their_places(path: Path) -> None:
    where = path.relative_to(ROOT).as_posix()
    names = set(imports(path))
    top = {name.split(".")[0] for name in names}
    assert "torch" not in top
    if not where.startswith(ASYNCIO):
        assert "asyncio" not in top, "asyncio belongs to the shell"
    if where != "core/clock.py":
        assert "time" not in top, "time is read in core/clock.py only"
    if where != "settings/load.py":
        text = path.read_text(encoding="utf-8")
        assert "os.environ" not in text, "the environment is read in settings/load.py only"
        assert "os.getenv" not in text, "the environment is read in settings/load.py only"
        assert "os.environ" not in names


def test_core_needs_only_numpy_and_the_standard_library() -> None:
    import sys

    for path in (ROOT / "core").glob("*.py"):
        outside = {n.split(".")[0] for n in imports(path)} - set(sys.stdlib_module_names) - {"numpy", "antiphon"}
        assert not outside, f"{path.name} imports {outside}"


def test_every_room_is_covered_by_the_rules() -> None:
    assert ROOMS - {"cli", "console"} <= set(ALLOWED)
