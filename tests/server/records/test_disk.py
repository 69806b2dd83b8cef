import errno
import os
import threading
from pathlib import Path

import pytest

from antiphon.server.records.disk import DiskQueue, LineFile, day_of, expire, safe_name

NOON = 1_764_590_400.0  # 2025-12-01 12:00 UTC


def test_lines_go_on_in_a_new_file_when_one_is_full_and_on_a_new_day(tmp_path: Path) -> None:
    file = LineFile(tmp_path, "as_1", 50)
    for index in range(5):
        file.write(f"line {index} {'x' * 12}", NOON)
    file.write("tomorrow", NOON + 86_400)
    names = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl"))
    assert names == [
        "2025-12-01/as_1.2.jsonl", "2025-12-01/as_1.3.jsonl", "2025-12-01/as_1.jsonl", "2025-12-02/as_1.jsonl"
    ]  # fmt: skip
    assert (tmp_path / "2025-12-01/as_1.jsonl").read_text().count("\n") == 2
    assert all(path.stat().st_size <= 50 for path in tmp_path.rglob("*.jsonl"))
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.rglob("*") if path.is_file())


def test_a_line_longer_than_a_file_still_goes_somewhere_and_the_next_starts_anew(tmp_path: Path) -> None:
    file = LineFile(tmp_path, "s", 10)
    file.write("x" * 100, NOON)
    file.write("y", NOON)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 2


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = LineFile(tmp_path, "s", 1_000)
    file.write("whole", NOON)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    with pytest.raises(OSError) as raised:
        file.write("another", NOON)
    assert raised.value.errno == errno.ENOSPC
    monkeypatch.undo()
    file.write("third", NOON)
    assert (tmp_path / "2025-12-01/s.jsonl").read_text() == "whole\nthird\n"


def test_a_name_from_outside_is_no_path() -> None:
    assert safe_name("../../etc/passwd") == "______etc_passwd"
    assert safe_name("") == "_"
    assert len(safe_name("a" * 500)) == 80
    assert day_of(NOON) == "2025-12-01"


def test_old_recordings_go_and_others_stay(tmp_path: Path) -> None:
    def put(name: str, days: float) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (NOON - days * 86_400, NOON - days * 86_400))
        return path

    old, fresh = put("log/2025-11-01/a.jsonl", 30), put("log/2025-12-01/b.jsonl", 0.5)
    audio, foreign = put("audio/2025-11-30/a.wav", 2), put("audio/2025-11-30/notes.txt", 99)
    other = put("log/backup/a.jsonl", 99)
    assert expire(tmp_path, {"log": 7.0, "audio": 1.0, "generated": 1.0}, NOON) == 2
    assert not old.exists()
    assert not old.parent.exists()
    assert not audio.exists()
    assert fresh.exists()
    assert foreign.exists()
    assert other.exists()


def test_jobs_run_in_order_and_what_waits_is_finished_at_the_end() -> None:
    done: list[int] = []
    queue = DiskQueue(lambda message: None)
    for index in range(500):
        assert queue.submit(lambda index=index: done.append(index))  # type: ignore[misc]
    assert queue.close()
    assert done == list(range(500))
    assert not queue.submit(lambda: None)


def test_a_hanging_disk_never_holds_the_caller_and_is_said_once() -> None:
    told: list[str] = []
    gate = threading.Event()
    queue = DiskQueue(told.append, max_bytes=1_000)
    queue.submit(gate.wait, 100)
    took = [queue.submit(lambda: None, 100) for _ in range(50)]
    assert 0 < sum(took) <= 10
    assert len(told) == 1
    assert not queue.close(0.01)
    gate.set()
    assert queue.close()


def test_trouble_is_said_once_for_each_reason_and_again_after_all_was_well() -> None:
    told: list[str] = []
    queue = DiskQueue(told.append)

    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a.wav")

    def bug() -> None:
        raise KeyError("x")

    for job in (full, full, bug, bug, queue.recovered, full):
        queue.submit(job)
    assert queue.close()
    assert len(told) == 3
    assert told[0] == "recording: a.wav: No space left on device; the calls go on"
    assert "KeyError" in told[1]
    assert told[2] == told[0]
