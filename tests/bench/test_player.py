"""The player against targets that are scripted in this process."""

import asyncio
from functools import partial

import pytest

from antiphon.bench.arrivals import ClosedLoop, OpenLoop, burst
from antiphon.bench.crew import Crew
from antiphon.bench.player import Played, Player
from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.cartesia_ws import CartesiaWs
from antiphon.bench.target.contract import Line, finish, paced, whole_text
from antiphon.core.clock import ManualClock
from antiphon.core.errors import EngineFailed


class Scripted:
    """Answers at once with one chunk, or as the text says."""

    name = "scripted"
    sample_rate_hz = 24_000

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.closed = False
        self.busy = 0
        self.busiest = 0

    async def open(self, streams: int) -> None:
        self.opened.append(streams)

    async def speak(self, line: Line, recording: Recording) -> None:
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            text = await whole_text(line, recording)
            await asyncio.sleep(0)
            if text == "crash":
                raise RuntimeError("broken pipe")
            if text == "hang":
                await asyncio.get_running_loop().create_future()
            if text != "no end":
                recording.chunk(b"\x01\x00" * 10)
                recording.end()
        finally:
            self.busy -= 1

    def take(self, recording: Recording) -> Take:
        return finish(recording, recording.payloads, self.sample_rate_hz)

    async def close(self) -> None:
        self.closed = True


def play(*texts: str, schedule: "OpenLoop | ClosedLoop | None" = None, timeout_s: float = 5.0) -> Played:
    with Player(timeout_s=timeout_s) as player:
        return player.play(Scripted(), [Line(text) for text in texts], schedule or burst(len(texts)))


def test_every_request_becomes_a_take_in_order() -> None:
    played = play("one", "two", "three")
    assert [take.text for take in played.takes] == ["one", "two", "three"]
    assert all(not take.error and take.audio_s == pytest.approx(10 / 24_000) for take in played.takes)
    for take in played.takes:
        assert take.started_s is not None
        assert take.ended_s is not None
        assert take.scheduled_s <= take.issued_s <= take.started_s <= take.stamps_s[0] <= take.ended_s


def test_open_loop_does_not_wait_for_answers() -> None:
    target = Scripted()
    with Player(timeout_s=0.05) as player:
        played = player.play(target, [Line("hang")] * 5, burst(5))
    assert target.busiest == 5
    assert [take.error for take in played.takes] == ["no end within 0.05 s"] * 5


def test_starts_keep_to_the_schedule() -> None:
    schedule = OpenLoop("steady", 1, (0.0, 0.02, 0.05), 0, 3)
    takes = play("a", "b", "c", schedule=schedule).takes
    assert [take.scheduled_s - takes[0].scheduled_s for take in takes] == pytest.approx([0.0, 0.02, 0.05])
    assert all(take.issued_s >= take.scheduled_s for take in takes)


def test_a_late_start_is_recorded_as_late() -> None:
    target = Scripted()
    with Player() as player:
        player.prepare(target, 1)
        clock_now = player._clock.now_s()
        recordings, _ = player.perform(target, [_cue(0, "late")], clock_now - 3.0)
    take = target.take(recordings[0])
    assert take.issued_s - take.scheduled_s >= 3.0
    assert not take.error


def _cue(at_s: float, text: str) -> "object":
    from antiphon.bench.player import Cue

    return Cue(0, at_s, Line(text))


def test_closed_loop_keeps_to_its_number_of_callers() -> None:
    target = Scripted()
    with Player() as player:
        played = player.play(target, [Line(str(at)) for at in range(20)], ClosedLoop(3, 2, 18))
    assert target.busiest == 3
    assert target.opened == [3]
    assert len(played.takes) == 20
    assert [take.index for take in played.measured_takes] == list(range(2, 20))


def test_a_failure_is_one_takes_failure() -> None:
    played = play("fine", "crash", "no end", "fine too")
    assert [bool(take.error) for take in played.takes] == [False, True, True, False]
    assert "broken pipe" in played.takes[1].error
    assert "without an end" in played.takes[2].error


def test_a_server_that_takes_no_connection_is_an_error_of_ours() -> None:
    with Player() as player, pytest.raises(EngineFailed, match="takes no connection"):
        player.play(CartesiaWs("ws://127.0.0.1:9"), [Line("x")], burst(1))


def test_lines_must_match_the_schedule() -> None:
    with pytest.raises(ValueError, match="2 requests"):
        play("one", schedule=burst(2))


def test_the_player_reports_on_itself() -> None:
    load = play(*["x"] * 50).load
    assert load.wall_s > 0
    assert 0 <= load.lag_p99_s <= load.lag_max_s
    assert load.cpu_share >= 0


def test_closing_the_player_closes_its_targets() -> None:
    target = Scripted()
    with Player() as player:
        player.play(target, [Line("x")], burst(1))
        player.part(target)
        assert target.closed
        target.closed = False
        player.play(target, [Line("y")], burst(1))
    assert target.closed


def test_tokens_are_paced_against_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()

    async def sleep(seconds: float) -> None:
        clock.advance(seconds + 0.004)  # every wake-up is 4 ms late

    monkeypatch.setattr("antiphon.bench.target.contract.asyncio.sleep", sleep)
    recording = Recording(clock, 0, "abc", 0.0)

    async def stamps() -> list[tuple[str, bool, float]]:
        line = Line("abc", ("a", "b", "c"), 0.02)
        return [(piece, last, clock.now_s()) async for piece, last in paced(line, recording)]

    pieces = asyncio.run(stamps())
    assert [(piece, last) for piece, last, _ in pieces] == [("a", False), ("b", False), ("c", True)]
    assert [at for *_, at in pieces] == pytest.approx([0.0, 0.024, 0.044])
    assert recording.started_s == 0.0
    assert recording.last_text_s == pytest.approx(0.044)


def test_a_crew_plays_one_schedule_with_several_processes(url: str) -> None:
    crew = Crew(partial(CartesiaWs, url), 2, timeout_s=10.0)
    try:
        for _ in range(2):
            played = crew.play([Line(f"number {at}") for at in range(6)], burst(6))
            assert [take.text for take in played.takes] == [f"number {at}" for at in range(6)]
            assert [take.error for take in played.takes] == [""] * 6
            assert len({take.scheduled_s for take in played.takes}) == 1
            assert played.load.processes == 2
    finally:
        crew.close()


def test_a_crew_passes_on_why_it_cannot_play() -> None:
    crew = Crew(partial(CartesiaWs, "ws://127.0.0.1:9"), 1)
    try:
        with pytest.raises(RuntimeError, match="player failed"):
            crew.play([Line("x")], burst(1))
    finally:
        crew.close()
