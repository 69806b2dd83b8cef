"""Repositories of the hub that no manifest names: pinned by the first pull, and from then on models like any other."""

import shutil
from pathlib import Path

import pytest

from antiphon.core.errors import ModelUnavailable, NotFound
from antiphon.store.commands import list_models
from antiphon.store.hub import PIN, is_hub_id

from .store_world import GRAPH, World

REPO = "org/whisper-small"
FILES = {"model.bin": GRAPH, "config.json": b"{}", "onnx/joiner.onnx": GRAPH[:500], "README.md": b"read me"}


@pytest.fixture
def pulled(world: World) -> World:
    world.repository(REPO, FILES)
    world.store().pull([REPO])
    return world


@pytest.mark.parametrize("name", ["Systran/faster-whisper-small.en", "a/b"])
def test_what_may_be_a_repository(name: str) -> None:
    assert is_hub_id(name)


@pytest.mark.parametrize("name", ["small", "/models/x", "./a/b", "~/a", "a/b/c", "a/", "../a", "a/..", "a b/c"])
def test_what_is_none(name: str) -> None:
    assert not is_hub_id(name)


def test_a_pull_brings_all_but_what_is_no_model(pulled: World) -> None:
    store = pulled.store()
    folder = store.folder(REPO)
    assert folder == pulled.root / REPO
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == {"model.bin", "config.json", "onnx/joiner.onnx", PIN}
    assert store.path(REPO, "model.bin").read_bytes() == GRAPH
    assert store.status(REPO)[0].state == "ready"


def test_it_is_listed_beside_the_others(pulled: World) -> None:
    pulled.toy()
    lines: list[str] = []
    list_models(pulled.store(), lines.append)
    assert [line.split()[0] for line in lines[1:]] == ["toy", REPO]
    assert "mit" in lines[2]


def test_nothing_but_a_pull_asks_the_hub(pulled: World) -> None:
    pulled.listings.clear()
    pulled.commands.clear()
    store = pulled.store()
    store.folder(REPO)
    store.status(full=True)
    store.pull([REPO])
    assert pulled.commands == []


def test_damage_is_seen_and_repaired_from_the_same_commit(pulled: World) -> None:
    pulled.repository(REPO, {"model.bin": GRAPH + b"newer"}, revision="e" * 40)
    (pulled.root / REPO / "model.bin").write_bytes(GRAPH[:-1] + b"x")
    store = pulled.store()
    with pytest.raises(ModelUnavailable, match=f"damaged.*models pull {REPO}"):
        store.folder(REPO)
    store.pull([REPO])
    assert store.path(REPO, "model.bin").read_bytes() == GRAPH
    assert pulled.commands[-1] == ["hub", REPO, "d" * 40, "model.bin"]


def test_a_copy_of_the_folder_is_complete(pulled: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mounted"
    shutil.copytree(pulled.root / REPO, elsewhere / REPO)
    shutil.rmtree(pulled.root)
    assert pulled.store(model_dirs=[elsewhere]).folder(REPO) == elsewhere / REPO


def test_a_spoilt_pin_is_told_and_pulled_anew(pulled: World) -> None:
    (pulled.root / REPO / PIN).write_text("name = 3")
    with pytest.raises(ModelUnavailable, match=f"models pull {REPO}"):
        pulled.store().folder(REPO)
    pulled.store().pull([REPO])
    assert pulled.store().status(REPO)[0].state == "ready"


def test_what_was_not_pulled_says_how_to(world: World) -> None:
    with pytest.raises(ModelUnavailable, match=f"not on this machine.*models pull {REPO}"):
        world.store().folder(REPO)
    with pytest.raises(NotFound, match="owner/name"):
        world.store().folder("small")


def test_without_a_network_nothing_is_left_and_the_way_out_is_told(world: World) -> None:
    with pytest.raises(ModelUnavailable, match=r"gave no list of files \(cannot reach the hub\).*copy its files"):
        world.store().pull([REPO])
    assert world.remains() == set()


def test_a_file_that_is_not_what_the_hub_said_is_thrown_away(world: World) -> None:
    world.repository(REPO, FILES)
    world.hub[(REPO, "d" * 40, "model.bin")] = GRAPH + b"more"
    with pytest.raises(ModelUnavailable, match="not what was pinned"):
        world.store().pull([REPO])
    assert world.remains() == set()


def test_a_repository_without_models_is_refused(world: World) -> None:
    world.repository(REPO, {"README.md": b"soon"})
    with pytest.raises(ModelUnavailable, match="no model files"):
        world.store().pull([REPO])
