"""Repositories of the Hugging Face hub that no manifest names: the first pull pins them.

What a pull finds is written down as a manifest of its own beside the files: the commit, and each file's hash. From then
on the model is checked like any other, a pull repairs it from the same commit, and a copy of the folder is complete.
"""

import json
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from antiphon.core.errors import ModelUnavailable
from antiphon.store.hashing import sha256_of
from antiphon.store.manifest import FromHub, Manifest, ModelFile, parse_manifest
from antiphon.store.tools import HubFile, Tools

PIN = "antiphon.toml"
"""Name of the manifest in a pulled repository's folder."""

_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_NO_WEIGHTS = (".md", ".wav", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".gitattributes", ".gitignore")
_HINT = (
    "Check the network and the name; or fetch the repository elsewhere, copy its files into a folder here and name the "
    "folder in the settings"
)


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    size: int
    sha256: str


def is_hub_id(name: str) -> bool:
    """Whether ``name`` could be a repository's (``owner/name``)."""
    return _ID.fullmatch(name) is not None


def read_pin(repo: str, folders: Iterable[Path]) -> Manifest | None:
    """The manifest that a pull of ``repo`` wrote into the first of ``folders`` that has one (``FOLDER/OWNER/NAME``).

    Raises ``ModelUnavailable`` if it was spoilt.
    """
    for folder in folders:
        path = folder / repo / PIN
        try:
            manifest = parse_manifest(path.read_text("utf-8"), str(path))
            if manifest.name != repo:
                raise ValueError(f"it is the manifest of {manifest.name}")
            return manifest
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"{path} cannot be read ({error}); run `antiphon models pull {repo}`") from error
    return None


def pinned(folders: Iterable[Path]) -> list[str]:
    """Names of all repositories that were pulled into ``folders``."""
    found = {path.parent.relative_to(folder).as_posix() for folder in folders for path in folder.glob(f"*/*/{PIN}")}
    return sorted(found)


def ask_hub(repo: str, tools: Tools, staging: Path) -> Manifest:
    """Pin ``repo`` as it is now. Hashes of large files are the hub's own; small ones are fetched into ``staging``.

    Raises ``ModelUnavailable`` where the hub does not answer, or has nothing there.
    """
    try:
        listing = tools.hub_files(repo)
        files = [_found(repo, listing.revision, file, tools, staging) for file in listing.files if _is_model(file.name)]
    except Exception as error:  # the hub client has many kinds of its own
        reason = str(error).partition("\n")[0]
        raise ModelUnavailable(f"{repo}: the Hugging Face hub gave no list of files ({reason}). {_HINT}") from error
    if not files:
        raise ModelUnavailable(f"{repo} has no model files")
    entries = (
        ModelFile(file.name, file.sha256, file.size, (FromHub(repo, listing.revision, file.name),)) for file in files
    )
    return Manifest(
        name=repo,
        family="hub",
        kind="stt",
        description=f"from the hub, as of {listing.revision[:8]}",
        licence=listing.licence or "see the hub",
        languages=listing.languages,
        embedded=False,
        files=tuple(entries),
    )


def pin_text(manifest: Manifest) -> str:
    """A manifest of :func:`ask_hub` as TOML (its strings are JSON's, which TOML reads as well)."""
    lines = [f"{key} = {json.dumps(getattr(manifest, key))}" for key in ("name", "family", "kind")]
    lines += [f"description = {json.dumps(manifest.description)}", f"licence = {json.dumps(manifest.licence)}"]
    lines += [f"languages = {json.dumps(manifest.languages)}", "embedded = false"]
    for file in manifest.files:
        (source,) = file.sources
        assert isinstance(source, FromHub)
        where = ", ".join(
            f"{key} = {json.dumps(value)}"
            for key, value in (("hub", source.repo), ("revision", source.revision), ("path", source.path))
        )
        lines += ["", "[[files]]", f"name = {json.dumps(file.name)}", f"sha256 = {json.dumps(file.sha256)}"]
        lines += [f"size = {file.size}", f"sources = [{{ {where} }}]"]
    return "\n".join(lines) + "\n"


def _is_model(name: str) -> bool:
    return not name.lower().endswith(_NO_WEIGHTS) and name != PIN and ".." not in PurePosixPath(name).parts


def _found(repo: str, revision: str, file: HubFile, tools: Tools, staging: Path) -> _Found:
    if file.sha256 is not None and file.size is not None:
        return _Found(file.name, file.size, file.sha256)
    path = tools.hub_download(repo, revision, file.name, Path(tempfile.mkdtemp(dir=staging)))
    return _Found(file.name, path.stat().st_size, sha256_of(path))
