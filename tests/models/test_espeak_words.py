"""Times in the user's words, from made-up events."""

import numpy as np

from antiphon.models.espeak_library import Mark, Speech
from antiphon.models.espeak_words import Script, ScriptWord, place


def speech(words: list[tuple[int, int, int]], phonemes: list[tuple[int, str]], length: int) -> Speech:
    """``words``: (sample, first character, characters)."""
    return Speech(
        np.zeros(length, np.float32),
        tuple(Mark(sample, "", start, chars) for sample, start, chars in words),
        tuple(Mark(sample, text, 0, 0) for sample, text in phonemes),
        whole=True,
    )


def told(times: tuple) -> list[tuple[str, int, int]]:  # type: ignore[type-arg]
    return [(timed.text, timed.start_sample, timed.end_sample) for timed in times]


def test_words_end_with_their_last_sound_and_phonemes_lose_stress() -> None:
    script = Script("so da", (ScriptWord("so", 0, 2, 0), ScriptWord("da", 3, 5, 3)))
    made = speech([(0, 0, 2), (30, 3, 2)], [(0, "s"), (10, "ˈoː"), (20, ""), (30, "d"), (40, "a"), (50, "")], 70)
    words, normalized, phonemes = place(script, "so da", made, 100, "de")
    assert told(words) == [("so", 100, 120), ("da", 130, 150)]
    assert normalized == words
    assert told(phonemes) == [("s", 100, 110), ("oː", 110, 120), ("d", 130, 140), ("a", 140, 150)]


def test_a_written_word_spans_all_that_it_became() -> None:
    script = Script("29 Euro 50", (ScriptWord("29", 0, 5, 0), ScriptWord("Euro", 0, 7, 3), ScriptWord("50", 0, 7, 8)))
    made = speech([(0, 0, 2), (10, 3, 4), (20, 8, 2)], [(0, "a"), (10, "b"), (20, "c")], 30)
    words, normalized, _ = place(script, "29,50 €", made, 0, "de")
    assert told(normalized) == [("29", 0, 10), ("Euro", 10, 20), ("50", 20, 30)]
    assert told(words)[0] == ("29,50", 0, 30)
    assert told(words)[1][2] == 30


def test_a_word_without_a_sound_takes_no_time() -> None:
    script = Script("ja — nein", (ScriptWord("ja", 0, 2, 0), ScriptWord("—", 3, 4, 3), ScriptWord("nein", 5, 9, 5)))
    made = speech([(0, 0, 2), (50, 5, 4)], [(0, "a"), (20, ""), (50, "n")], 80)
    words, _, _ = place(script, "ja — nein", made, 0, "de")
    assert told(words) == [("ja", 0, 20), ("—", 20, 20), ("nein", 50, 80)]


def test_characters_that_share_an_event_share_its_time() -> None:
    script = Script("你好吗", (ScriptWord("你", 0, 1, 0), ScriptWord("好", 1, 2, 1), ScriptWord("吗", 2, 3, 2)))
    made = speech([(0, 0, 1), (40, 2, 1)], [(0, "n"), (20, "x"), (40, "m")], 60)
    words, _, _ = place(script, "你好吗", made, 0, "zh")
    assert told(words) == [("你", 0, 20), ("好", 20, 40), ("吗", 40, 60)]


def test_words_are_placed_where_nothing_sounded() -> None:
    script = Script("…", (ScriptWord("…", 0, 1, 0),))
    words, normalized, phonemes = place(script, "…", None, 77, "de")
    assert told(words) == [("…", 77, 77)]
    assert told(normalized) == [("…", 77, 77)]
    assert phonemes == ()


def test_a_library_that_tells_of_no_word_is_believed() -> None:
    script = Script("ja", (ScriptWord("ja", 0, 2, 0),))
    words, _, phonemes = place(script, "ja", speech([], [], 40), 100, "de")
    assert told(words) == [("ja", 100, 100)]
    assert phonemes == ()
