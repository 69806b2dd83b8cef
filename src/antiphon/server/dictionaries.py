"""Pronunciation dictionaries, kept in SQLite: each belongs to a caller (an API key's name) and is nobody else's.

Ids grow with time, so that a list's cursor stays good when the thing it names is deleted meanwhile.
"""

import secrets
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import AntiphonError, InvalidInput
from antiphon.core.speech import Pronunciation
from antiphon.protocol.cartesia_dictionaries import (
    DictionaryBody,
    DictionaryDraft,
    DictionaryPage,
    ItemBody,
    item_body,
    no_dictionary,
)
from antiphon.protocol.cartesia_pages import PageQuery

VERSION = 1
MAX_OF_ONE_OWNER = 1_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS dictionaries (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, items BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dictionaries_of ON dictionaries (owner, id);
"""
_COLUMNS = "id, name, owner, pinned, created_at, items"
_KEPT = 256
"""Dictionaries in use that are kept in memory."""
_BEGIN_S, _LOOK_UP_S, _WRITE_S = 0.2, 1.0, 10.0
"""How long a locked file is waited for; the first by the loop."""

_items = msgspec.json.Decoder(list[ItemBody])


class DictionariesUnavailable(AntiphonError):
    """The file cannot be read or written."""


class Dictionaries:
    """``path`` is made when the first dictionary is. Every call opens the file: several servers may share it.

    Methods raise ``DictionariesUnavailable``, and ``NotFound`` for an id that is not the owner's.
    """

    def __init__(self, path: Path, now_s: Callable[[], float] = unix_time_s) -> None:
        self._path = path
        self._now_s = now_s
        self._known: OrderedDict[str, tuple[int, tuple[Pronunciation, ...]]] = OrderedDict()

    def create(self, owner: str, draft: DictionaryDraft) -> DictionaryBody:
        """Raises ``InvalidInput`` where the owner has too many."""
        now_s = self._now_s()
        number = f"pdict_{int(now_s * 1000):012x}{secrets.token_hex(8)}"
        created_at = datetime.fromtimestamp(now_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        with self._open(_WRITE_S) as base:
            (count,) = base.execute("SELECT count(*) FROM dictionaries WHERE owner = ?", (owner,)).fetchone()
            if count >= MAX_OF_ONE_OWNER:
                raise InvalidInput(f"{MAX_OF_ONE_OWNER} pronunciation dictionaries are enough; delete some first")
            base.execute(
                "INSERT INTO dictionaries (id, owner, name, created_at, items) VALUES (?, ?, ?, ?, ?)",
                (number, owner, draft.name or "", created_at, _encoded(draft.items or ())),
            )
            return self._one(base, owner, number)

    def page(self, owner: str, query: PageQuery) -> DictionaryPage:
        """The newest first."""
        backwards = query.ending_before is not None
        cursor = query.ending_before if backwards else query.starting_after
        beyond = "" if cursor is None else f" AND id {'>' if backwards else '<'} ?"
        find = (
            f"SELECT {_COLUMNS} FROM dictionaries WHERE owner = ?{beyond} "
            f"ORDER BY id {'ASC' if backwards else 'DESC'} LIMIT ?"
        )
        if not self._path.exists():
            return DictionaryPage([], False, None)
        with self._open(_LOOK_UP_S) as base:
            values = (owner, query.limit + 1) if cursor is None else (owner, cursor, query.limit + 1)
            rows = base.execute(find, values).fetchall()
        has_more = len(rows) > query.limit
        found = [_body(row) for row in rows[: query.limit]]
        if backwards:
            found.reverse()
        return DictionaryPage(found, has_more, found[-1].id if has_more and not backwards else None)

    def get(self, owner: str, number: str) -> DictionaryBody:
        self._require(number)
        with self._open(_LOOK_UP_S) as base:
            return self._one(base, owner, number)

    def update(self, owner: str, number: str, draft: DictionaryDraft) -> DictionaryBody:
        self._require(number)
        with self._open(_WRITE_S) as base:
            base.execute(
                "UPDATE dictionaries SET name = coalesce(?, name), items = coalesce(?, items), version = version + 1 "
                "WHERE id = ? AND owner = ?",
                (draft.name, None if draft.items is None else _encoded(draft.items), number, owner),
            )
            return self._one(base, owner, number)

    def pin(self, owner: str, number: str, pinned: bool) -> DictionaryBody:
        self._require(number)
        with self._open(_WRITE_S) as base:
            base.execute(
                "UPDATE dictionaries SET pinned = ? WHERE id = ? AND owner = ?", (int(pinned), number, owner)
            )
            return self._one(base, owner, number)

    def delete(self, owner: str, number: str) -> None:
        self._require(number)
        with self._open(_WRITE_S) as base:
            if not base.execute("DELETE FROM dictionaries WHERE id = ? AND owner = ?", (number, owner)).rowcount:
                raise no_dictionary(number)

    def pronunciations(self, owner: str, number: str) -> tuple[Pronunciation, ...]:
        """What a dictionary says, for a stream that is about to begin: one look-up by key."""
        self._require(number)
        with self._open(_BEGIN_S) as base:
            row = base.execute("SELECT owner, version FROM dictionaries WHERE id = ?", (number,)).fetchone()
            if row is None or row[0] != owner:
                raise no_dictionary(number)
            known = self._known.get(number)
            if known is None or known[0] != row[1]:
                body = self._one(base, owner, number)
                items = tuple(Pronunciation(item.text, item.alias, item.case_sensitive) for item in body.items)
                known = self._known[number] = (row[1], items)
        self._known.move_to_end(number)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return known[1]

    def _require(self, number: str) -> None:
        if not self._path.exists() or not number.startswith("pdict_"):
            raise no_dictionary(number)

    @staticmethod
    def _one(base: sqlite3.Connection, owner: str, number: str) -> DictionaryBody:
        find = f"SELECT {_COLUMNS} FROM dictionaries WHERE id = ? AND owner = ?"
        row = base.execute(find, (number, owner)).fetchone()
        if row is None:
            raise no_dictionary(number)
        return _body(row)

    @contextmanager
    def _open(self, patience_s: float) -> Iterator[sqlite3.Connection]:
        """One transaction. What an owner may not see is said after it is rolled back."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(self._path, timeout=patience_s)
        except (OSError, sqlite3.Error) as error:
            raise DictionariesUnavailable(f"cannot open the dictionaries in {self._path}: {error}") from None
        try:
            with base:
                if base.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    base.execute("PRAGMA journal_mode = WAL")  # who writes keeps nobody from reading
                    base.executescript(_SCHEMA)
                    base.execute(f"PRAGMA user_version = {VERSION}")
                yield base
        except sqlite3.Error as error:
            raise DictionariesUnavailable(f"{self._path}: {error}") from None
        finally:
            base.close()


def _encoded(items: tuple[Pronunciation, ...]) -> bytes:
    return msgspec.json.encode([item_body(item) for item in items])


def _body(row: tuple[str, str, str, int, str, bytes]) -> DictionaryBody:
    number, name, owner, pinned, created_at, items = row
    return DictionaryBody(number, name, owner or "local", bool(pinned), created_at, _items.decode(items))
