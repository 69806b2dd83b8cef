"""Copying and hashing of large files in one pass."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

_BLOCK = 1 << 20


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file. Raises ``OSError``."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def copy_and_hash(
    sources: Sequence[IO[bytes]], target: IO[bytes], on_bytes: Callable[[int], None] | None = None
) -> str:
    """Join ``sources`` into ``target``; returns the SHA-256 of what was written, reports the bytes so far."""
    digest, written = hashlib.sha256(), 0
    for source in sources:
        while block := source.read(_BLOCK):
            target.write(block)
            digest.update(block)
            written += len(block)
            if on_bytes is not None:
                on_bytes(written)
    return digest.hexdigest()
