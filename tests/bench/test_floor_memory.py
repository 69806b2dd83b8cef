"""The memory of idle sessions, on a server whose memory is made up."""

from collections.abc import Iterator
from itertools import count
from os import getpid

import pytest

from antiphon.bench import floor_memory
from antiphon.bench.floor_memory import AT_ONCE, ROUNDS, WARM, measure_idle, require_files, slope
from antiphon.bench.player import Player
from antiphon.bench.process import anonymous_bytes, open_files_limit
from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.contract import Line, finish
from antiphon.core.errors import InvalidInput, ModelUnavailable

KEPT_BYTES = 30_000
PAGES_BYTES = 1 << 20


class House:
    """Counts sockets, and how many speak at once. Each keeps 30 kB, taken from the system a megabyte at a time, and
    while it speaks a megabyte more, which the process does not give back."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.open = self.speaking = self.most = 0

    def target(self) -> "Sockets":
        return Sockets(self)

    def memory(self, pid: int) -> int:
        used = self.open * KEPT_BYTES + self.most * PAGES_BYTES
        return -(-used // PAGES_BYTES) * PAGES_BYTES


class Sockets:
    name = "sockets"
    sample_rate_hz = 24_000

    def __init__(self, house: House) -> None:
        self._house = house
        self._mine = 0

    async def open(self, streams: int) -> None:
        self._house.open += streams - self._mine
        self._mine = streams

    async def speak(self, line: Line, recording: Recording) -> None:
        self._house.speaking += 1
        self._house.most = max(self._house.most, self._house.speaking)
        recording.sent()
        recording.chunk(b"\0\0")
        self._house.speaking -= 1
        if self._house.fault:
            recording.fail(self._house.fault)
        recording.end()

    def take(self, recording: Recording) -> Take:
        return finish(recording, [b"\0\0"], self.sample_rate_hz)

    async def close(self) -> None:
        self._house.open -= self._mine
        self._mine = 0


def texts() -> Iterator[str]:
    return (f"Text {number}." for number in count())


def test_the_slope_is_what_a_session_keeps_though_memory_comes_in_pieces() -> None:
    house = House()
    seen: list[int] = []

    def memory(pid: int) -> int:
        seen.append(house.open)
        return house.memory(pid)

    with Player() as player:
        found = measure_idle(player, house.target, texts(), getpid(), 205, memory)
    assert seen[0] == WARM
    assert house.most <= AT_ONCE
    assert max(seen) == WARM + ROUNDS * 205
    assert house.open == 0
    assert (found.sessions, len(found.rounds_bytes)) == (ROUNDS * 205, ROUNDS)
    assert found.per_session_bytes == pytest.approx(KEPT_BYTES, rel=0.1)
    assert all(one == pytest.approx(KEPT_BYTES, rel=0.2) for one in found.rounds_bytes)
    assert 0 <= found.error_bytes < 0.2 * KEPT_BYTES


def test_rounds_that_disagree_are_told_by_the_error() -> None:
    """A process that takes 100 kB a session in its last round."""
    house = House()

    def memory(pid: int) -> int:
        late = max(0, house.open - WARM - (ROUNDS - 1) * 50)
        return house.open * KEPT_BYTES + late * 100_000

    with Player() as player:
        found = measure_idle(player, house.target, texts(), getpid(), 50, memory)
    assert found.rounds_bytes == pytest.approx([KEPT_BYTES] * (ROUNDS - 1) + [KEPT_BYTES + 100_000])
    assert found.per_session_bytes == pytest.approx(KEPT_BYTES + 100_000 / ROUNDS)
    assert found.error_bytes == pytest.approx(2 * 50_000 / ROUNDS**0.5)


def test_a_session_that_does_not_speak_and_a_process_that_cannot_be_read_are_no_figures() -> None:
    with Player() as player:
        with pytest.raises(ModelUnavailable, match="no such voice"):
            measure_idle(player, House("no such voice").target, texts(), getpid(), 10, lambda pid: 1)
        house = House()
        with pytest.raises(ModelUnavailable, match="cannot be read"):
            measure_idle(player, house.target, texts(), getpid(), 10, lambda pid: None)
        assert house.open == 0


def test_slope_by_least_squares() -> None:
    assert slope([(0, 1.0), (1, 3.0), (2, 5.0)]) == pytest.approx(2.0)
    assert slope([(0, 0.0), (1, 3.0), (2, 3.0)]) == pytest.approx(1.5)


def test_too_many_sessions_are_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = open_files_limit(getpid())
    assert limit is not None
    require_files(getpid(), 1)
    with pytest.raises(InvalidInput, match="ulimit"):
        require_files(getpid(), limit)
    monkeypatch.setattr(floor_memory, "open_files_limit", lambda pid: None)
    require_files(getpid(), 10**9)


def test_anonymous_memory_grows_by_what_is_allocated() -> None:
    before = anonymous_bytes(getpid())
    assert before is not None
    held = bytearray(64 << 20)
    after = anonymous_bytes(getpid())
    assert after is not None
    assert after - before == pytest.approx(len(held), rel=0.1)
    assert anonymous_bytes(2**22 + 1) is None
    assert open_files_limit(2**22 + 1) is None
