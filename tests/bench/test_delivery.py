"""Deliveries that can be worked out by hand: chunks of 100 ms, unless said otherwise."""

import pytest

from antiphon.bench.delivery import delivery

RATE_HZ = 1_000



def test_real_time_has_pace_one_and_needs_no_pre_roll() -> None:
    found = delivery([5.0, 5.1, 5.2], [100] * 3, RATE_HZ)
    assert found.pace == pytest.approx(1.0)
    assert (found.needed_pre_roll_s, found.stalls) == (pytest.approx(0.0), ())
    assert found.jitter_s == pytest.approx(0.0)


def test_the_needed_pre_roll_is_the_worst_lateness_against_the_first_chunk() -> None:
    assert delivery([0.0, 0.15, 0.2], [100] * 3, RATE_HZ).needed_pre_roll_s == pytest.approx(0.05)
    assert delivery([0.0, 0.01, 0.5], [100] * 3, RATE_HZ).needed_pre_roll_s == pytest.approx(0.3)


def test_a_pause_longer_than_the_chunk_before_it_is_a_stall() -> None:
    found = delivery([0.0, 0.1, 0.5, 0.6], [100] * 4, RATE_HZ)
    (stall,) = found.stalls
    assert (stall.begin_s, stall.length_s) == (pytest.approx(0.1), pytest.approx(0.4))
    assert stall.recovered_s is None, "at the pace of real time nothing is ever made up"
    assert found.worst_stall == stall


def test_long_chunks_may_be_far_apart() -> None:
    assert delivery([0.0, 1.05], [1_000] * 2, RATE_HZ).stalls == ()
    assert len(delivery([0.0, 1.15], [1_000] * 2, RATE_HZ).stalls) == 1


def test_recovery_is_when_the_lead_is_what_it_was() -> None:
    # lead at 0.1 s: 0.1 s. After 0.4 s of nothing: chunks at once; lead is 0.1 s again with the fourth of them
    found = delivery([0.0, 0.1, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8], [100] * 9, RATE_HZ)
    assert found.stalls[0].recovered_s == pytest.approx(0.3)


def test_jitter_is_the_mean_distance_from_the_median_pace() -> None:
    # distances 0.1 0.13 0.07 0.1: two of four are 30 ms off
    assert delivery([0.0, 0.1, 0.23, 0.3, 0.4], [100] * 5, RATE_HZ).jitter_s == pytest.approx(0.015)


def test_nothing_and_one_chunk() -> None:
    assert delivery([], [], RATE_HZ).pace is None
    assert delivery([1.0], [100], RATE_HZ).jitter_s == 0.0
