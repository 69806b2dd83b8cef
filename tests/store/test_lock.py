"""The lock of a store, between threads and between processes."""

import subprocess
import sys
import threading
from pathlib import Path

from antiphon.store.lock import locked

HOLDER = """
import sys
from pathlib import Path
from antiphon.store.lock import locked
with locked(Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    sys.stdin.read()
"""


def never() -> None:
    raise AssertionError("the lock was free")


def test_free_lock_is_taken_at_once_and_given_back(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path / "lock", never):
            pass


def test_second_thread_waits_until_the_first_is_done(tmp_path: Path) -> None:
    order: list[str] = []
    waiting = threading.Event()

    def on_wait() -> None:
        order.append("waits")
        waiting.set()

    def second() -> None:
        with locked(tmp_path / "lock", on_wait):
            order.append("second")

    thread = threading.Thread(target=second)
    with locked(tmp_path / "lock", never):
        thread.start()
        assert waiting.wait(10)
        order.append("first done")
    thread.join(10)
    assert order == ["waits", "first done", "second"]


def test_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    try:
        with locked(tmp_path / "lock", never):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    with locked(tmp_path / "lock", never):
        pass


def test_killed_process_blocks_nobody(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waited: list[bool] = []

        def kill() -> None:
            waited.append(True)
            holder.kill()

        with locked(tmp_path / "lock", kill):
            assert waited == [True]
