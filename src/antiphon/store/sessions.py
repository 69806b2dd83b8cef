"""Conversations that wait for their clients while no server runs them: sealed, in SQLite, and not for long.

A client comes back with its token. What is kept is encrypted (AES-256-GCM) with a key that is made of the token, of
which the file has only a digest: whoever has the file alone can read nothing of it. Several servers may share a file.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from antiphon.core.errors import AntiphonError
from antiphon.store.lock import try_lock

BEAT_S = 10.0
"""How often the one who runs sessions says that it is still there."""
_NONCE_BYTES = 12
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS waiting (digest BLOB PRIMARY KEY, session TEXT NOT NULL, owner TEXT NOT NULL, "
    "until_s REAL NOT NULL, sealed BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS waiting_sessions ON waiting (session)",
)
_LOOK_UP_S, _WRITE_S = 1.0, 5.0
"""How long a locked file is waited for. Reading is held up only while a transaction is being written out."""


class SessionsUnavailable(AntiphonError):
    """The file cannot be read or written."""


class StillRunning(AntiphonError):
    """The session is another process's, which has yet to let go of it."""


class SessionStore:
    """``path`` is made with the first session. Methods raise ``SessionsUnavailable``. Belongs to no thread: every call
    opens the file.

    ``unix_time_s``: rows are gone when it has passed their ``until_s``.
    """

    def __init__(self, path: Path, unix_time_s: Callable[[], float]) -> None:
        self._path = path
        self._unix_time_s = unix_time_s
        self._me = secrets.token_hex(8)
        self._lock: FileIO | None = None

    def put(self, session: str, tokens: Sequence[str], data: bytes, until_s: float, *, running: bool = False) -> None:
        """Keep this of a session, instead of what there was, for whoever has one of the ``tokens``. ``running``: this
        process still runs it, and nobody else may, as long as it lives."""
        if running:
            self._hold()
        owner = self._me if running else ""
        rows = [(_digest(token), session, owner, until_s, _sealed(token, data)) for token in tokens]
        with self._open(_WRITE_S) as base:
            base.execute("DELETE FROM waiting WHERE session = ? OR until_s < ?", (session, self._unix_time_s()))
            base.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?)", rows)

    def take(self, token: str, accept: Callable[[bytes], bool]) -> bytes | None:
        """What was kept for this token, once; None: nothing, or nothing that the caller accepts. Raises
        ``StillRunning``."""
        if not self._path.exists():
            return None
        with self._reading() as base:  # whoever has no right to anything holds up nobody who writes
            made = base.execute("SELECT 1 FROM sqlite_master WHERE name = 'waiting'").fetchone()
            if made is None or self._look_up(base, token, accept) is None:
                return None
        with self._open(_WRITE_S) as base:
            found = self._look_up(base, token, accept)  # somebody else may have taken it meanwhile
            if found is None:
                return None
            session, data = found
            base.execute("DELETE FROM waiting WHERE session = ?", (session,))
            return data

    def drop(self, session: str) -> None:
        """It is over."""
        if self._path.exists():
            with self._open(_WRITE_S) as base:
                base.execute("DELETE FROM waiting WHERE session = ?", (session,))

    def tidy(self, until_s: float | None = None) -> None:
        """What is too old goes. ``until_s``: so long, at least, what this process runs is to be kept."""
        if not self._path.exists():
            return
        with self._open(_WRITE_S) as base:
            if until_s is not None:
                base.execute("UPDATE waiting SET until_s = ? WHERE owner = ?", (until_s, self._me))
            base.execute("DELETE FROM waiting WHERE until_s < ?", (self._unix_time_s(),))
            owners = {owner for (owner,) in base.execute("SELECT DISTINCT owner FROM waiting")}
        for lock in self._path.parent.glob(self._lock_path("*").name):
            owner = lock.name[len(self._path.name) + 1 : -len(".lock")]
            if owner not in owners and owner != self._me and not self._lives(owner):
                lock.unlink(missing_ok=True)

    def close(self) -> None:
        """What this process runs, it does not any more."""
        if self._lock is not None:
            self._lock.close()
            self._lock_path(self._me).unlink(missing_ok=True)
            self._lock = None

    def _look_up(
        self, base: sqlite3.Connection, token: str, accept: Callable[[bytes], bool]
    ) -> tuple[str, bytes] | None:
        """The session and what was kept of it. Raises ``StillRunning``."""
        row = base.execute(
            "SELECT session, owner, sealed FROM waiting WHERE digest = ? AND until_s >= ?",
            (_digest(token), self._unix_time_s()),
        ).fetchone()
        if row is None:
            return None
        session, owner, sealed = row
        data = _opened(token, sealed)
        if data is None or not accept(data):
            return None
        if owner and self._lives(owner):
            raise StillRunning("another server still runs this session, and is about to let go of it; try again")
        return session, data

    def _hold(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            while self._lock is None:
                path = self._lock_path(self._me)
                file = open(path, "ab+", buffering=0)  # noqa: SIM115
                if try_lock(file) and path.exists():
                    self._lock = file
                else:  # another process has just looked whether somebody holds it, and may tidy it away
                    file.close()
                    self._me = secrets.token_hex(8)
        except OSError as error:
            raise SessionsUnavailable(f"agent.sessions: {self._path}: {error.strerror}") from None

    def _lives(self, owner: str) -> bool:
        if owner == self._me:
            return True
        try:
            with open(self._lock_path(owner), "rb+", buffering=0) as file:
                return not try_lock(file)
        except OSError:
            return False

    def _lock_path(self, owner: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{owner}.lock")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Without a transaction: nothing is locked for longer than one statement, and never for writing."""
        try:
            # Not "ro": what a process that died left half written is rolled back by whoever reads next.
            base = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=rw", timeout=_LOOK_UP_S, uri=True)
            try:
                yield base
            finally:
                base.close()
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from None

    @contextmanager
    def _open(self, wait_s: float) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            base = sqlite3.connect(self._path, timeout=wait_s, isolation_level=None)
            try:
                base.execute("PRAGMA secure_delete = ON")
                base.execute("BEGIN IMMEDIATE")
                with base:
                    for statement in _SCHEMA:
                        base.execute(statement)
                    yield base
            finally:
                base.close()
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from None

    def _unavailable(self, error: Exception) -> SessionsUnavailable:
        return SessionsUnavailable(f"agent.sessions: {self._path}: {error}")


def _digest(token: str) -> bytes:
    return hashlib.sha256(b"antiphon session digest\0" + token.encode()).digest()


def _cipher(token: str) -> AESGCM:
    """A token is random, so its hash is a key."""
    return AESGCM(hashlib.sha256(b"antiphon session key\0" + token.encode()).digest())


def _sealed(token: str, data: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + _cipher(token).encrypt(nonce, data, None)


def _opened(token: str, sealed: bytes) -> bytes | None:
    with suppress(InvalidTag):
        return _cipher(token).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None)
    return None
