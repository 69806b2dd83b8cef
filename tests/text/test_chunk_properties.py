"""What holds for every text: nothing is lost, nothing is too long, and token boundaries do not matter."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.text.chunk import Chunker
from antiphon.text.markdown import MarkdownStripper
from antiphon.text.markup import MarkupReader
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Spell, Text, Unit

WORDS = [
    "the", "a", "of", "and", "to", "I", "we", "because", "which", "in", "on", "dog", "running", "seventeen",
    "$29.50", "3.14", "1,000.50", "Mr.", "Dr.", "e.g.", "etc.", "U.S.", "p.m.", "St.", "J.", "No.", "5",
    "km", "ana@firma.example.dev", "shop.berlin", "https://a.example/x_y?z=1", "Hello,", "there.", "Yes.",
    "Oui.", "really?", "Stop!", "wait...", "(see", "below)", '"Hi."', "—", "-", "so;", "Then", "The",
    "extraordinarily-long-compound-word", "1234567890123456", "你好。", "今天", "去，公园", "です。", "ठीक", "है।", "؟",
    "\n", "\n\n", "…",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
ANY = st.text(st.sampled_from("ab E.,!?;:-—$5 \n\"'()[]<>/*_#`~|1。，、？नी।\u2028"), max_size=300)
LANGUAGES = st.sampled_from(["en", "de", "fr", "zh", "ja", "th", "hi", "el", "ka"])


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def said(units: list[Unit]) -> str:
    return letters("".join(unit.text for unit in units))


def speak(text: str, sizes: list[int], language: str) -> list[Unit]:
    chunker = Chunker(language)
    units: list[Unit] = []
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        units += chunker.push([Text(text[at : at + size])], 0.0)
        at, turn = at + size, turn + 1
    return units + chunker.flush(0.0)


def essence(units: list[Unit]) -> list[tuple[str, str, bool, str]]:
    return [(unit.text, unit.ending, unit.first, unit.before) for unit in units]


@given(TEXTS | ANY, st.lists(st.integers(1, 30), min_size=1, max_size=8), LANGUAGES)
@settings(max_examples=300, deadline=None)
def test_token_boundaries_do_not_change_the_units(text, sizes, language):
    assert essence(speak(text, sizes, language)) == essence(speak(text, [10_000], language))


@given(TEXTS | ANY, LANGUAGES)
@settings(max_examples=200, deadline=None)
def test_no_word_is_lost_and_no_unit_is_too_long(text, language):
    units = speak(text, [7], language)
    assert said(units) == letters(text)
    assert all(0 < len(unit.text) <= 160 and len(unit.text.split()) <= 25 for unit in units)
    assert all(unit.text == unit.text.strip() for unit in units)


@given(TEXTS | ANY, st.lists(st.integers(0, 40), max_size=12), LANGUAGES)
@settings(max_examples=200, deadline=None)
def test_no_word_is_lost_when_time_passes_between_tokens(text, gaps, language):
    chunker, now_s, at = Chunker(language), 0.0, 0
    units: list[Unit] = []
    for gap in gaps:
        units += chunker.push([Text(text[at : at + 9])], now_s)
        at += 9
        now_s += gap / 10
        units += chunker.tick(now_s)
    units += chunker.push([Text(text[at:])], now_s) + chunker.flush(now_s)
    assert said(units) == letters(text)
    assert all(len(unit.text) <= 160 for unit in units)


@given(TEXTS | ANY)
@settings(max_examples=200, deadline=None)
def test_text_that_waits_goes_out_by_itself(text):
    chunker, now_s = Chunker(), 0.0
    units = chunker.push([Text(text)], now_s)
    for _ in range(100):
        if chunker.due_s is None:
            break
        now_s = max(now_s, chunker.due_s)
        units += chunker.tick(now_s)
    assert chunker.due_s is None
    assert said(units) == letters(text)


@given(ANY, st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(max_examples=300, deadline=None)
def test_markdown_does_not_depend_on_token_boundaries(text, sizes):
    whole, parts = MarkdownStripper(), MarkdownStripper()
    expected = whole.feed(text) + whole.finish()
    got, at, turn = "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        got += parts.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert got + parts.finish() == expected


TAG_LIKE = st.text(st.sampled_from("ab5 <>[]()/|=\"\n!"), max_size=200)


@given(TAG_LIKE, st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(max_examples=300, deadline=None)
def test_markup_does_not_depend_on_token_boundaries(text, sizes):
    def merged(pieces):
        out = []
        for piece in pieces:
            if out and isinstance(piece, Text) and isinstance(out[-1], Text):
                out[-1] = Text(out[-1].text + piece.text)
            else:
                out.append(piece)
        return out

    whole, parts = MarkupReader(), MarkupReader()
    expected = merged(whole.feed(text) + whole.finish())
    got, at, turn = [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        got += parts.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert merged(got + parts.finish()) == expected


@given(ANY, st.integers(1, 9), st.sampled_from([0.0, 0.5, 3.0]))
@settings(max_examples=200, deadline=None)
def test_reader_swallows_no_letter_or_digit(text, size, delay_s):
    text = re.sub(r"<+(?=[a-zA-Z/])|[\[\]]|\d+[.)]", " ", text)
    reader = SpeechReader("en", delay_s)
    units: list[Unit] = []
    for at in range(0, len(text), size):
        units += reader.push(text[at : at + size], 0.0)
    units += reader.flush(0.0)
    if "```" not in text:  # the language after a fence is not spoken
        assert said(units) == letters(text)
    assert reader.pending_chars == 0


@given(st.text(st.sampled_from("AB1-"), min_size=1, max_size=90))
def test_spelled_text_is_kept_whole_or_in_long_parts(text):
    chunker = Chunker()
    units = chunker.push([Text("Code "), Spell(text), Text(" is it.")], 0.0) + chunker.flush(0.0)
    parts = [piece.text for unit in units for piece in unit.pieces if isinstance(piece, Spell)]
    assert "".join(parts) == text
    assert all(len(part) == 24 for part in parts[:-1])
