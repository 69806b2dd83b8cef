from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.text.align import align, split_words
from antiphon.text.normalize import normalize


def became(original: str, spoken: str, language: str = "en") -> list[tuple[str, str]]:
    words = split_words(spoken, language)
    return [(span.word, " ".join(words[span.start : span.end])) for span in align(original, spoken, language)]


def test_written_forms_get_all_the_words_they_became():
    line = "I paid $29.50 to ana@firma.example.dev, GPT-4 said 3.2.1."
    assert became(line, normalize(line)) == [
        ("I", "I"),
        ("paid", "paid"),
        ("$29.50", "29 dollars and 50 cents"),
        ("to", "to"),
        ("ana@firma.example.dev,", "ana at firma dot example dot dev,"),
        ("GPT-4", "G P T four"),
        ("said", "said"),
        ("3.2.1.", "three point two point one."),
    ]


def test_words_without_sound_share_their_neighbour():
    assert became("Hello :) you", "Hello you") == [("Hello", "Hello"), (":)", "Hello"), ("you", "you")]


def test_nothing_spoken_gives_empty_spans():
    assert became("a b", "") == [("a", ""), ("b", "")]


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Hello, big world.", "en", ["Hello,", "big", "world."]),
        ("今天，很好。", "zh", ["今", "天，", "很", "好。"]),
        ("使用GPT-4吧", "zh", ["使", "用", "GPT-4", "吧"]),
        ("ไทย", "th", ["ไ", "ท", "ย"]),
        ("한국어 말", "ko", ["한국어", "말"]),
        ("", "en", []),
    ],
)
def test_split_words(text, language, words):
    assert split_words(text, language) == words


WORDS = st.lists(st.sampled_from(["a", "b", "the", "5", "$5", "x.y", "--", "four", "one"]), max_size=20).map(" ".join)


@given(WORDS, WORDS)
@settings(max_examples=300, deadline=None)
def test_spans_are_in_order_and_cover_everything(original, spoken):
    spans, count = align(original, spoken), len(spoken.split())
    assert [span.word for span in spans] == original.split()
    for before, after in pairwise(spans):
        assert before.start <= after.start <= before.end
        assert before.end <= after.end
    if spans and count:
        assert spans[0].start == 0
        assert spans[-1].end == count
        assert all(span.start < span.end for span in spans)
