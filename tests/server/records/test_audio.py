"""The caller's and the agent's audio are constant levels here, so that where they lie can be read off."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.audio.pcm import encode
from antiphon.server.records.audio import CallAudio

HZ = 16_000
BEGAN_S = 100.0


def call(tmp_path: Path, rate_hz: int = HZ, max_s: float = 60.0) -> CallAudio:
    return CallAudio(tmp_path / "a.wav", BEGAN_S, max_s, "pcm_s16le", rate_hz)


def level(seconds: float, value: float = 0.5, rate_hz: int = HZ) -> bytes:
    return encode(np.full(round(seconds * rate_hz), value, np.float32), "pcm_s16le")


def sounds(tmp_path: Path, audio: CallAudio) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Where each side is not silent, in seconds."""
    audio.close()
    data, rate_hz = soundfile.read(tmp_path / "a.wav")
    assert rate_hz == HZ
    out = []
    for channel in data.T:
        edges = np.flatnonzero(np.diff(np.concatenate(([0], (np.abs(channel) > 0.1).astype(int), [0]))))
        out.append([(round(a / HZ, 3), round(b / HZ, 3)) for a, b in edges.reshape(-1, 2)])
    return out[0], out[1]


def test_the_caller_lies_where_it_came_and_jitter_makes_no_gaps(tmp_path: Path) -> None:
    audio = call(tmp_path)
    for index in range(50):
        late_s = 0.05 if index % 3 == 2 else 0.0
        audio.user(BEGAN_S + 0.02 * (index + 1) + late_s, index * 320, level(0.02), "pcm_s16le", HZ)
    assert sounds(tmp_path, audio)[0] == [(0.0, 1.0)]


def test_pieces_that_come_late_at_first_lie_where_they_were_said(tmp_path: Path) -> None:
    audio = call(tmp_path)
    for index in range(100):
        late_s = 0.1 if index < 20 else 0.0
        audio.user(BEGAN_S + 1.0 + 0.02 * (index + 1) + late_s, index * 320, level(0.02), "pcm_s16le", HZ)
    audio.mute_user(0, 1_600)
    assert sounds(tmp_path, audio)[0] == [(1.1, 3.0)]


def test_a_caller_that_stopped_sending_lies_where_it_went_on(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.user(BEGAN_S + 1.0, 0, level(1.0), "pcm_s16le", HZ)
    audio.user(BEGAN_S + 5.0, 16_000, level(1.0), "pcm_s16le", HZ)
    audio.mute_user(16_000, 24_000)
    assert sounds(tmp_path, audio)[0] == [(0.0, 1.0), (4.5, 5.0)]


def test_a_speech_may_be_sent_in_another_form_than_the_session_began_with(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.opened("s", 8_000, "pcm_mulaw")
    audio.agent(BEGAN_S + 1.0, "s", encode(np.full(8_000, 0.5, np.float32), "pcm_mulaw"))
    audio.opened("t", HZ, "pcm_s16le")
    audio.agent(BEGAN_S + 3.0, "t", level(1.0))
    (first, second), held_back = sounds(tmp_path, audio)[1], 0.01
    assert (first, second) == (pytest.approx((1.0, 2.0), abs=held_back), (3.0, 4.0))


def test_another_socket_may_send_in_another_form(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.user(BEGAN_S + 1.0, 0, level(1.0), "pcm_s16le", HZ)
    audio.user(BEGAN_S + 2.0, 16_000, level(1.0, rate_hz=8_000), "pcm_s16le", 8_000)
    ((begin, end),) = sounds(tmp_path, audio)[0]
    assert begin == 0.0
    assert abs(end - 2.0) < 0.02


def test_the_agent_sounds_in_real_time_though_it_was_sent_at_once(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.opened("s", HZ)
    for _ in range(4):
        audio.agent(BEGAN_S + 2.0, "s", level(0.5))
    audio.agent(BEGAN_S + 2.1, "t", level(0.5, 0.9))  # the next speech waits for the end of this one
    assert sounds(tmp_path, audio)[1] == [(2.0, 4.5)]


def test_an_interrupted_agent_is_silent_from_where_it_was_cleared(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.agent(BEGAN_S + 1.0, "s", level(4.0))
    audio.cancelled(BEGAN_S + 2.5, "s", 40)
    audio.agent(BEGAN_S + 2.6, "s", level(1.0))  # was on its way
    audio.agent(BEGAN_S + 3.0, "t", level(1.0))
    assert sounds(tmp_path, audio)[1] == [(1.0, 2.54), (3.0, 4.0)]


def test_what_was_cancelled_before_it_sounded_leaves_nothing(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.agent(BEGAN_S + 1.0, "s", level(2.0))
    audio.agent(BEGAN_S + 1.0, "t", level(2.0))
    audio.cancelled(BEGAN_S + 1.5, "t", 0)
    assert sounds(tmp_path, audio)[1] == [(1.0, 3.0)]


def test_a_report_moves_the_speech_to_where_it_sounded(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.agent(BEGAN_S + 1.0, "s", level(2.0))
    audio.played(BEGAN_S + 1.7, "s", 8_000)  # so it began at 1.2
    audio.played(BEGAN_S + 2.15, "s", 16_000)  # no: at 1.15; reports come late, never early
    audio.agent(BEGAN_S + 2.2, "s", level(1.0))
    assert sounds(tmp_path, audio)[1] == [(1.15, 4.15)]


def test_a_client_that_ran_dry_has_a_gap_there(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.agent(BEGAN_S + 1.0, "s", level(2.0))
    audio.played(BEGAN_S + 1.5, "s", 8_000)
    audio.played(BEGAN_S + 2.5, "s", 16_000)  # half a second late
    audio.agent(BEGAN_S + 2.6, "s", level(1.0))
    assert sounds(tmp_path, audio)[1] == [(1.0, 2.0), (2.5, 4.5)]


def test_a_voice_that_is_too_slow_has_a_gap_there(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.agent(BEGAN_S + 1.0, "s", level(0.5))
    audio.agent(BEGAN_S + 2.0, "s", level(0.5))
    assert sounds(tmp_path, audio)[1] == [(1.0, 1.5), (2.0, 2.5)]


def test_a_pause_is_a_gap(tmp_path: Path) -> None:
    audio = call(tmp_path)
    audio.agent(BEGAN_S + 1.0, "s", level(2.0))
    audio.paused(BEGAN_S + 1.5, "s")
    audio.agent(BEGAN_S + 1.7, "s", level(0.5))
    audio.went_on(BEGAN_S + 2.5, "s")
    assert sounds(tmp_path, audio)[1] == [(1.0, 1.5), (2.5, 4.5)]


def test_a_silenced_speech_leaves_the_others(tmp_path: Path) -> None:
    audio = call(tmp_path, 24_000)
    audio.agent(BEGAN_S + 1.0, "s", level(1.0, rate_hz=24_000))
    audio.agent(BEGAN_S + 3.0, "t", level(1.0, rate_hz=24_000))
    audio.mute_agent("s", "unknown")
    ((begin, _),) = sounds(tmp_path, audio)[1]
    assert begin == 3.0


def test_news_of_unknown_speeches_and_a_call_without_end_do_no_harm(tmp_path: Path) -> None:
    audio = call(tmp_path, max_s=2.0)
    audio.played(BEGAN_S, "x", 100)
    audio.cancelled(BEGAN_S, "x", 0)
    audio.paused(BEGAN_S, "x")
    audio.went_on(BEGAN_S, "x")
    for index in range(600):
        audio.agent(BEGAN_S + index, f"s{index}", level(0.5))
    assert sounds(tmp_path, audio)[1] == [(0.0, 0.5), (1.0, 1.5)]
    assert (tmp_path / "a.wav").stat().st_size <= 44 + 4 * 2 * HZ


def test_only_its_owner_may_read_a_call(tmp_path: Path) -> None:
    call(tmp_path).close()
    assert (tmp_path / "a.wav").stat().st_mode & 0o077 == 0
