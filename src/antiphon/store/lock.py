"""One pull at a time in a store, across threads and processes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol


class _HasFileno(Protocol):
    def fileno(self) -> int: ...


if sys.platform == "win32":
    import msvcrt

    def try_lock(file: _HasFileno) -> bool:
        """Lock an open file until it is closed, if nobody else has."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait_for_lock(file: IO[bytes]) -> None:
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # gives up after ten seconds
            except OSError:
                continue
            return

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(file: _HasFileno) -> bool:
        """Lock an open file until it is closed, if nobody else has. Raises ``OSError`` where files cannot be locked."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait_for_lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file at ``path``; ``on_wait`` is called once if another holds it.

    The operating system drops the lock when its holder dies, so a killed pull never blocks the next.
    The file stays.
    """
    with path.open("a+b") as file:
        if not try_lock(file):
            on_wait()
            _wait_for_lock(file)
        try:
            yield
        finally:
            _unlock(file)
