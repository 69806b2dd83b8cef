"""A caller's bytes at the ear's door."""

import numpy as np
import pytest

from antiphon.audio.input import EarInput
from antiphon.audio.pcm import ENCODINGS, encode
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples


def tone(seconds: float, rate_hz: int, level: float = 0.5) -> Samples:
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    return (level * np.sin(2 * np.pi * 440 * t)).astype(np.float32)


def listen(data: bytes, encoding: str, rate_hz: int, sizes: int = 640) -> tuple[Samples, list[str]]:
    source = EarInput(encoding, rate_hz)
    pieces = [source.push(data[start : start + sizes]) for start in range(0, len(data), sizes)]
    return np.concatenate([*pieces, source.flush()]), source.warnings()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
def test_every_encoding_and_rate_becomes_16_khz(encoding: str, rate_hz: int) -> None:
    heard, warnings = listen(encode(tone(1.0, rate_hz), encoding), encoding, rate_hz)
    assert len(heard) == 16_000
    assert np.abs(heard - tone(1.0, 16_000))[200:-200].max() < 0.03
    assert warnings == []


def test_pieces_of_any_size_give_the_same() -> None:
    data = encode(tone(0.5, 24_000), "pcm_s32le")
    whole, _ = listen(data, "pcm_s32le", 24_000, len(data))
    for size in (1, 3, 7, 997):
        assert np.array_equal(listen(data, "pcm_s32le", 24_000, size)[0], whole)


def test_half_a_sample_at_the_end_is_left_out() -> None:
    data = encode(tone(0.1, 16_000), "pcm_s16le")
    assert np.array_equal(listen(data + b"\x01", "pcm_s16le", 16_000)[0], listen(data, "pcm_s16le", 16_000)[0])


@pytest.mark.parametrize(
    ("encoding", "rate_hz", "param", "hint"),
    [("opus", 16_000, "encoding", "pcm_mulaw"), ("pcm_s16le", 96_000, "sample_rate", "between 8000 and 48000")],
)
def test_what_does_not_exist_is_refused_with_what_does(encoding: str, rate_hz: int, param: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match=hint) as caught:
        EarInput(encoding, rate_hz)
    assert caught.value.param == param


def test_S6_floats_scaled_as_integers_are_told_and_mended() -> None:
    data = encode(tone(1.0, 16_000), "pcm_f32le")
    wrong = (np.frombuffer(data, np.float32) * 32_768).tobytes()
    heard, warnings = listen(wrong, "pcm_f32le", 16_000)
    assert len(warnings) == 1
    assert "[-1, 1]" in warnings[0]
    assert np.abs(heard).max() == pytest.approx(0.5, abs=0.01)


def test_S6_integers_in_too_wide_samples_are_told() -> None:
    narrow = np.frombuffer(encode(tone(12.0, 16_000), "pcm_s16le"), np.int16).astype(np.int32)
    _, warnings = listen(narrow.tobytes(), "pcm_s32le", 16_000, 6_400)
    assert len(warnings) == 1
    assert "scaled" in warnings[0]


def test_digital_silence_for_ever_is_told_once() -> None:
    _, warnings = listen(bytes(2 * 16_000 * 40), "pcm_s16le", 16_000, 6_400)
    assert len(warnings) == 1
    assert "muted" in warnings[0]


def test_silence_between_words_is_no_fault() -> None:
    word, gap = tone(1.0, 16_000), np.zeros(16_000 * 20, np.float32)
    _, warnings = listen(encode(np.concatenate([word, gap, word]), "pcm_s16le"), "pcm_s16le", 16_000, 6_400)
    assert warnings == []


def test_bytes_of_another_encoding_are_told() -> None:
    speech = np.random.default_rng(0).laplace(0, 0.05, 16_000 * 5).astype(np.float32)
    data = encode(np.convolve(speech, np.ones(8) / 8, "same"), "pcm_s16le")
    _, warnings = listen(data, "pcm_mulaw", 16_000, 3_200)
    assert len(warnings) == 1
    assert "pcm_mulaw" in warnings[0]


def test_constant_offset_is_told() -> None:
    _, warnings = listen(encode(tone(5.0, 16_000, 0.1) + np.float32(0.4), "pcm_s16le"), "pcm_s16le", 16_000)
    assert len(warnings) == 1
    assert "constant offset of +0" in warnings[0]


@pytest.mark.parametrize(
    ("declared_hz", "real_hz", "told"),
    [(24_000, 16_000, True), (16_000, 8_000, True), (16_000, 48_000, True), (16_000, 16_000, False)],
)
def test_S6_the_pace_of_another_rate_is_told(declared_hz: int, real_hz: int, told: bool) -> None:
    source = EarInput("pcm_s16le", declared_hz)
    for n in range(1, 700):
        source.arrived(2 * real_hz // 50, n * 0.02)
    assert [str(real_hz) in warning for warning in source.warnings()] == ([True] if told else [])


def test_a_file_at_once_or_pauses_in_sending_are_no_wrong_rate() -> None:
    source = EarInput("pcm_s16le", 16_000)
    for n in range(3_000):
        source.arrived(640, n * 0.001)
    for n in range(500):
        source.arrived(640, 100.0 + n * 0.02 + (n // 50) * 2.0)
    assert source.warnings() == []
