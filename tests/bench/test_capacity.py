from collections import Counter

import pytest

from antiphon.bench.capacity import Limits, Verdict, judge, search
from antiphon.bench.measure import Measured, measure

from .test_measure import RATE_HZ, pcm, take


def up_to(limit: int) -> "tuple[list[int], object]":
    asked: list[int] = []

    def probe(streams: int) -> Verdict:
        asked.append(streams)
        return Verdict(streams, streams <= limit)

    return asked, probe


@pytest.mark.parametrize("limit", [1, 3, 15, 16, 17, 37, 100, 127, 128, 500])
def test_search_finds_the_limit(limit: int) -> None:
    _, probe = up_to(limit)
    assert search(probe, start=16, highest=1024, resolution=1).streams == limit  # type: ignore[arg-type]


def test_search_is_short_and_brackets_the_answer() -> None:
    asked, probe = up_to(100)
    found = search(probe, start=16, highest=1024, resolution=4)  # type: ignore[arg-type]
    assert 97 <= found.streams <= 100
    assert found.fails_at is not None
    assert found.streams < found.fails_at <= found.streams + 4
    assert len(asked) <= 10


def test_nothing_holds() -> None:
    _, probe = up_to(0)
    found = search(probe, start=8, resolution=1)  # type: ignore[arg-type]
    assert (found.streams, found.fails_at) == (0, 1)


def test_search_stops_at_the_highest_load_allowed() -> None:
    asked, probe = up_to(10_000)
    found = search(probe, start=16, highest=100)  # type: ignore[arg-type]
    assert (found.streams, found.fails_at) == (100, None)
    assert max(asked) == 100


def test_an_answer_must_hold_twice() -> None:
    seen: Counter[int] = Counter()

    def lucky_at_64(streams: int) -> Verdict:
        seen[streams] += 1
        return Verdict(streams, streams <= 50 or (streams == 64 and seen[64] == 1))

    found = search(lucky_at_64, start=64, highest=64, resolution=2)
    assert 48 <= found.streams <= 50
    assert seen[64] == 2
    assert seen[found.streams] == 2


def figures(*, gap: bool = False, ttfa_s: float = 0.05) -> Measured:
    second = 10.0 + ttfa_s + (0.5 if gap else 0.05)
    return measure(take((10.0 + ttfa_s, pcm(100)), (second, pcm(100)), issued_s=9.9))


def test_clean_takes_hold() -> None:
    assert RATE_HZ
    verdict = judge(4, [figures()] * 4, Limits(ttfa_p95_s=0.1))
    assert verdict.holds
    assert verdict.ttfa_p95_s == pytest.approx(0.05)


def test_one_underrun_fails() -> None:
    verdict = judge(4, [figures(), figures(gap=True)], Limits())
    assert not verdict.holds
    assert "underrun" in verdict.reasons[0]


def test_a_refusal_fails_and_is_quoted() -> None:
    verdict = judge(4, [figures(), measure(take(error="at capacity"))], Limits())
    assert not verdict.holds
    assert "at capacity" in verdict.reasons[0]


def test_slow_first_audio_fails_only_against_a_limit() -> None:
    slow = [figures(ttfa_s=0.3)] * 10
    assert judge(4, slow, Limits()).holds
    assert not judge(4, slow, Limits(ttfa_p95_s=0.2)).holds


def test_a_late_player_proves_nothing() -> None:
    late = measure(take((10.05, pcm(100)), scheduled_s=9.0, issued_s=9.9))
    verdict = judge(1, [late], Limits())
    assert not verdict.holds
    assert "player" in verdict.reasons[0]


def test_silence_and_nothing_do_not_hold() -> None:
    assert not judge(1, [measure(take((10.1, pcm(100, silent=True))))], Limits()).holds
    assert not judge(1, [], Limits()).holds
