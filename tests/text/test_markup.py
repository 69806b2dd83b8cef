import pytest

from antiphon.core.errors import InvalidInput
from antiphon.text.markup import MarkupReader, check_phonemes
from antiphon.text.unit import Break, Emotion, Ipa, Piece, Sound, Speed, Spell, Text, Volume


def read(text: str) -> list[Piece]:
    reader = MarkupReader()
    merged: list[Piece] = []
    for piece in reader.feed(text) + reader.finish():
        if merged and isinstance(piece, Text) and isinstance(merged[-1], Text):
            merged[-1] = Text(merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return merged


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ('<speed ratio="1.25"/>', Speed(1.25)),
        ('<speed ratio="9"/>', Speed(1.5)),
        ("<speed ratio='0.1' />", Speed(0.6)),
        ('<volume ratio="0.5"/>', Volume(0.5)),
        ('<volume level="5"/>', Volume(2.0)),
        ("<VOLUME ratio=1.5>", Volume(1.5)),
        ('<emotion value="angry"/>', Emotion("angry")),
        ('<break time="1s"/>', Break(1.0)),
        ('<break time="500ms"/>', Break(0.5)),
        ('<pause time="1.5s"/>', Break(1.5)),
        ("<break time=“2s”/>", Break(2.0)),
        ("<spell>AB 12</spell>", Spell("AB 12")),
        ("<<k|ɑ|ɹ|ˈ|t|i|ʒ|ə>>", Ipa("kɑɹˈtiʒə", "kɑɹˈtiʒə")),
        ("[laughter]", Sound("laughter")),
        ("[Kokoro](/kˈOkəɹO/)", Ipa("Kokoro", "kˈOkəɹO")),
    ],
)
def test_tags(text, piece):
    assert read(text) == [piece]
    assert read(f"one {text} two") == [Text("one "), piece, Text(" two")]


@pytest.mark.parametrize(
    "text",
    [
        "5 < 10", "I <3 you", "a<b", "x <y and z> w", "1<<2", "cout << x", "<- here", "[1] note",
        "[see this]", "a [b](http://c.d)",
        "[docs](/a/b/c)", "List<String> x", "<", "[", "ends with <b", "<3", "if a <b then",
    ],
)  # fmt: skip
def test_what_is_not_a_tag_is_text(text):
    assert read(text) == [Text(text)]


@pytest.mark.parametrize(
    "text",
    ["<b>", "</b>", "<br/>", '<a href="x">', "<happy>", "<speed/>", '<speed ratio="fast"/>', "</speed>", "<break/>"],
)
def test_unknown_and_malformed_tags_are_dropped_without_words(text):
    assert read(f"one {text}two") == [Text("one two")]


def test_a_sign_that_cannot_become_a_tag_is_released_at_once():
    reader = MarkupReader()
    assert reader.feed("so 5 <") == [Text("so 5 ")]
    assert reader.feed(" ") == [Text("< ")]
    assert reader.held_chars == 0


def test_what_is_held_is_bounded():
    reader = MarkupReader()
    reader.feed('<a href="')
    for _ in range(100):
        reader.feed("x" * 10)
        assert reader.held_chars <= 260
    reader = MarkupReader()
    reader.feed("<spell>")
    for _ in range(1_000):
        reader.feed("x" * 10)
        assert reader.held_chars <= 2_100


def test_release_gives_doubtful_text_and_keeps_a_known_tag():
    reader = MarkupReader()
    reader.feed("a <b")
    assert reader.releasable
    assert reader.release() == [Text("<b")]
    reader.feed("<break ti")
    assert not reader.releasable
    assert reader.release() == []
    assert reader.feed('me="1s"/>') == [Break(1.0)]


def test_tags_inside_spelled_text_keep_their_place():
    assert read('<spell>AB<break time="1s"/>12</spell>!') == [Spell("AB"), Break(1.0), Spell("12"), Text("!")]


def test_spelling_without_an_end_is_kept():
    assert read("so <spell>AB1") == [Text("so "), Spell("AB1")]


def test_phonemes_of_a_whole_text_are_checked_beforehand() -> None:
    check_phonemes("5 << 6, [a](/b c d/ and <<k|æ|t>>")
    for wrong in ("a <<k|@|t>> b", "see [cat](/k@t/)"):
        with pytest.raises(InvalidInput, match="no symbol"):
            check_phonemes(wrong)
