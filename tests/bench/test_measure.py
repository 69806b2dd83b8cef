"""Every figure against a timeline that can be checked by hand."""

import numpy as np
import pytest

from antiphon.bench.measure import distribution, measure, playback
from antiphon.bench.recording import Take

RATE_HZ = 1_000
TONE = (10_000 * np.sin(2 * np.pi * 100 * np.arange(1_000) / RATE_HZ)).astype("<i2")


def pcm(milliseconds: int, *, silent: bool = False) -> bytes:
    """At 1 kHz a millisecond is a sample."""
    return (np.zeros(milliseconds, "<i2") if silent else TONE[:milliseconds]).tobytes()


def take(*arrivals: tuple[float, bytes], **changes: object) -> Take:
    values: dict[str, object] = {
        "index": 0,
        "text": "hello",
        "scheduled_s": 9.9,
        "issued_s": 9.95,
        "started_s": 10.0,
        "last_text_s": 10.0,
        "stamps_s": tuple(stamp for stamp, _ in arrivals),
        "chunks": tuple(chunk for _, chunk in arrivals),
        "ended_s": 12.0,
        "sample_rate_hz": RATE_HZ,
    }
    return Take(**(values | changes))  # type: ignore[arg-type]


def test_playback_in_time_has_no_underrun() -> None:
    played = playback([1.0, 1.1, 1.2], [100, 100, 100], RATE_HZ)
    assert (played.underruns, played.gap_s) == (0, 0.0)
    assert played.end_s == pytest.approx(1.3)


def test_playback_counts_each_stall_and_adds_the_gaps() -> None:
    # plays 1.0-1.1, dry until 1.15, plays to 1.25, dry until 1.4
    played = playback([1.0, 1.15, 1.4], [100, 100, 100], RATE_HZ)
    assert played.underruns == 2
    assert played.gap_s == pytest.approx(0.05 + 0.15)
    assert played.end_s == pytest.approx(1.5)


def test_a_stall_moves_all_that_follows() -> None:
    # 0.3 s late once; after that, chunks that keep their distance do not stall again
    played = playback([0.0, 0.4, 0.5, 0.6], [100, 100, 100, 100], RATE_HZ)
    assert played.underruns == 1
    assert played.gap_s == pytest.approx(0.3)


def test_pre_roll_covers_a_stall_of_its_own_length() -> None:
    late = ([0.0, 0.15], [100, 100])
    assert playback(*late, RATE_HZ).underruns == 1
    assert playback(*late, RATE_HZ, pre_roll_s=0.06).underruns == 0
    assert playback(*late, RATE_HZ, pre_roll_s=0.04).gap_s == pytest.approx(0.01)


def test_a_burst_of_chunks_is_a_reserve() -> None:
    assert playback([0.0, 0.0, 0.0, 0.29], [100] * 4, RATE_HZ).underruns == 0
    assert playback([0.0, 0.0, 0.0, 0.31], [100] * 4, RATE_HZ).underruns == 1


def test_empty_chunks_play_nothing() -> None:
    played = playback([0.0, 5.0], [100, 0], RATE_HZ)
    assert played.underruns == 0
    assert playback([], [], RATE_HZ).underruns == 0


def test_stamps_and_chunks_must_match() -> None:
    with pytest.raises(ValueError):
        playback([0.0], [], RATE_HZ)


def test_first_byte_and_last_byte_are_counted_from_the_first_text() -> None:
    figures = measure(take((10.04, pcm(100)), (10.09, pcm(200))))
    assert figures.ttfb_s == pytest.approx(0.04)
    assert figures.last_byte_s == pytest.approx(0.09)
    assert figures.audio_s == pytest.approx(0.3)
    assert figures.realtime_factor == pytest.approx(0.3 / 0.09)
    assert figures.chunks == 2


def test_lateness_is_the_players_and_is_kept_apart() -> None:
    assert measure(take((10.04, pcm(100)))).late_s == pytest.approx(0.05)
    assert measure(take((10.04, pcm(100)), issued_s=9.8)).late_s == 0.0


def test_first_audible_is_the_arrival_of_the_chunk_that_holds_it() -> None:
    figures = measure(take((10.02, pcm(100, silent=True)), (10.07, pcm(300))))
    assert figures.ttfb_s == pytest.approx(0.02)
    assert figures.ttfa_s == pytest.approx(0.07)
    assert figures.leading_silence_s == pytest.approx(0.1)


def test_heard_adds_the_silence_that_a_player_must_play_first() -> None:
    # the player starts at 10.02, plays 100 ms of silence, and is at the tone at 10.12
    figures = measure(take((10.02, pcm(100, silent=True)), (10.07, pcm(300))))
    assert figures.heard_s == pytest.approx(0.12)


def test_heard_is_the_arrival_when_the_player_had_run_dry() -> None:
    figures = measure(take((10.02, pcm(10, silent=True)), (10.07, pcm(300))))
    assert figures.heard_s == pytest.approx(0.07)
    assert figures.underruns == 1


def test_silence_within_the_chunk_delays_what_is_heard_but_not_its_arrival() -> None:
    figures = measure(take((10.03, pcm(200, silent=True) + pcm(300))))
    assert figures.ttfa_s == pytest.approx(0.03)
    assert figures.heard_s == pytest.approx(0.23)


def test_pre_roll_delays_what_is_heard() -> None:
    assert measure(take((10.03, pcm(300))), pre_roll_s=0.1).heard_s == pytest.approx(0.13)


def test_silence_alone_is_never_first_audio() -> None:
    figures = measure(take((10.02, pcm(500, silent=True))))
    assert figures.ttfb_s == pytest.approx(0.02)
    assert figures.ttfa_s is None
    assert figures.heard_s is None


def test_text_in_pieces_has_a_figure_from_its_last_piece() -> None:
    pieces = measure(take((10.5, pcm(300)), last_text_s=10.4))
    assert pieces.text_to_audio_s == pytest.approx(0.1)
    early = measure(take((10.5, pcm(300)), last_text_s=10.8))
    assert early.text_to_audio_s == pytest.approx(-0.3)
    assert measure(take((10.5, pcm(300)))).text_to_audio_s is None


def test_a_refusal_has_a_time_and_no_audio_figures() -> None:
    figures = measure(take(error="429: full", ended_s=10.012))
    assert figures.refused_s == pytest.approx(0.012)
    assert figures.ttfb_s is None
    assert figures.audio_s == 0.0
    assert figures.error == "429: full"


def test_a_request_that_was_never_sent_counts_from_when_it_was_issued() -> None:
    assert measure(take(error="no route", ended_s=10.0, started_s=None)).refused_s == pytest.approx(0.05)


def test_rtf_is_stated_compute_over_audio() -> None:
    assert measure(take((10.1, pcm(500)), compute_s=0.05)).rtf == pytest.approx(0.1)
    assert measure(take((10.1, pcm(500)))).rtf is None


def test_distribution_of_a_known_series() -> None:
    spread = distribution([float(value) for value in range(101)])
    assert spread is not None
    assert (spread.p50, spread.p90, spread.p95, spread.p99, spread.max) == (50.0, 90.0, 95.0, 99.0, 100.0)
    assert spread.count == 101
    assert spread.p95_ci.low < 95.0 <= spread.p95_ci.high <= 100.0


def test_bootstrap_is_seeded_and_has_no_width_where_all_are_equal() -> None:
    values = [0.1, 0.5, 0.2, 0.9, 0.3]
    assert distribution(values, seed=3) == distribution(values, seed=3)
    flat = distribution([0.25] * 20)
    assert flat is not None
    assert (flat.p50_ci.low, flat.p50_ci.high) == (0.25, 0.25)


def test_more_takes_make_the_interval_narrower() -> None:
    rng = np.random.default_rng(0)
    few = distribution(list(rng.normal(size=20)))
    many = distribution(list(rng.normal(size=2_000)))
    assert few is not None
    assert many is not None
    assert many.p50_ci.high - many.p50_ci.low < few.p50_ci.high - few.p50_ci.low


def test_no_values_no_distribution() -> None:
    assert distribution([]) is None
