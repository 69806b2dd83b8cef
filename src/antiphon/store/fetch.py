"""Putting a model's missing files together in a staging folder, and moving them into place when all are right."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from antiphon.core.errors import ModelUnavailable
from antiphon.store.archives import Archives, add_to_wheelhouse, hub_file_name
from antiphon.store.hashing import copy_and_hash
from antiphon.store.manifest import Archive, FromArchives, FromHub, FromInstalled, Manifest, ModelFile, Source
from antiphon.store.progress import ProgressCallback, PullProgress
from antiphon.store.tools import Tools


def fetch_model(
    manifest: Manifest,
    files: Sequence[ModelFile],
    target: Path,
    staging: Path,
    archives: Archives,
    tools: Tools,
    progress: ProgressCallback,
) -> None:
    """Fetch ``files`` of a model into the folder ``target``, all of them or none.

    ``staging`` is an empty folder on the same file system. Raises ``ModelUnavailable`` or ``OSError``.
    """
    for file in files:
        staged = staging / file.name
        staged.parent.mkdir(parents=True, exist_ok=True)
        _fetch_file(manifest, file, staged, archives, tools, progress)
    for file in files:
        final = target / file.name
        final.parent.mkdir(parents=True, exist_ok=True)
        (staging / file.name).replace(final)


def fill_wheelhouse(manifest: Manifest, wheelhouse: Path, archives: Archives, tools: Tools) -> None:
    """Put all that ``manifest`` can be pulled from into ``wheelhouse``. Raises ``ModelUnavailable`` or ``OSError``."""
    for file in manifest.files:
        for source in file.sources:
            if isinstance(source, FromArchives):
                for archive in dict.fromkeys(member.archive for member in source.members):
                    add_to_wheelhouse(archives.archive(archive, manifest.name), archive.file, wheelhouse, tools)
                break
            if isinstance(source, FromHub):
                path = archives.hub_file(source, file, manifest.name)
                add_to_wheelhouse(path, hub_file_name(file), wheelhouse, tools)
                break


def bytes_needed(files: Sequence[ModelFile], archives: Archives) -> int:
    """Room that fetching ``files`` takes: the files, and the archives that are in no wheelhouse."""
    total = sum(file.size for file in files)
    wanted: set[Archive] = set()
    for file in files:
        source = next((source for source in file.sources if not isinstance(source, FromInstalled)), None)
        if isinstance(source, FromArchives):
            wanted.update(member.archive for member in source.members)
        elif source is not None and not archives.has(hub_file_name(file)):
            total += file.size
    return total + sum(archive.size for archive in wanted if not archives.has(archive.file))


def _fetch_file(
    manifest: Manifest, file: ModelFile, staged: Path, archives: Archives, tools: Tools, progress: ProgressCallback
) -> None:
    failures = []
    for source in file.sources:
        try:
            with _opened(source, file, manifest.name, archives) as (streams, origin):
                _write(streams, staged, origin, manifest, file, tools, progress)
        except ModelUnavailable as error:
            failures.append(str(error))
        else:
            return
    raise ModelUnavailable(f"{manifest.name}: {file.name} cannot be had. {'. Also tried: '.join(failures)}")


def _write(
    streams: list[IO[bytes]],
    staged: Path,
    origin: str,
    manifest: Manifest,
    file: ModelFile,
    tools: Tools,
    progress: ProgressCallback,
) -> None:
    def on_bytes(done_bytes: int) -> None:
        progress(PullProgress(manifest.name, "unpacking", file.name, done_bytes, file.size))

    staged.unlink(missing_ok=True)
    with tools.create(staged) as target:
        actual = copy_and_hash(streams, target, on_bytes)
        target.flush()
        os.fsync(target.fileno())  # before the rename: a power cut must not leave an empty file under the right name
    if actual != file.sha256:
        raise ModelUnavailable(f"{origin} has sha256 {actual[:16]}… instead of {file.sha256[:16]}…; it was thrown away")


@contextmanager
def _opened(source: Source, file: ModelFile, model: str, archives: Archives) -> Iterator[tuple[list[IO[bytes]], str]]:
    """Open what makes up ``file``, as streams to be joined, with words for errors."""
    with ExitStack() as stack:
        match source:
            case FromInstalled(package, path):
                # the store has looked there already: a sound file is used where it is
                raise ModelUnavailable(f"the installed package {package} has no sound {path}")
            case FromHub(repo, _, path):
                yield [stack.enter_context(archives.hub_file(source, file, model).open("rb"))], f"{path} of {repo}"
            case FromArchives(members):
                streams = [stack.enter_context(archives.open_member(member, model)) for member in members]
                yield streams, " + ".join(f"{member.path} in {member.archive.file}" for member in members)
