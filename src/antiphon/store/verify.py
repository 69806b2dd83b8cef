"""Are a model's files what the manifest says? By hash, or quickly by the stamp of an earlier check."""

import json
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from antiphon.store.hashing import sha256_of
from antiphon.store.manifest import ModelFile

FileState: TypeAlias = Literal["ready", "missing", "damaged"]

Stamp: TypeAlias = tuple[int, int, str]
"""Size in bytes, modification time in nanoseconds and SHA-256 of a file when it was last hashed."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file of a model; ``path`` is where it lies (None: nowhere)."""

    file: ModelFile
    state: FileState
    path: Path | None


class Verifier:
    """Checks files by hash and remembers the result in ``stamps`` (a JSON file), so that a server starts fast.

    A file whose size and modification time have not changed since it was hashed is not hashed again, unless asked to.
    Where the stamps cannot be written (a read-only disk) every process hashes once. Thread-safe.
    """

    def __init__(self, stamps: Path) -> None:
        self._file = stamps
        self._lock = threading.Lock()
        self._stamps = _read(stamps)

    def check(self, path: Path, file: ModelFile, *, full: bool = False) -> FileState:
        """State of one file at ``path``; ``full`` hashes whatever the stamp says."""
        try:
            before = path.stat()
            if not path.is_file():
                return "missing"
            if before.st_size != file.size:
                return "damaged"
            known = self._stamps.get(str(path))
            if not full and known == (before.st_size, before.st_mtime_ns, file.sha256):
                return "ready"
            actual = sha256_of(path)
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except OSError:  # unreadable: to the user the same as broken
            return "damaged"
        self._remember(str(path), (before.st_size, before.st_mtime_ns, actual))
        return "ready" if actual == file.sha256 else "damaged"

    def _remember(self, path: str, stamp: Stamp) -> None:
        with self._lock:
            if self._stamps.get(path) == stamp:
                return
            self._stamps = {**_read(self._file), **self._stamps, path: stamp}
            partial = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            try:
                partial.write_text(json.dumps(self._stamps, indent=0), "utf-8")
                partial.replace(self._file)
            except OSError:
                with suppress(OSError):
                    partial.unlink()


def _read(path: Path) -> dict[str, Stamp]:
    try:
        table = json.loads(path.read_text("utf-8"))
        return {str(key): (int(size), int(mtime_ns), str(sha256)) for key, (size, mtime_ns, sha256) in table.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # lost or spoilt stamps only cost a hash
