import threading
from pathlib import Path

import pytest

from antiphon.core.errors import AtCapacity
from antiphon.server.agent.keeping import SessionKeeper
from antiphon.store.sessions import SessionStore

NOW_S = 1_764_590_400.0


def anything(data: bytes) -> bool:
    return True


def keeper(folder: Path, told: list[str] | None = None) -> SessionKeeper:
    store = SessionStore(folder / "sessions.db", lambda: NOW_S)
    report = (told if told is not None else []).append
    return SessionKeeper(store, 30.0, lambda: NOW_S, report)


def test_what_was_put_away_is_found_by_the_next_process(tmp_path: Path) -> None:
    first, written = keeper(tmp_path), threading.Event()
    first.keep("as_1", ["token"], b"words", done=written.set)
    assert written.wait(10.0)
    assert keeper(tmp_path).take("token", anything) == b"words"
    assert first.close()


def test_all_that_waits_is_written_at_the_end_and_what_is_over_is_not_kept(tmp_path: Path) -> None:
    first = keeper(tmp_path)
    for index in range(20):
        first.keep("as_1", ["token"], b"%d" % index)
        first.keep("as_2", ["other"], b"%d" % index, running=True)
    first.drop("as_2")
    assert first.close()
    second = keeper(tmp_path)
    assert second.take("token", anything) == b"19"
    assert second.take("other", anything) is None
    assert second.close()


def test_a_session_that_still_runs_elsewhere_may_be_asked_for_again_and_that_of_a_dead_process_is_found(
    tmp_path: Path,
) -> None:
    first, second, written = keeper(tmp_path), keeper(tmp_path), threading.Event()
    first.keep("as_1", ["token"], b"words", running=True, done=written.set)
    assert written.wait(10.0)
    with pytest.raises(AtCapacity, match="try again"):
        second.take("token", anything)
    assert first.close()  # it ends without having put it away
    assert second.take("token", anything) == b"words"
    assert second.close()


def test_a_disk_that_cannot_be_written_is_said_once_and_nobody_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    told: list[str] = []
    broken, done = keeper(tmp_path / "file", told), threading.Event()
    broken.keep("as_1", ["token"], b"words")
    broken.keep("as_2", ["other"], b"words", done=done.set)
    assert done.wait(10.0)
    assert broken.take("token", anything) is None
    assert broken.close()
    assert len(told) == 1
    assert "sessions do not outlive this process" in told[0]
