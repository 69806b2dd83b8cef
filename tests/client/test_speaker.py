"""The player behind a real device, read by hand."""

import numpy as np
import pytest

from antiphon.client.playback import Position
from antiphon.client.speaker import Speaker
from antiphon.core.clock import ManualClock
from antiphon.core.errors import InvalidInput
from antiphon.protocol.native_messages import AudioShape

RATE_HZ = 8_000
BLOCK = 160  # 10 ms


def ramp(count: int) -> bytes:
    return np.arange(1, count + 1, dtype="<i2").tobytes()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def speaker(clock: ManualClock, **options: float) -> Speaker:
    return Speaker(clock, AudioShape("pcm_s16le", RATE_HZ), **{"pre_roll_s": 0.0, **options})


def values(data: bytes) -> list[int]:
    return [int(value) for value in np.frombuffer(data, "<i2")]


def test_reads_in_order_with_silence_where_nothing_is(clock: ManualClock) -> None:
    it = speaker(clock)
    assert it.read(8) == bytes(8)
    it.push("r", ramp(3))
    it.push("r", ramp(2))
    assert values(it.read(8)) == [1, 2, 3, 1]
    it.end("r")
    assert values(it.read(8)) == [2, 0, 0, 0]
    assert it.position("r") == Position(5, 0, True)


def test_waits_for_the_pre_roll_unless_the_reply_is_shorter(clock: ManualClock) -> None:
    it = speaker(clock, pre_roll_s=0.01)
    it.push("r", ramp(79))
    assert it.read(4) == bytes(4)
    it.end("r")
    assert values(it.read(4)) == [1, 2]


def test_running_dry_is_one_underrun_however_long(clock: ManualClock) -> None:
    it = speaker(clock)
    it.push("r", ramp(2))
    for _ in range(5):
        it.read(8)
    assert it.position("r") == Position(2, 1, False)
    it.push("r", ramp(2))
    it.read(8)
    assert it.position("r").underruns == 2


def test_what_the_device_still_holds_was_not_heard(clock: ManualClock) -> None:
    it = speaker(clock, latency_s=0.05)
    it.push("r", ramp(800))
    it.end("r")
    it.read(1600)
    assert it.position("r") == Position(400, 0, False)
    clock.advance(0.02)
    assert it.position("r") == Position(560, 0, False)
    clock.advance(1.0)
    assert it.position("r") == Position(800, 0, True)


def test_clear_fades_and_drops_the_rest(clock: ManualClock) -> None:
    it = speaker(clock)
    it.push("r", np.full(800, 1000, "<i2").tobytes())
    it.read(2 * 100)
    it.clear("r", 10)
    faded = values(it.read(2 * 800))
    assert faded[0] == 1000
    assert faded[79] == 0
    assert sorted(faded[:80], reverse=True) == faded[:80]
    assert not any(faded[80:])
    assert it.position("r") == Position(180, 0, True)


def test_a_pause_and_its_end(clock: ManualClock) -> None:
    it = speaker(clock)
    it.push("r", ramp(800))
    it.read(2 * 100)
    it.pause("r", 10)
    quiet = values(it.read(2 * 400))
    assert not any(quiet[80:])
    assert it.position("r") == Position(180, 0, False)
    it.go_on("r")
    assert values(it.read(4)) == [181, 182]


def test_a_second_reply_waits_for_the_first(clock: ManualClock) -> None:
    it = speaker(clock)
    it.push("one", ramp(2))
    it.push("two", ramp(2))
    assert values(it.read(8)) == [1, 2, 0, 0]  # more of the first may still come
    it.end("one")
    assert values(it.read(4)) == [1, 2]


def test_only_what_a_loudspeaker_takes() -> None:
    with pytest.raises(InvalidInput, match="pcm_s16le"):
        Speaker(ManualClock(), AudioShape("pcm_mulaw", RATE_HZ))
