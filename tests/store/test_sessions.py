import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from antiphon.store.sessions import SessionStore, SessionsUnavailable, StillRunning

NOW_S = 1_764_590_400.0


class Time:
    def __init__(self) -> None:
        self.now_s = NOW_S

    def __call__(self) -> float:
        return self.now_s


def anything(data: bytes) -> bool:
    return True


def store(folder: Path, time: Time | None = None) -> SessionStore:
    return SessionStore(folder / "sessions.db", time or Time())


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Another process is in the middle of a transaction."""
    with closing(sqlite3.connect(folder / "sessions.db", isolation_level=None)) as base:
        base.execute("BEGIN IMMEDIATE")
        yield


def test_another_process_takes_it_once_with_any_of_its_tokens(tmp_path: Path) -> None:
    store(tmp_path).put("as_1", ["one", "two"], b"what was said", NOW_S + 30)
    other = store(tmp_path)
    assert other.take("three", anything) is None
    assert other.take("one", anything) == b"what was said"
    assert other.take("one", anything) is None
    assert other.take("two", anything) is None


def test_the_newest_state_counts_and_old_tokens_do_not(tmp_path: Path) -> None:
    first = store(tmp_path)
    first.put("as_1", ["one", "two"], b"old", NOW_S + 30)
    first.put("as_1", ["two", "three"], b"new", NOW_S + 30)
    assert first.take("one", anything) is None
    assert first.take("three", anything) == b"new"


def test_it_is_gone_when_its_time_is_over(tmp_path: Path) -> None:
    time = Time()
    kept = store(tmp_path, time)
    kept.put("as_1", ["one"], b"x" * 50, NOW_S + 30)
    time.now_s += 31
    assert kept.take("one", anything) is None
    kept.tidy()
    time.now_s = NOW_S
    assert kept.take("one", anything) is None
    kept.put("as_1", ["one"], b"again", NOW_S + 30)
    kept.drop("as_1")
    assert kept.take("one", anything) is None


def test_who_is_not_accepted_leaves_it_for_its_owner(tmp_path: Path) -> None:
    kept = store(tmp_path)
    kept.put("as_1", ["one"], b"alice's", NOW_S + 30)
    assert kept.take("one", lambda data: data == b"bob's") is None
    assert kept.take("one", anything) == b"alice's"


def test_who_gets_nothing_writes_nothing(tmp_path: Path) -> None:
    first, second = store(tmp_path), store(tmp_path)
    first.put("as_1", ["one"], b"running", NOW_S + 30, running=True)
    first.put("as_2", ["two"], b"alice's", NOW_S + 30)
    with writing(tmp_path):
        assert second.take("bogus", anything) is None
        assert second.take("two", lambda data: False) is None
        with pytest.raises(StillRunning):
            second.take("one", anything)


def test_of_those_who_ask_at_once_one_gets_it(tmp_path: Path) -> None:
    many = 8
    asking = threading.Barrier(many)

    def ask(kept: SessionStore) -> bytes | None:
        asking.wait(10.0)
        return kept.take("one", anything)

    with ThreadPoolExecutor(many) as pool:
        for _ in range(5):
            store(tmp_path).put("as_1", ["one"], b"once", NOW_S + 30)
            got = list(pool.map(ask, [store(tmp_path) for _ in range(many)]))
            assert sorted(got, key=bool) == [None] * (many - 1) + [b"once"]


def test_a_file_that_was_only_just_made_has_nothing(tmp_path: Path) -> None:
    (tmp_path / "sessions.db").touch()
    assert store(tmp_path).take("one", anything) is None


def test_the_file_alone_says_nothing(tmp_path: Path) -> None:
    kept = store(tmp_path)
    kept.put("as_1", ["the token"], b"my number is 555-867-5309", NOW_S + 30)
    content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"as_1" in content
    for secret in (b"the token", b"555-867-5309", b"my number"):
        assert secret not in content
    assert (tmp_path / "sessions.db").stat().st_mode & 0o077 == 0


def test_what_a_living_process_runs_is_nobody_elses_and_a_dead_ones_is(tmp_path: Path) -> None:
    time = Time()
    first, second = store(tmp_path, time), store(tmp_path, time)
    first.put("as_1", ["one"], b"running", NOW_S + 30, running=True)
    with pytest.raises(StillRunning):
        second.take("one", anything)
    time.now_s += 29
    first.tidy(time.now_s + 30)  # it beats
    time.now_s += 29
    second.tidy()
    with pytest.raises(StillRunning):
        second.take("one", anything)
    first.close()  # as when the process dies
    assert second.take("one", anything) == b"running"


def test_locks_of_the_dead_are_tidied_away_and_those_of_the_living_not(tmp_path: Path) -> None:
    first, second = store(tmp_path), store(tmp_path)
    first.put("as_1", ["one"], b"running", NOW_S + 30, running=True)
    (tmp_path / "sessions.db.0123456789abcdef.lock").touch()
    second.tidy()
    assert len(list(tmp_path.glob("*.lock"))) == 1
    first.close()
    assert not list(tmp_path.glob("*.lock"))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    broken = SessionStore(tmp_path / "file" / "sessions.db", Time())
    with pytest.raises(SessionsUnavailable, match=r"agent\.sessions"):
        broken.put("as_1", ["one"], b"x", NOW_S + 30)
    with pytest.raises(SessionsUnavailable):
        broken.put("as_1", ["one"], b"x", NOW_S + 30, running=True)
    assert broken.take("one", anything) is None
