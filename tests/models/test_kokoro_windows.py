"""Windows cover a phrase without a gap, keep their bound, and lie where the plan is quiet."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from antiphon.models.hibari_phrase import Layout, Phrase
from antiphon.models.kokoro_windows import FIRST, HALO, MAX_DECODED, MAX_OWN, Window, windows


def staged(words: list[int], pauses: set[int] = frozenset()) -> tuple[Phrase, Layout, NDArray[np.float32]]:  # type: ignore[assignment]
    """Words of so many half frames; each ends in four quiet ones, or twenty where a comma follows."""
    symbols, owners, onsets, energy = "", list[int](), [10], [-9.0] * 10
    for index, length in enumerate(words):
        text = "kat" + ("," if index in pauses else "") + (" " if index < len(words) - 1 else "")
        symbols += text
        owners += [index] * len(text)
        quiet = 20 if index in pauses else 4
        step = length // 3
        onsets += [onsets[-1] + step, onsets[-1] + 2 * step, onsets[-1] + length]
        onsets += [onsets[-1] + quiet] * (len(text) - 3)
        energy += [7.0] * length + [-5.0] * (onsets[-1] - len(energy) - length)
    energy += [-9.0] * 20
    places = np.asarray(onsets, np.int64)
    layout = Layout(10, int(places[-1]), places, 0, 0)
    return Phrase(symbols, tuple(owners), "", ""), layout, np.asarray(energy, np.float32)


def cut(words: list[int], pauses: set[int] = frozenset(), ahead: int = 0) -> list[Window]:  # type: ignore[assignment]
    phrase, layout, energy = staged(words, pauses)
    return list(windows(phrase, layout, np.full(len(energy), 200, np.float32), energy, ahead))


@given(st.lists(st.integers(9, 700), min_size=1, max_size=30), st.integers(0, 100_000))
def test_windows_cover_the_phrase_in_order_and_none_is_longer_than_the_bound(words: list[int], ahead: int) -> None:
    _, layout, _ = staged(words)
    found = cut(words, ahead=ahead)
    assert found[0].start == layout.start
    assert found[-1].stop == layout.stop
    assert all(a.stop == b.start for a, b in pairwise(found))
    assert all(0 < window.stop - window.start <= MAX_OWN < MAX_DECODED for window in found)


def test_the_first_window_is_small_and_later_ones_grow() -> None:
    sizes = [window.stop - window.start for window in cut([30] * 30)]
    assert sizes[0] <= 1.4 * FIRST
    assert sizes[0] < sizes[1] < sizes[2]
    # Made while the one before it plays, at half a second of work for each second and its surroundings.
    assert all((later + 2 * HALO) / 2 <= earlier for earlier, later in pairwise(sizes))


def test_cuts_lie_between_words() -> None:
    words = [30] * 20
    _, _, energy = staged(words)
    for window in cut(words)[:-1]:
        assert energy[window.stop] < 0


def test_a_pause_is_preferred_to_a_place_between_words() -> None:
    words = [24] * 12
    phrase, layout, _ = staged(words, {2})
    comma = phrase.symbols.index(",")
    first = cut(words, {2})[0]
    assert layout.onsets[comma] <= first.stop <= layout.onsets[comma + 2]


def test_a_short_phrase_is_one_window() -> None:
    assert len(cut([30, 30])) == 1


def test_what_is_left_is_never_a_scrap() -> None:
    for last in range(20, 200, 7):
        sizes = [window.stop - window.start for window in cut([30, 30, 30, 30, last])]
        assert len(sizes) == 1 or sizes[-1] >= 30, sizes


def test_a_word_longer_than_a_window_is_cut_at_its_quietest_moment() -> None:
    phrase, layout, energy = staged([900])
    energy[120] = -3.0
    found = list(windows(phrase, layout, np.full(len(energy), 200, np.float32), energy, 1_000))
    assert found[0].stop == 120


def test_a_quiet_voiced_place_costs_more_than_a_quiet_unvoiced_one() -> None:
    phrase, layout, energy = staged([48] * 6)
    f0 = np.full(len(energy), 200, np.float32)
    gaps = [int(layout.onsets[at]) for at, symbol in enumerate(phrase.symbols) if symbol == " "]
    found = []
    for gap in gaps[:2]:
        there = f0.copy()
        there[gap - 6 : gap + 6] = 0
        found.append(next(windows(phrase, layout, there, energy, 0)).stop)
    assert [min(gaps, key=lambda gap: abs(gap - stop)) for stop in found] == gaps[:2]
