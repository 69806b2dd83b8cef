from fractions import Fraction

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.audio.resample import Resampler, resample
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

from .conftest import cuts, snr_db

RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]


def sine(hz: float, rate_hz: int, seconds: float = 1.0) -> Samples:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def in_chunks(samples: Samples, in_hz: int, out_hz: int, slices: list[slice]) -> Samples:
    resampler = Resampler(in_hz, out_hz)
    parts = [resampler.push(samples[piece]) for piece in slices]
    return np.concatenate([*parts, resampler.push(samples[:0], last=True)])


def test_A6_sine_in_20_ms_chunks_through_24_16_8_khz_has_no_step() -> None:
    first, second = Resampler(24_000, 16_000), Resampler(16_000, 8_000)
    source = sine(1_000, 24_000)
    parts = []
    for at in range(0, len(source), 480):
        last = at + 480 >= len(source)
        parts.append(second.push(first.push(source[at : at + 480], last=last), last=last))
    got = np.concatenate(parts)
    wanted = sine(1_000, 8_000)
    assert len(got) == len(wanted)
    steepest = 0.5 * 2 * np.sin(np.pi * 1_000 / 8_000)  # largest step between neighbours of this sine
    assert np.abs(np.diff(got[100:-100])).max() <= steepest * 1.0001
    assert snr_db(wanted[200:-200], got[200:-200]) > 90


@pytest.mark.parametrize("out_hz", RATES)
@pytest.mark.parametrize("in_hz", [16_000, 24_000, 44_100])
def test_chunked_equals_whole_bit_for_bit(in_hz: int, out_hz: int, speech_24k: Samples) -> None:
    source = speech_24k[:in_hz]
    whole = resample(source, in_hz, out_hz)
    for slices in (cuts(len(source), seed=in_hz + out_hz), cuts(len(source), seed=1, most=60)):
        assert np.array_equal(in_chunks(source, in_hz, out_hz, slices), whole)


@settings(max_examples=80, deadline=None)
@given(
    pieces=st.lists(st.integers(0, 700), max_size=6),
    in_hz=st.sampled_from([*RATES, 11_025, 32_000]),
    out_hz=st.sampled_from([*RATES, 12_000]),
)
def test_length_is_exactly_the_rounded_one(pieces: list[int], in_hz: int, out_hz: int) -> None:
    resampler = Resampler(in_hz, out_hz)
    got = sum(len(resampler.push(np.zeros(size, np.float32))) for size in pieces)
    got += len(resampler.push(np.zeros(3, np.float32), last=True))
    assert got == round(Fraction((sum(pieces) + 3) * out_hz, in_hz))


@pytest.mark.parametrize("out_hz", RATES)
@pytest.mark.parametrize("in_hz", RATES)
def test_every_pair_of_rates_keeps_a_sine(in_hz: int, out_hz: int) -> None:
    hz = 0.42 * min(in_hz, out_hz)
    got, wanted = resample(sine(hz, in_hz, 0.3), in_hz, out_hz), sine(hz, out_hz, 0.3)
    edge = round(0.02 * out_hz)
    assert len(got) == len(wanted)
    assert snr_db(wanted[edge:-edge], got[edge:-edge]) > 85


@pytest.mark.parametrize(("in_hz", "out_hz"), [(24_000, 16_000), (24_000, 8_000), (24_000, 22_050), (48_000, 16_000)])
def test_what_the_new_rate_cannot_carry_is_gone(in_hz: int, out_hz: int) -> None:
    got = resample(sine(out_hz * 0.53, in_hz), in_hz, out_hz)
    edge = round(0.05 * out_hz)
    assert np.abs(got[edge:-edge]).max() < 0.5 * 10 ** (-95 / 20)


@pytest.mark.parametrize(("in_hz", "out_hz"), [(24_000, 16_000), (24_000, 8_000), (24_000, 48_000)])
def test_speech_agrees_with_an_independent_resampler(in_hz: int, out_hz: int, speech_24k: Samples) -> None:
    # both cut at slightly different places: compare what lies below both
    source = resample(resample(speech_24k, 24_000, 6_000), 6_000, in_hz)
    assert snr_db(soxr.resample(source, in_hz, out_hz, quality="VHQ"), resample(source, in_hz, out_hz)) > 80


@pytest.mark.parametrize(("in_hz", "out_hz"), [(24_000, 16_000), (24_000, 8_000), (24_000, 44_100), (8_000, 24_000)])
def test_holds_back_64_samples_of_the_lower_rate_at_most(in_hz: int, out_hz: int) -> None:
    resampler, given_samples, pushed = Resampler(in_hz, out_hz), 0, 0
    for _ in range(200):
        given_samples += len(resampler.push(np.zeros(97, np.float32)))
        pushed += 97
        held_s = pushed / in_hz - given_samples / out_hz
        assert held_s <= (64 + 2) / min(in_hz, out_hz)


def test_flush_gives_the_end_and_the_stream_goes_on_in_place(speech_24k: Samples) -> None:
    resampler = Resampler(24_000, 8_000)
    first = np.concatenate([resampler.push(speech_24k[:12_000]), resampler.flush()])
    assert len(first) == 4_000
    assert len(resampler.flush()) == 0
    rest = resampler.push(speech_24k[12_000:], last=True)
    whole = resample(speech_24k, 24_000, 8_000)
    assert len(first) + len(rest) == len(whole)
    # only what was given out before its future was known may differ
    assert np.array_equal(first[: 4_000 - 64], whole[: 4_000 - 64])
    assert np.array_equal(rest, whole[4_000:])


def test_flush_in_a_pause_changes_nothing() -> None:
    source = np.concatenate([sine(300, 24_000, 0.1) * np.hanning(2_400), np.zeros(400), sine(300, 24_000, 0.1)]).astype(
        np.float32
    )
    resampler = Resampler(24_000, 16_000)
    got = np.concatenate([resampler.push(source[:2_700]), resampler.flush(), resampler.push(source[2_700:], last=True)])
    np.testing.assert_allclose(got, resample(source, 24_000, 16_000), atol=1e-4)


def test_equal_rates_pass_through_untouched(speech_24k: Samples) -> None:
    resampler = Resampler(24_000, 24_000)
    assert np.array_equal(resampler.push(speech_24k), speech_24k)
    assert len(resampler.push(speech_24k[:0], last=True)) == 0
    assert len(resampler.flush()) == 0


def test_memory_does_not_grow_with_the_stream() -> None:
    resampler = Resampler(24_000, 44_100)
    kept = []
    for _ in range(300):
        resampler.push(np.zeros(480, np.float32))
        kept.append(len(resampler._kept))
    assert max(kept) < 1_000


@pytest.mark.parametrize(("in_hz", "out_hz"), [(24_000, 0), (-8_000, 8_000), (24_000, 44_101)])
def test_rates_that_cannot_be_are_refused(in_hz: int, out_hz: int) -> None:
    with pytest.raises(InvalidInput):
        Resampler(in_hz, out_hz)
