import pytest

from antiphon.text.markdown import HARD_BREAK, MarkdownStripper


def strip(text: str) -> str:
    stripper = MarkdownStripper()
    return stripper.feed(text) + stripper.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**bold** word", "bold word"),
        ("an *it* and _it_ word", "an it and it word"),
        ("***both***", "both"),
        ("`code_x` here", "code_x here"),
        ("~~gone~~ ok", "gone ok"),
        ("[text](https://a.b/c_d) ok", "text ok"),
        ("[**text**](u (v)) [y](a(b)c)", "[text](u (v)) y"),
        ("![alt](x.png) pic", "alt pic"),
        ("<https://a.example/x_y> ok", "https://a.example/x_y ok"),
        ("Great 😀! A 👨‍👩‍👧 and 🇩🇪 ❤️ 1️⃣", "Great ! A  and   1"),
        (r"5 \* 3 and \# one", "5 * 3 and # one"),
        ("> quoted words", "quoted words"),
    ],
)
def test_marks_are_stripped(text, expected):
    assert strip(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3", "2*3*4", "5 ** 2", "snake_case_name", "#1", "C#", "a #tag", "~5 minutes", "a | b",
        "-5 degrees", "x - y",
        "john_doe@a_b.example", "https://a.example/_x_/y*z?q=_1#h", "www.a_b.example", "Dr. No", "5. is it",
        "क्‍ष", "e.g. *",
        "wait!", "[1] and [x]", "2024 was", "a<b and c>d",
    ],
)  # fmt: skip
def test_words_numbers_and_addresses_are_kept(text):
    assert strip(text) == text


def test_T15_bold_that_straddles_tokens():
    stripper = MarkdownStripper()
    tokens = ["This is *", "*very", " bold*", "* and 2 ", "*", " 3 is _", "six_"]
    said = "".join(stripper.feed(token) for token in tokens)
    assert said + stripper.finish() == "This is very bold and 2 * 3 is six"


def test_headings_and_lists_end_like_sentences():
    assert strip("# Title\nText\n- one\n* two\n1. three\n") == (
        f"Title{HARD_BREAK}Text\n{HARD_BREAK}one{HARD_BREAK}two{HARD_BREAK}1. three{HARD_BREAK}"
    )


def test_rules_fences_and_tables_leave_their_words():
    assert strip("a\n---\nb").split() == ["a", "b"]
    assert strip("```python\nx_y = 2 * 3\n```\nDone").split() == ["x_y", "=", "2", "*", "3", "Done"]
    assert strip("| a | b |\n|---|:-:|\n| c | d |\n").replace(HARD_BREAK, "\n").split("\n")[:1] == ["a, b"]
    assert "|" not in strip("| a | b |\n|---|:-:|\n| c | d |\n")


def test_little_is_held_back():
    stripper = MarkdownStripper()
    assert stripper.feed("some *") == "some "
    assert stripper.held_chars == 1
    assert stripper.settle() == "*"
    assert stripper.feed("plain words go at once") == "plain words go at once"
