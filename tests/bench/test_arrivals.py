import itertools

import pytest

from antiphon.bench.arrivals import burst, bursts, one_at_a_time, share, steady


def test_steady_starts_at_the_rate_that_keeps_n_streams_playing() -> None:
    schedule = steady(50, 8.0, seed=1, measured=4_000)
    span_s = schedule.starts_s[schedule.first + 3_999] - schedule.starts_s[schedule.first]
    assert 4_000 / span_s == pytest.approx(50 / 8.0, rel=0.05)


def test_streams_playing_at_once_are_n_on_average() -> None:
    schedule = steady(20, 5.0, seed=2, measured=2_000)
    starts = schedule.starts_s
    begin_s, end_s = starts[schedule.first], starts[schedule.first + 1_999]
    at = [begin_s + (end_s - begin_s) * step / 500 for step in range(500)]
    playing = [sum(1 for start in starts if start <= now < start + 5.0) for now in at]
    assert sum(playing) / len(playing) == pytest.approx(20, rel=0.1)


def test_gaps_between_starts_are_exponential() -> None:
    starts = steady(10, 1.0, seed=3, measured=5_000).starts_s
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert variance**0.5 == pytest.approx(mean, rel=0.1)


def test_warm_up_is_not_measured_and_the_load_outlasts_the_last_measured_start() -> None:
    schedule = steady(16, 4.0, seed=4)
    assert schedule.measured == 200
    assert schedule.starts_s[schedule.first] >= 8.0
    assert schedule.starts_s[schedule.first - 1] < 8.0
    last_measured_s = schedule.starts_s[schedule.first + 199]
    behind = [start for start in schedule.starts_s if start > last_measured_s]
    assert behind
    assert max(behind) <= last_measured_s + 4.0


def test_same_seed_same_schedule() -> None:
    assert steady(8, 2.0, seed=5) == steady(8, 2.0, seed=5)
    assert steady(8, 2.0, seed=5).starts_s != steady(8, 2.0, seed=6).starts_s


def test_burst_is_one_moment() -> None:
    schedule = burst(64, at_s=0.5)
    assert set(schedule.starts_s) == {0.5}
    assert schedule.requests == schedule.measured == 64


def test_bursts_keep_their_distance() -> None:
    assert bursts(2, 3, 1.5).starts_s == (0.0, 0.0, 1.5, 1.5, 3.0, 3.0)


def test_one_at_a_time_is_one_caller_with_warm_up() -> None:
    schedule = one_at_a_time(200, first=5)
    assert (schedule.streams, schedule.requests, schedule.first) == (1, 205, 5)


def test_players_share_all_starts_without_overlap() -> None:
    schedule = steady(8, 1.0, seed=7, measured=50)
    shares = [share(schedule, 3, player) for player in range(3)]
    assert sorted(index for part in shares for index in part) == list(range(schedule.requests))


@pytest.mark.parametrize("arguments", [(0, 1.0), (1, 0.0), (1, -1.0)])
def test_senseless_loads_are_refused(arguments: tuple[int, float]) -> None:
    with pytest.raises(ValueError):
        steady(*arguments, seed=1)
