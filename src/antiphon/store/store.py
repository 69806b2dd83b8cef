"""The models on this machine: where each file lies, whether it is sound, and how it gets here."""

import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from antiphon.core.errors import ModelUnavailable, NotFound
from antiphon.store.archives import Archives
from antiphon.store.fetch import bytes_needed, fetch_model, fill_wheelhouse
from antiphon.store.hub import PIN, ask_hub, is_hub_id, pin_text, pinned, read_pin
from antiphon.store.lock import locked
from antiphon.store.manifest import FromInstalled, Manifest, ModelFile, shipped_manifests
from antiphon.store.progress import ProgressCallback, PullProgress, ignore_progress
from antiphon.store.tools import Tools, system_tools
from antiphon.store.verify import FileStatus, Verifier

ModelState: TypeAlias = Literal["ready", "missing", "incomplete", "damaged"]

_STAGING_PREFIX = ".staging-"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What of one model is on this machine."""

    manifest: Manifest
    files: tuple[FileStatus, ...]

    @property
    def state(self) -> ModelState:
        states = {file.state for file in self.files}
        if "damaged" in states:
            return "damaged"
        if len(states) > 1:
            return "incomplete"
        return "ready" if states == {"ready"} else "missing"


class ModelStore:
    """Models below ``root``, one folder each: those that have a manifest, and repositories of the hub that were pulled.

    A file is looked for in ``model_dirs`` first (``DIR/MODEL/FILE``, read only; the models that a container mounts),
    then in ``root``, then in an installed package that the manifest names. ``wheelhouse`` is a folder of archives that
    a pull tries before any index. Only the two methods that pull use the network. Thread-safe.
    """

    def __init__(
        self,
        root: Path,
        model_dirs: Sequence[Path] = (),
        wheelhouse: Path | None = None,
        *,
        manifests: Mapping[str, Manifest] | None = None,
        tools: Tools | None = None,
    ) -> None:
        self.root = root
        self._model_dirs = tuple(model_dirs)
        self._wheelhouse = wheelhouse
        self._manifests = shipped_manifests() if manifests is None else manifests
        self._tools = tools or system_tools()
        self._verifier = Verifier(root / ".verified.json")

    @property
    def embedded(self) -> tuple[str, ...]:
        """Names of the models that set-up pulls, so that nothing is fetched at run time."""
        return tuple(manifest.name for manifest in self._manifests.values() if manifest.embedded)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all known models."""
        return (*self._manifests, *pinned(self._folders))

    def manifest(self, model: str) -> Manifest:
        """Raises ``NotFound`` for a name that no manifest has, ``ModelUnavailable`` for a repository of the hub
        (``owner/name``) that was not pulled."""
        manifest = self._manifests.get(model)
        if manifest is None and is_hub_id(model):
            manifest = read_pin(model, self._folders)
            if manifest is None:
                raise ModelUnavailable(
                    f"{model} is not on this machine: run `antiphon models pull {model}` (from the Hugging Face hub)"
                )
        if manifest is None:
            raise NotFound(
                f"there is no model {model!r}; known are {', '.join(self.names)}, and repositories of the Hugging Face "
                "hub as owner/name",
                "model",
            )
        return manifest

    @property
    def _folders(self) -> tuple[Path, ...]:
        return (*self._model_dirs, self.root)

    def path(self, model: str, file: str) -> Path:
        """Where a checked file of a model lies. Raises ``ModelUnavailable`` (missing or damaged) or ``NotFound``."""
        manifest = self.manifest(model)
        if (entry := manifest.file(file)) is None:
            known = ", ".join(entry.name for entry in manifest.files)
            raise NotFound(f"the model {model} has no file {file!r}; it has {known}", "file")
        return _usable(manifest, self._locate(manifest, entry))

    def folder(self, model: str) -> Path:
        """The folder that holds *all* files of a model, checked, for libraries that load folders.

        Raises ``ModelUnavailable`` if something is missing or damaged, ``NotFound``.
        """
        manifest = self.manifest(model)
        folders = {
            _usable(manifest, status).parents[status.file.name.count("/")] for status in self.status(model)[0].files
        }
        if len(folders) > 1:
            raise ModelUnavailable(f"the files of {model} lie in several folders: {', '.join(map(str, folders))}")
        return folders.pop()

    def status(self, *models: str, full: bool = False) -> tuple[ModelStatus, ...]:
        """State of the named models (all if none is named); ``full`` hashes every file. Raises ``NotFound``."""
        manifests = [self.manifest(model) for model in models or self.names]
        return tuple(
            ModelStatus(manifest, tuple(self._locate(manifest, file, full=full) for file in manifest.files))
            for manifest in manifests
        )

    def pull(
        self,
        models: Sequence[str] = (),
        progress: ProgressCallback = ignore_progress,
        *,
        wheelhouse: Path | None = None,
    ) -> None:
        """Fetch what is missing or damaged of the named models (the embedded set if none is named), model by model.

        ``wheelhouse`` is tried before the store's own. What goes wrong leaves nothing half-written: a model's files are
        put in place together when all of them are right. A repository of the hub is pinned by its first pull. Raises
        ``ModelUnavailable``, ``NotFound``.
        """
        names = models or self.embedded
        unpinned = {name for name in names if self._is_unpinned(name)}
        for name in names:
            if name not in unpinned:
                self.manifest(name)
        with _plain_errors(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            waiting = PullProgress(names[0] if names else "", "waiting")
            with locked(self.root / ".lock", lambda: progress(waiting)):
                self._remove_leftovers()
                with (
                    tempfile.TemporaryDirectory(prefix=_STAGING_PREFIX, dir=self.root) as staging,
                    closing(self._archives(Path(staging), wheelhouse, progress)) as archives,
                ):
                    for name in names:
                        if name in unpinned:
                            progress(PullProgress(name, "downloading", "its list of files"))
                            manifest = ask_hub(name, self._tools, Path(staging))
                            self._pull_one(manifest, Path(staging), archives, progress)
                            (self.root / name).mkdir(parents=True, exist_ok=True)
                            (self.root / name / PIN).write_text(pin_text(manifest), "utf-8")  # last: now it is whole
                        else:
                            self._pull_one(self.manifest(name), Path(staging), archives, progress)

    def _is_unpinned(self, name: str) -> bool:
        try:
            return name not in self._manifests and is_hub_id(name) and read_pin(name, self._folders) is None
        except ModelUnavailable:  # it was spoilt
            return True

    def fill_wheelhouse(
        self, wheelhouse: Path, models: Sequence[str] = (), progress: ProgressCallback = ignore_progress
    ) -> None:
        """Copy all archives of the named models (the embedded set if none is named) into the folder ``wheelhouse``.

        With it, ``pull`` works without any index. Raises ``ModelUnavailable``, ``NotFound``.
        """
        manifests = [self.manifest(model) for model in models or self.embedded]
        with _plain_errors(wheelhouse):
            wheelhouse.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=_STAGING_PREFIX, dir=wheelhouse) as staging:
                archives = self._archives(Path(staging), wheelhouse, progress)
                for manifest in manifests:
                    fill_wheelhouse(manifest, wheelhouse, archives, self._tools)
                    progress(PullProgress(manifest.name, "ready", done_bytes=manifest.size, total_bytes=manifest.size))

    def _pull_one(self, manifest: Manifest, staging: Path, archives: Archives, progress: ProgressCallback) -> None:
        lacking = [file for file in manifest.files if self._locate(manifest, file, full=True).state != "ready"]
        if lacking:
            needed, free = bytes_needed(lacking, archives), self._tools.free_bytes(self.root)
            if needed > free:
                raise OSError(errno.ENOSPC, f"{_megabytes(needed)} are needed, {_megabytes(free)} are free")
            build = staging / manifest.name
            build.mkdir(parents=True)
            target = self.root / manifest.name
            fetch_model(manifest, lacking, target, build, archives, self._tools, progress)
            for file in lacking:
                self._verifier.check(target / file.name, file)  # stamp it, so that the first start is fast as well
        progress(PullProgress(manifest.name, "ready", done_bytes=manifest.size, total_bytes=manifest.size))

    def _archives(self, staging: Path, wheelhouse: Path | None, progress: ProgressCallback) -> Archives:
        folder = staging / ".archives"
        folder.mkdir()
        wheelhouses = [path for path in (wheelhouse, self._wheelhouse) if path is not None]
        return Archives(folder, wheelhouses, self._tools, progress)

    def _locate(self, manifest: Manifest, file: ModelFile, *, full: bool = False) -> FileStatus:
        """The first sound copy, or else the first damaged one."""
        status = FileStatus(file, "missing", None)
        for path in self._places(manifest, file):
            state = self._verifier.check(path, file, full=full)
            if state == "ready":
                return FileStatus(file, state, path)
            if state == "damaged" and status.path is None:
                status = FileStatus(file, state, path)
        return status

    def _places(self, manifest: Manifest, file: ModelFile) -> list[Path]:
        places = [folder / manifest.name / file.name for folder in self._folders]
        for source in file.sources:
            if isinstance(source, FromInstalled) and (package := self._tools.package_folder(source.package)):
                places.append(package / source.path)
        return places

    def _remove_leftovers(self) -> None:
        """Staging folders of pulls that were killed; we hold the lock, so none is in use."""
        for leftover in self.root.glob(f"{_STAGING_PREFIX}*"):
            shutil.rmtree(leftover, ignore_errors=True)


def _usable(manifest: Manifest, status: FileStatus) -> Path:
    if status.state == "ready" and status.path is not None:
        return status.path
    what = "is missing" if status.path is None else f"is damaged ({status.path})"
    raise ModelUnavailable(
        f"{status.file.name} of the model {manifest.name} {what}: run `antiphon models pull {manifest.name}`"
    )


@contextmanager
def _plain_errors(folder: Path) -> Iterator[None]:
    """Turn what the operating system says about ``folder``, which we write to, into words a user can act on."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"the disk of {folder} is full ({reason}). Free some space, or choose another models folder"
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            message = f"{folder} cannot be written ({reason}). Choose a models folder of your own"
        else:
            message = f"{folder}: {reason}{f' ({error.filename})' if error.filename else ''}"
        raise ModelUnavailable(message) from error


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
