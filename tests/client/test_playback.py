"""The simulated player: positions, holes, cuts and pauses on a clock that the test moves."""

import pytest

from antiphon.client.playback import Position, SimulatedPlayer
from antiphon.core.clock import ManualClock
from antiphon.protocol.native_messages import AudioShape

RATE_HZ = 8_000
SECOND = bytes(2 * RATE_HZ)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(50.0)


def player(clock: ManualClock, **options: float) -> SimulatedPlayer:
    return SimulatedPlayer(clock, AudioShape("pcm_s16le", RATE_HZ), keep=True, **options)


def test_audio_that_comes_faster_than_it_plays_has_no_hole(clock: ManualClock) -> None:
    it = player(clock)
    it.push("r", SECOND)
    it.push("r", SECOND)
    it.end("r")
    clock.advance(1.25)
    assert it.position("r") == Position(10_000, 0, False)
    clock.advance(0.75)
    assert it.position("r") == Position(16_000, 0, True)
    (piece,) = it.pieces
    assert (piece.start_s, piece.samples) == (50.0, 16_000)


def test_a_late_piece_is_one_underrun_and_sounds_when_it_comes(clock: ManualClock) -> None:
    it = player(clock)
    it.push("r", SECOND)
    clock.advance(1.5)
    assert it.position("r") == Position(8_000, 0, False)
    it.push("r", SECOND)
    clock.advance(0.25)
    assert it.position("r") == Position(10_000, 1, False)
    assert [piece.start_s for piece in it.pieces] == [50.0, 51.5]


def test_a_reply_waits_for_the_one_before_it(clock: ManualClock) -> None:
    it = player(clock)
    it.push("one", SECOND)
    it.end("one")
    it.push("two", SECOND)
    clock.advance(1.5)
    assert it.position("one") == Position(8_000, 0, True)
    assert it.position("two") == Position(4_000, 0, False)


def test_clear_cuts_after_the_fade_and_drops_what_comes_later(clock: ManualClock) -> None:
    it = player(clock)
    it.push("r", SECOND)
    clock.advance(0.5)
    it.clear("r", 40)
    it.push("r", SECOND)
    assert it.position("r") == Position(4_000, 0, False)
    clock.advance(1.0)
    assert it.position("r") == Position(4_320, 0, True)
    (piece,) = it.pieces
    assert piece.faded_s == pytest.approx(0.04)
    assert len(piece.data) == 2 * 4_320


def test_what_waited_behind_a_cleared_reply_moves_up(clock: ManualClock) -> None:
    it = player(clock)
    it.push("one", SECOND)
    it.push("two", SECOND)
    clock.advance(0.5)
    it.clear("one", 0)
    clock.advance(0.25)
    assert it.position("two").sample == 2_000


def test_clear_of_a_reply_that_has_not_begun_leaves_nothing_of_it(clock: ManualClock) -> None:
    it = player(clock)
    it.push("one", SECOND)
    it.push("two", SECOND)
    it.clear("two", 40)
    clock.advance(5)
    assert it.position("two") == Position(0, 0, True)
    assert [piece.reply_id for piece in it.pieces] == ["one"]


def test_a_pause_keeps_everything_and_is_no_underrun(clock: ManualClock) -> None:
    it = player(clock)
    it.push("r", SECOND)
    clock.advance(0.5)
    it.pause("r", 0)
    it.push("r", SECOND)
    it.end("r")
    clock.advance(2.0)
    assert it.position("r") == Position(4_000, 0, False)
    it.go_on("r")
    clock.advance(1.5)
    assert it.position("r") == Position(16_000, 0, True)
    assert [(piece.first_sample, piece.start_s) for piece in it.pieces][:2] == [(0, 50.0), (4_000, 52.5)]
    assert b"".join(bytes(piece.data) for piece in it.pieces) == 2 * SECOND


def test_a_pause_that_ends_in_a_clear(clock: ManualClock) -> None:
    it = player(clock)
    it.push("r", SECOND)
    clock.advance(0.5)
    it.pause("r", 20)
    clock.advance(1.0)
    it.clear("r", 20)
    assert it.position("r") == Position(4_160, 0, True)
    it.push("next", SECOND)
    clock.advance(0.1)
    assert it.position("next") == Position(800, 0, False)


def test_pre_roll_and_delay(clock: ManualClock) -> None:
    it = player(clock, pre_roll_s=0.1, delay_s=0.2)
    it.push("r", SECOND)
    clock.advance(0.3)
    assert it.position("r").sample == 0
    clock.advance(0.5)
    assert it.position("r").sample == 4_000
    assert it.free_s == pytest.approx(50.0 + 0.1 + 1.0 + 0.2)


def test_replies_that_are_long_over_are_forgotten(clock: ManualClock) -> None:
    it = SimulatedPlayer(clock, AudioShape("pcm_s16le", RATE_HZ))
    for number in range(200):
        it.push(f"r{number}", SECOND)
        it.end(f"r{number}")
        clock.advance(2.0)
    assert len(list(it.pieces)) == 64
    assert it.position("r0") == Position()
    assert it.position("r199") == Position(8_000, 0, True)


def test_samples_of_an_eight_bit_format(clock: ManualClock) -> None:
    it = SimulatedPlayer(clock, AudioShape("pcm_mulaw", RATE_HZ))
    it.push("r", bytes(RATE_HZ))
    clock.advance(0.5)
    assert it.position("r").sample == 4_000
