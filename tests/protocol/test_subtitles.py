"""Cues of bearable size, and files that players read."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.hearing import EAR_RATE_HZ, HeardWord
from antiphon.protocol.subtitles import Cue, CueLimits, clock, columns, cues_of, srt, vtt


def spoken(text: str, step_s: float = 0.3, start_s: float = 0.0) -> list[HeardWord]:
    """One word every ``step_s``, without pauses."""

    def sample(at: int) -> int:
        return round((start_s + at * step_s) * EAR_RATE_HZ)

    return [HeardWord(token, sample(at), sample(at + 1)) for at, token in enumerate(re.findall(r"\s*\S+", text))]


def texts(cues: list[Cue]) -> list[str]:
    return ["|".join(cue.lines) for cue in cues]


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (0, "00:00:00,000"),
        (999, "00:00:00,999"),
        (59_999, "00:00:59,999"),
        (60_000, "00:01:00,000"),
        (3_599_999, "00:59:59,999"),
        (3_600_000, "01:00:00,000"),
        (363_723_004, "101:02:03,004"),
    ],
)
def test_clock(ms: int, shown: str) -> None:
    assert clock(ms, ",") == shown


@pytest.mark.parametrize(
    ("samples", "shown"),
    [
        (59 * EAR_RATE_HZ + 15_991, "00:00:59,999"),
        (59 * EAR_RATE_HZ + 15_992, "00:01:00,000"),
        (60 * EAR_RATE_HZ - 1, "00:01:00,000"),
        (3600 * EAR_RATE_HZ - 1, "01:00:00,000"),
        (7, "00:00:00,000"),
        (8, "00:00:00,001"),
    ],
)
def test_rounding_carries_into_seconds_minutes_and_hours(samples: int, shown: str) -> None:
    [cue] = cues_of([HeardWord("x", samples, samples + EAR_RATE_HZ)])
    assert clock(cue.start_ms, ",") == shown


def test_srt() -> None:
    cues = cues_of([*spoken("Hello there, old friend."), *spoken("How are you?", start_s=3)])
    assert srt(cues) == (
        "1\n00:00:00,000 --> 00:00:01,200\nHello there, old friend.\n\n"
        "2\n00:00:03,000 --> 00:00:03,900\nHow are you?\n\n"
    )


def test_vtt_escapes_what_would_be_markup() -> None:
    cues = cues_of(spoken("if a<b && c>d then --> go"))
    assert vtt(cues) == "WEBVTT\n\n00:00:00.000 --> 00:00:02.100\nif a&lt;b &amp;&amp; c&gt;d then → go\n\n"
    assert vtt([]) == "WEBVTT\n\n"
    assert srt([]) == ""


def test_lines_and_cues_are_filled_but_not_beyond() -> None:
    cues = cues_of(spoken("word " * 60, step_s=0.05))
    assert texts(cues)[0] == "|".join(["word word word word word word word word"] * 2)
    assert all(len(cue.lines) <= 2 and all(columns(line) <= 42 for line in cue.lines) for cue in cues)


def test_a_pause_ends_a_cue() -> None:
    assert texts(cues_of([*spoken("One two"), *spoken(" three", start_s=1.3)])) == ["One two three"]
    assert texts(cues_of([*spoken("One two"), *spoken(" three", start_s=1.4)])) == ["One two", "three"]


def test_a_sentence_ends_a_cue_unless_that_would_be_tiny() -> None:
    assert texts(cues_of(spoken("Yes. No. Perhaps we should ask her. Then go", 0.2))) == [
        "Yes. No. Perhaps we should ask her.",
        "Then go",
    ]
    assert texts(cues_of(spoken('She said: "I will not come today." Then she left', 0.2)))[0].endswith('today."')


def test_a_cue_lasts_seven_seconds_at_most() -> None:
    cues = cues_of(spoken("a " * 20, step_s=1.0))
    assert [cue.end_ms - cue.start_ms for cue in cues] == [7000, 7000, 6000]


def test_wide_characters_take_two_columns_and_text_without_spaces_is_cut() -> None:
    assert columns("日本 e\u0301") == 6
    sentence = "日" * 100
    cues = cues_of([HeardWord(sentence, 0, 10 * EAR_RATE_HZ)])
    assert "".join("".join(cue.lines) for cue in cues) == sentence
    assert all(columns(line) <= 42 for cue in cues for line in cue.lines)
    assert cues[0].start_ms == 0
    assert cues[-1].end_ms == 10_000


def test_line_breaks_inside_words_do_not_end_the_cue() -> None:
    assert "\n\n" not in srt(cues_of(spoken("One\n\ntwo \r\n three"))).rstrip("\n")


word_lists = st.lists(
    st.tuples(st.text(max_size=50) | st.sampled_from(["a.", " b", " c?", "。", "x" * 100]), st.integers(0, 40_000),
              st.integers(-2000, 90_000)),
    max_size=30,
)  # fmt: skip


@given(word_lists, st.integers(1, 60))
@settings(max_examples=150, deadline=None)
def test_any_words_give_cues_in_order_that_hold_all_the_text(steps: list[tuple[str, int, int]], width: int) -> None:
    words, at = [], 0
    for text, gap, length in steps:
        words.append(HeardWord(text, at + gap, at + gap + length))
        at += gap + max(0, length)
    cues = cues_of(words, CueLimits(line_columns=width))
    said = "".join("".join(cue.lines) for cue in cues)
    assert "".join(said.split()) == "".join("".join(word.text for word in words).split())
    for cue in cues:
        assert cue.start_ms < cue.end_ms
        assert all(line.strip() == line != "" for line in cue.lines)
    for one, following in itertools.pairwise(cues):
        assert one.end_ms <= following.start_ms
    blocks = [block for block in srt(cues).split("\n\n") if block]
    assert len(blocks) == len(cues)
