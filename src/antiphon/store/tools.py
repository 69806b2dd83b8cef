"""The outside world as the store sees it: programs, the hub, installed packages, free space. Tests pass their own."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

Runner: TypeAlias = Callable[[Sequence[str], Callable[[str], None]], int]
"""Run a program, give each line that it prints to the callback, return its exit status."""

HubDownload: TypeAlias = Callable[[str, str, str, Path], Path]
"""(repo, revision, file, folder) -> path of the downloaded file below the folder."""



@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository. ``sha256`` is None for small files, of which the hub knows no hash of this kind."""

    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class HubListing:
    """What a repository holds at the commit ``revision``."""

    revision: str
    files: tuple[HubFile, ...]
    licence: str = ""
    languages: tuple[str, ...] = ()


HubFiles: TypeAlias = Callable[[str], HubListing]
"""Ask the hub what a repository holds now."""

_STOP_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Tools:
    """Every effect of the store outside its own folder."""

    run: Runner
    python: str
    npm: Callable[[], str | None]
    """Path of the npm program, None where there is none."""
    hub_download: HubDownload
    hub_files: HubFiles
    package_folder: Callable[[str], Path | None]
    """Folder of an installed package, found without importing it; None if it is not installed."""
    free_bytes: Callable[[Path], int]
    create: Callable[[Path], BinaryIO]
    """Open a new file for writing."""


def system_tools() -> Tools:
    """The real ones."""
    return Tools(
        run=run_program,
        python=sys.executable,
        npm=lambda: shutil.which("npm"),
        hub_download=download_from_hub,
        hub_files=list_hub_files,
        package_folder=find_package,
        free_bytes=lambda folder: shutil.disk_usage(folder).free,
        create=lambda path: path.open("xb"),
    )


def run_program(argv: Sequence[str], on_line: Callable[[str], None]) -> int:
    """Run a program with its output read line by line; if we are interrupted it is stopped before we go on."""
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                on_line(line.rstrip())
            return process.wait()
        except BaseException:
            # terminate first: pip and npm then remove their own temporary files
            process.terminate()
            try:
                process.wait(_STOP_GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


def find_package(name: str) -> Path | None:
    """Folder of a top-level package, by its import spec only: nothing of it is executed."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def download_from_hub(repo: str, revision: str, file: str, folder: Path) -> Path:
    # imported here: it is slow to import, and most installs never use it
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(repo, file, revision=revision, local_dir=folder))


def list_hub_files(repo: str) -> HubListing:
    from huggingface_hub import HfApi

    found = HfApi().model_info(repo, files_metadata=True)
    files = (
        HubFile(entry.rfilename, entry.size, entry.lfs.sha256 if entry.lfs is not None else None)
        for entry in found.siblings or ()
    )
    card = found.card_data
    languages = (card.language if card is not None else None) or ()
    licence = (card.license if card is not None else None) or ""
    codes = (languages,) if isinstance(languages, str) else languages
    return HubListing(found.sha or "", tuple(files), str(licence), tuple(map(str, codes)))
