"""Reports in a local SQLite file: found again by number, by name, or by words of their notes and failures."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from antiphon.bench.report import Report, json_bytes
from antiphon.core.errors import InvalidInput, NotFound

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, title TEXT NOT NULL, systems TEXT NOT NULL,
    source TEXT NOT NULL, faults INTEGER NOT NULL, body BLOB NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, systems, notes, failures, conditions, tokenize='porter');
"""
VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored report in a list. ``faults``: that were found, over systems and loads. ``excerpt``: where a search
    hit."""

    id: int
    at: str
    title: str
    systems: str
    source: str
    faults: int
    excerpt: str = ""


class Library:
    """``path`` is made when the first report is kept. Raises ``InvalidInput`` where it cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self, report: Report) -> int:
        """Store ``report``; its number."""
        systems = ", ".join(dict.fromkeys(group.system for group in report.groups))
        faults = sum(len(group.faults) for group in report.groups)
        at = report.conditions
        with self._open() as base:
            cursor = base.execute(
                "INSERT INTO reports (at, title, systems, source, faults, body) VALUES (?, ?, ?, ?, ?, ?)",
                (at.at, report.title, systems, at.git, faults, zlib.compress(json_bytes(report))),
            )
            number = int(cursor.lastrowid or 0)
            base.execute(
                "INSERT INTO words (rowid, title, systems, notes, failures, conditions) VALUES (?, ?, ?, ?, ?, ?)",
                (number, report.title, systems, _notes(report), "\n".join(failures(report)), _conditions(report)),
            )
        return number

    def newest(self, limit: int = 20) -> list[Entry]:
        """The newest first."""
        with self._open() as base:
            rows = base.execute(
                "SELECT id, at, title, systems, source, faults, '' FROM reports ORDER BY id DESC LIMIT ?", (limit,)
            ).fetchall()
        return [Entry(*row) for row in rows]

    def search(self, query: str, limit: int = 20) -> list[Entry]:
        """Reports whose notes, failures, systems or conditions hold the words of ``query``, best first.

        FTS5's syntax works ("a phrase", OR, prefix*); what is none is taken as plain words.
        """
        find = (
            "SELECT reports.id, at, reports.title, reports.systems, source, faults, "
            "snippet(words, -1, '[', ']', ' ... ', 16) FROM words JOIN reports ON reports.id = words.rowid "
            "WHERE words MATCH ? ORDER BY rank LIMIT ?"
        )
        with self._open() as base:
            try:
                rows = base.execute(find, (query, limit)).fetchall()
            except sqlite3.OperationalError:
                plain = " ".join('"' + word.replace('"', '""') + '"' for word in query.split())
                rows = base.execute(find, (plain, limit)).fetchall() if plain else []
        return [Entry(*row) for row in rows]

    def report(self, number: int) -> Report:
        """Raises ``NotFound``."""
        with self._open() as base:
            row = base.execute("SELECT body FROM reports WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise NotFound(f"there is no report {number}; `antiphon bench list` shows those there are")
        return read(zlib.decompress(row[0]))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(self._path, timeout=30.0)
        except (OSError, sqlite3.Error) as error:
            raise InvalidInput(f"cannot open the reports in {self._path}: {error}", "bench.db") from None
        try:
            with base:
                base.executescript(_SCHEMA)
                base.execute(f"PRAGMA user_version = {VERSION}")
                yield base
        except sqlite3.Error as error:
            raise InvalidInput(f"{self._path}: {error}", "bench.db") from None
        finally:
            base.close()


def read(body: bytes) -> Report:
    """A report from its JSON. Raises ``InvalidInput`` for anything else."""
    try:
        return msgspec.json.decode(body, type=Report)
    except msgspec.DecodeError as error:
        raise InvalidInput(f"this is no report of the bench: {error}", "report") from None


def read_file(path: Path) -> Report:
    """Raises ``InvalidInput`` naming the file."""
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "report") from None
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}", "report") from None


def failures(report: Report) -> list[str]:
    """One line for each fault that was found, and for each error that requests failed with."""
    lines = [
        f"{group.system}, {group.load}: {fault.kind} ({fault.component}): {fault.text}"
        for group in report.groups
        for fault in group.faults
    ]
    errors = {take.error for group in report.groups for take in group.takes if take.error}
    return lines + sorted(errors)


def _notes(report: Report) -> str:
    return "\n".join([*report.conditions.notes, *(note for table in report.tables for note in table.notes)])


def _conditions(report: Report) -> str:
    at = report.conditions
    names = [*at.packages, *at.models, *at.workloads, *(f"{name} {value}" for name, value in at.settings.items())]
    return "\n".join([at.cpu, at.machine, at.system, at.git, at.network, at.region, *names])
