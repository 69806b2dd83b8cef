"""What was heard of a speech."""

from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.event import Timed
from antiphon.dialog.playout import Playout

RATE = 1_000


def speech(text: str, *, times: bool = True, release: bool = True, delay_s: float = 0.0) -> Playout:
    """One word every 500 samples, all made at 0 s."""
    playout = Playout(delay_s)
    playout.write(text)
    if release:
        playout.release(0.0)
    words = text.split()
    playout.make(500 * len(words), RATE, 0.0)
    if times:
        playout.time([Timed(word, 500 * i, 500 * (i + 1)) for i, word in enumerate(words)])
    playout.agree(len(text))
    return playout


def test_a_word_counts_when_its_last_sample_was_played():
    playout = speech("one two three")
    assert playout.heard_text(0.499) == ""
    assert playout.heard_text(0.5) == "one"
    assert playout.heard_text(1.2) == "one two"
    assert playout.heard_text(9.0) == "one two three"
    assert playout.exact


def test_the_text_is_kept_as_it_was_written():
    playout = speech("**Yes**, it is\n$5.")
    assert playout.heard_text(0.5) == "**Yes**,"
    assert playout.heard_text(9.0) == "**Yes**, it is\n$5."


def test_words_that_are_spelled_otherwise_do_not_break_the_count():
    playout = Playout()
    playout.write("pay 5 dollars now")
    playout.release(0.0)
    playout.make(2_000, RATE, 0.0)
    spoken = ["pay", "five", "dollars", "now"]
    playout.time([Timed(word, 500 * i, 500 * (i + 1)) for i, word in enumerate(spoken)])
    assert playout.heard_text(1.0) == "pay 5"
    assert playout.heard_text(1.5) == "pay 5 dollars"


def test_words_of_scripts_without_spaces():
    playout = Playout()
    playout.write("你好世界")
    playout.release(0.0)
    playout.make(2_000, RATE, 0.0)
    playout.time([Timed(c, 500 * i, 500 * (i + 1)) for i, c in enumerate("你好世界")])
    assert playout.heard_text(1.0) == "你好"


def test_nothing_is_heard_of_what_is_held():
    playout = speech("one two", release=False)
    assert playout.heard_text(100.0) == ""
    playout.release(100.0)
    assert playout.heard_text(100.6) == "one"


def test_B7_what_a_phone_still_buffers_was_not_heard():
    playout = speech("one two three four", delay_s=1.0)
    assert playout.heard_text(1.0) == ""
    playout.clear(2.1)
    assert playout.heard_text(50.0) == "one two"


def test_B8_marks_of_cleared_audio_do_not_mean_played():
    playout = speech("one two three four")
    playout.mark("a", 500)
    playout.mark("b", 1_500)
    assert playout.return_mark("a")
    playout.clear(0.6)
    assert not playout.return_mark("b")
    assert playout.heard_text(9.0) == "one"


def test_reports_count_before_the_clock_and_never_go_back():
    playout = speech("one two three")
    playout.report(600)
    assert playout.heard_text(99.0) == "one"
    playout.report(300)
    playout.report(1_000_000)
    assert playout.position(0.0) == 1_500


def test_the_clients_last_word_after_a_clear():
    playout = speech("one two three")
    playout.clear(1.1)
    playout.truncate(500)
    assert playout.heard_text(9.0) == "one"


def test_the_clock_stands_still_where_there_is_no_audio():
    playout = Playout()
    playout.write("one two")
    playout.release(0.0)
    playout.make(500, RATE, 0.2)
    playout.time([Timed("one", 0, 500)])
    playout.make(1_000, RATE, 2.0)  # 1.3 s late
    playout.time([Timed("two", 500, 1_000)])
    assert playout.underruns == 1
    assert playout.heard_text(2.4) == "one"
    assert playout.heard_text(2.5) == "one two"


def test_without_word_times_the_estimate_is_in_proportion_and_whole_words():
    playout = speech("aaaa bbbb cccc dddd", times=False)
    assert not playout.exact
    assert playout.heard_text(0.9) == "aaaa"
    assert playout.heard_text(1.6) == "aaaa bbbb cccc"
    assert playout.heard_text(9.0) == "aaaa bbbb cccc dddd"


def test_without_word_times_an_unfinished_speech_goes_by_the_usual_pace():
    playout = Playout()
    playout.write("word " * 200)
    playout.release(0.0)
    playout.make(10_000, RATE, 0.0)
    assert len(playout.heard_text(5.0)) in range(60, 71)


@given(st.lists(st.sampled_from(["a", "be", "see,", "don't", "5"]), min_size=1, max_size=12), st.integers(0, 8_000))
def test_what_is_heard_is_a_growing_prefix_of_whole_words(words, played):
    text = " ".join(words)
    for times in (True, False):
        playout = speech(text, times=times)
        heard = playout.heard_text(played / RATE)
        assert text.startswith(heard)
        assert heard.split() == words[: len(heard.split())]
        assert len(playout.heard_text(played / RATE + 0.3)) >= len(heard)
