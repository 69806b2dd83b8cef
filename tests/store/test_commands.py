"""What ``antiphon models`` prints."""

import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.store.commands import list_models, pull_models, verify_models

from .store_world import GRAPH, World


@pytest.fixture
def lines() -> list[str]:
    return []


def test_list_shows_state_size_and_licence(world: World, lines: list[str]) -> None:
    world.toy("here")
    world.toy("away")
    store = world.store()
    store.pull(["here"])
    list_models(store, lines.append)
    assert lines[0].split() == ["MODEL", "KIND", "STATE", "SIZE", "LICENCE", "LANGUAGES", "WHAT", "IT", "IS"]
    assert lines[1].split() == ["here", "tts", "ready", "0.3", "MB", "MIT", "en", "embedded;", "the", "model", "here"]
    assert lines[2].split() == ["away", "tts", "missing", "0.3", "MB", "MIT", "en", "embedded;", "the", "model", "away"]


def test_pull_reports_where_the_models_are(world: World, lines: list[str]) -> None:
    world.toy()
    pull_models(world.store(), [], lines.append)
    assert lines == [f"toy: ready, 0.3 MB in {world.root / 'toy'}"]


def test_pull_all_takes_what_is_not_embedded(world: World, lines: list[str]) -> None:
    world.model("extra", *world.toy("toy").files, embedded=False)
    store = world.store()
    pull_models(store, ["all"], lines.append)
    assert {status.state for status in store.status()} == {"ready"}


def test_pull_to_and_from_a_wheelhouse(world: World, lines: list[str]) -> None:
    world.toy()
    wheelhouse = world.folder / "wheelhouse"
    pull_models(world.store(), [], lines.append, to=wheelhouse)
    assert lines == [f"toy: all archives are in {wheelhouse}; `antiphon models pull --from {wheelhouse}` installs them"]
    world.index.clear()
    pull_models(world.store(), [], lines.append, world.seen.append, source=wheelhouse)
    assert world.seen[-1].phase == "ready"


def test_verify_finds_silent_damage(world: World, lines: list[str]) -> None:
    world.toy()
    store = world.store()
    store.pull()
    assert verify_models(store, [], lines.append)
    graph = store.path("toy", "graph.onnx")
    graph.write_bytes(b"G" + GRAPH[1:])
    lines.clear()
    assert not verify_models(store, ["toy"], lines.append)
    assert lines == ["toy: damaged", f"  graph.onnx: damaged ({graph})", "run `antiphon models pull toy`"]


def test_verify_passes_over_optional_models_that_are_not_here(world: World, lines: list[str]) -> None:
    world.toy("core")
    world.model("extra", *world.toy("other").files, embedded=False)
    del world.manifests["other"]
    store = world.store()
    store.pull(["core"])
    assert verify_models(store, [], lines.append)
    assert [line.partition(":")[0] for line in lines] == ["core"]
    assert not verify_models(store, ["extra"], lines.append)


def test_verify_counts_a_missing_embedded_model_and_a_missing_file(world: World, lines: list[str]) -> None:
    world.toy()
    store = world.store()
    assert not verify_models(store, [], lines.append)
    store.pull()
    store.path("toy", "text/vocab.txt").unlink()
    lines.clear()
    assert not verify_models(store, [], lines.append)
    assert lines[:2] == ["toy: incomplete", "  text/vocab.txt: missing"]


def test_failed_pull_reports_no_success(world: World, lines: list[str]) -> None:
    world.toy()
    world.index.clear()
    with pytest.raises(ModelUnavailable):
        pull_models(world.store(), [], lines.append)
    assert lines == []
