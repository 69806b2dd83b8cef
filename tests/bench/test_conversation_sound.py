"""Silence and speech in a track of the agent."""

import io
import wave

import numpy as np
import pytest

from antiphon.audio.pcm import encode
from antiphon.bench.conversation_recording import TwoChannels, agent_track
from antiphon.bench.conversation_sound import Span, agent_sound, longest_hole, spoken_span
from antiphon.client.playback import Piece
from antiphon.core.frame import Samples

from .planted_call import RATE_HZ, SHAPE, tone


def track(*parts: tuple[float, float], length_s: float = 10.0) -> Samples:
    """Tones [start, end)."""
    sound = np.zeros(round(length_s * RATE_HZ), np.float32)
    for start_s, end_s in parts:
        part = tone(end_s - start_s, RATE_HZ)
        sound[round(start_s * RATE_HZ) :][: len(part)] = part
    return sound


def test_first_and_last_audible_windows() -> None:
    sound = agent_sound(track((1.0, 2.0), (4.0, 5.0)), RATE_HZ)
    assert sound.first_after(0.0) == pytest.approx(1.0)
    assert sound.first_after(1.5) == pytest.approx(1.5)
    assert sound.first_after(2.0) == pytest.approx(4.0)
    assert sound.first_after(5.0) is None
    assert sound.last_before(3.0) == pytest.approx(2.0)
    assert sound.last_before(0.9) is None


def test_a_voice_stops_only_after_a_long_silence() -> None:
    sound = agent_sound(track((1.0, 2.0), (2.3, 3.0), (4.0, 5.0)), RATE_HZ)
    assert sound.stops_after(1.5) == pytest.approx(3.0)
    assert sound.stops_after(2.1) == pytest.approx(3.0)  # in a pause between words
    assert sound.stops_after(3.2) == pytest.approx(3.2)  # it is silent already
    assert agent_sound(track(), RATE_HZ).stops_after(1.0) is None


def test_breath_is_not_audible() -> None:
    sound = track((1.0, 2.0))
    sound[: RATE_HZ // 2] = 0.002 * np.sin(np.arange(RATE_HZ // 2))
    assert agent_sound(sound, RATE_HZ).first_after(0.0) == pytest.approx(1.0)


def test_the_longest_hole_begins_in_the_window_and_ends_with_the_voice() -> None:
    sound = agent_sound(track((1.0, 2.0), (2.3, 3.0), (4.0, 5.0)), RATE_HZ)
    assert longest_hole(sound, 1.5, 2.5) == pytest.approx(0.3)
    assert longest_hole(sound, 1.5, 3.5) == pytest.approx(1.0)
    assert longest_hole(sound, 4.2, 9.0) == 0.0  # it never speaks again: no hole, but the end


def test_the_callers_words_within_a_line() -> None:
    caller = track((1.2, 2.0), (5.0, 6.0))
    recording = TwoChannels(RATE_HZ, 0.0, caller, np.zeros_like(caller))
    assert spoken_span(recording, 1.0, 3.0) == Span(1.2, 2.0)
    assert spoken_span(recording, 3.0, 4.0) is None


def test_a_track_has_every_piece_in_its_place_and_its_fade() -> None:
    data = bytearray(encode(np.full(RATE_HZ, 0.5, np.float32), "pcm_s16le"))
    pieces = [
        Piece("r1", 10.5, 10.5, 0, RATE_HZ, faded_s=0.25, data=data),
        Piece("r2", 12.75, 12.75, 0, RATE_HZ, data=data),  # beyond the end
    ]
    sound = agent_track(pieces, SHAPE, 10.0, 3 * RATE_HZ)
    at = [float(sound[round(at_s * RATE_HZ)]) for at_s in (0.49, 0.51, 1.2, 1.375, 1.49, 1.6, 2.8)]
    assert at == pytest.approx([0.0, 0.5, 0.5, 0.25, 0.02, 0.0, 0.5], abs=0.001)


def test_the_file_has_the_caller_left_and_the_agent_right() -> None:
    recording = TwoChannels(8_000, 0.0, np.full(4, 0.25, np.float32), np.full(4, -0.5, np.float32))
    with wave.open(io.BytesIO(recording.wav())) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (2, 8_000, 4)
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [8192, -16384] * 4
