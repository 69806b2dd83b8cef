from antiphon.models.moonshine_words import word_spans

VOCABULARY = [b"\xe2\x96\x81he", b"llo", b",", b"\xe2\x96\x81you"]


def test_a_word_ends_where_the_next_begins_and_keeps_its_mark() -> None:
    assert word_spans((0, 1, 2, 3), VOCABULARY) == [(0, 3), (3, 4)]


def test_what_begins_without_a_space_is_a_word_too() -> None:
    assert word_spans((1, 2), VOCABULARY) == [(0, 2)]


def test_nothing_heard_has_no_words() -> None:
    assert word_spans((), VOCABULARY) == []
