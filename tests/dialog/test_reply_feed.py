"""Text on its way to the voice."""

import pytest

from antiphon.dialog.reply_feed import Feed, Repeats


def test_sentences_are_given_out_whole():
    feed = Feed("sentences", "en")
    assert feed.upto("It costs $3.", 0, False) == 0
    text = "It costs $3.14. Thanks a lot. And n"
    assert text[: feed.upto(text, 0, False)] == "It costs $3.14. Thanks a lot. "
    assert feed.upto(text, 0, True) == len(text)


def test_a_whole_reply_waits_for_its_end_and_tokens_for_nothing():
    assert Feed("reply", "en").upto("One. Two. Three.", 0, False) == 0
    assert Feed("tokens", "en").upto("On", 0, False) == 2


@pytest.mark.parametrize(
    ("said", "deltas", "new"),
    [
        ("One two. Thr", ["One", " two.", " Three", " four."], "ee four."),
        ("One two.", ["One two. ", "Three."], " Three."),
        ("One two.", ["Three."], " Three."),
        ("One two. Three four", ["One two. ", "Other end."], " Other end."),
        ("One two. Three", [" ends", " here."], " ends here."),
        ("One two. Three", ["", " ends", " here."], " ends here."),
        ("I will", ["book it."], " book it."),
        ("I will ", ["book it."], "book it."),
        ("", ["Hello."], "Hello."),
        ("One.", ["On", "e", "."], ""),
    ],
)
def test_a_second_attempt_says_only_what_is_new(said, deltas, new):
    repeats = Repeats(said)
    assert "".join(repeats.feed(delta) for delta in deltas) == new
