"""Every figure of an ear against a conversation that can be checked by hand."""

import numpy as np
import pytest

from antiphon.bench.clip import Clip, ClipWord
from antiphon.bench.hearing import Hearing
from antiphon.bench.measure_stt import (
    common_words,
    measure_final,
    measure_turn,
    plain_words,
    slope,
    word_time_errors,
    words_lost,
)
from antiphon.protocol.cartesia_stt_messages import (
    SttDone,
    SttFlushDone,
    SttTranscript,
    SttWord,
    TurnEagerEnd,
    TurnEnd,
    TurnResume,
    TurnsConnected,
    TurnStart,
    TurnUpdate,
)

RATE_HZ = 1_000
BEGIN_S = 100.0


def clip(**changes: object) -> Clip:
    """4 s, speech from 0.5 to 3.0 s; at 1 kHz a sample is a millisecond."""
    values: dict[str, object] = {
        "name": "one",
        "samples": np.zeros(4_000, np.float32),
        "rate_hz": RATE_HZ,
        "speech": (500, 3_000),
        "reference": "mend the coat before you go out",
    }
    return Clip(**(values | changes))  # type: ignore[arg-type]


def heard(*said: tuple[float, object], of: Clip | None = None, **changes: object) -> Hearing:
    """``said``: (seconds from the beginning of the clip, message)."""
    values: dict[str, object] = {
        "clip": of or clip(),
        "begin_s": BEGIN_S,
        "finalize_s": BEGIN_S + 3.0,
        "close_s": None,
        "stamps_s": tuple(BEGIN_S + at_s for at_s, _ in said),
        "messages": tuple(message for _, message in said),
        "behind_s": 0.001,
        "ended_s": BEGIN_S + 5,
    }
    return Hearing(**(values | changes))  # type: ignore[arg-type]


def interim(text: str) -> SttTranscript:
    return SttTranscript(request_id="r", text=text, is_final=False)


def final(text: str, *words: SttWord) -> SttTranscript:
    if words:
        return SttTranscript(request_id="r", text=text, is_final=True, words=list(words))
    return SttTranscript(request_id="r", text=text, is_final=True)


FLUSHED = SttFlushDone(request_id="r")


def start() -> TurnStart:
    return TurnStart(request_id="r")


def update(text: str) -> TurnUpdate:
    return TurnUpdate(request_id="r", transcript=text)


def eager(text: str) -> TurnEagerEnd:
    return TurnEagerEnd(request_id="r", transcript=text)


def resume() -> TurnResume:
    return TurnResume(request_id="r")


def end(text: str) -> TurnEnd:
    return TurnEnd(request_id="r", transcript=text)


def test_the_final_is_counted_from_finalize_to_the_last_words_not_to_flush_done() -> None:
    figures = measure_final(heard((1.2, interim("Mend the")), (3.11, final("Mend the coat.")), (3.13, FLUSHED)))
    assert figures.final_s == pytest.approx(0.11)
    assert figures.flush_done_s == pytest.approx(0.13)
    assert figures.text == "Mend the coat."
    assert figures.audio_s == pytest.approx(3.0)


def test_of_several_finals_the_last_counts() -> None:
    said = ((2.0, final("Mend")), (3.05, final(" the")), (3.20, final(" coat.")), (3.21, FLUSHED))
    figures = measure_final(heard(*said))
    assert figures.final_s == pytest.approx(0.20)
    assert figures.text == "Mend the coat."
    assert figures.words == 3


def test_words_that_were_final_before_finalize_are_there_at_once() -> None:
    assert measure_final(heard((2.9, final("Mend.")), (3.02, FLUSHED))).final_s == 0.0


def test_an_empty_final_is_no_answer() -> None:
    figures = measure_final(heard((3.05, final("")), (3.06, FLUSHED)))
    assert figures.final_s is None
    assert figures.flush_done_s == pytest.approx(0.06)
    assert figures.words == 0


def test_first_words_are_counted_from_the_beginning_of_speech() -> None:
    figures = measure_final(heard((0.9, interim(" ")), (1.2, interim("Mend")), (3.1, final("Mend.")), (3.1, FLUSHED)))
    assert figures.first_interim_s == pytest.approx(0.7)
    assert figures.interims == 2


def test_revisions_are_words_shown_that_later_changed() -> None:
    figures = measure_final(
        heard(
            (1.0, interim("men the")),
            (1.5, interim("Mend the goat")),  # men was wrong: 1
            (2.0, interim("Mend the coat, before")),  # goat was wrong: 1
            (3.1, final("Mend the coat before.")),  # marks and capitals are no words
            (3.1, FLUSHED),
        )
    )
    assert figures.revised == 2


def test_interims_after_a_final_do_not_take_it_back() -> None:
    figures = measure_final(
        heard((1.0, final("Mend the")), (1.5, interim(" goat")), (2.0, interim(" coat")), (3.1, final(" coat.")))
    )
    assert figures.revised == 1
    assert figures.words == 3


def test_a_word_put_in_between_is_no_revision_of_its_neighbours() -> None:
    assert words_lost("mend coat before", "mend the coat before") == 0
    assert words_lost("mend the coat", "mend coat") == 1
    assert words_lost("one two three", "four five six") == 3
    assert words_lost("", "anything") == 0


def test_common_words_is_a_longest_common_subsequence() -> None:
    assert common_words(["a", "b", "c", "d"], ["a", "x", "c", "d"]) == [(0, 0), (2, 2), (3, 3)]
    assert common_words(["a", "b", "c"], ["b", "c", "a"]) == [(1, 0), (2, 1)]
    assert common_words([], ["a"]) == []


def test_plain_words_have_no_capitals_and_no_marks() -> None:
    assert plain_words("  It's - the END, 'of' it... ") == ["it's", "the", "end", "of", "it"]


def test_word_times_are_told_minus_true_of_the_words_heard_right() -> None:
    known = clip(words=(ClipWord("Mend", 0.5, 0.8), ClipWord("the", 0.8, 1.0), ClipWord("coat", 1.0, 1.4)))
    told = final("mend a coat", SttWord("mend", 0.52, 0.80), SttWord("a", 0.9, 1.0), SttWord("coat", 0.95, 1.5))
    errors = word_time_errors(heard((1.0, interim("mend")), (3.1, told), of=known))
    assert errors == [pytest.approx((0.02, 0.0)), pytest.approx((-0.05, 0.1))]
    assert word_time_errors(heard((3.1, final("mend the coat")), of=known)) == []


def turn_clip(**changes: object) -> Clip:
    """Speech from 0.5 to 3.0 s with a pause from 1.2 to 2.0 s."""
    return clip(pauses=((1_200, 2_000),), **changes)


def test_a_turn_is_timed_from_the_true_end() -> None:
    figures = measure_turn(
        heard(
            (0.0, TurnsConnected(request_id="r")),
            (0.7, start()),
            (1.1, update("Mend the")),
            (3.2, update("Mend the coat")),
            (3.3, eager("Mend the coat before you")),
            (3.55, end("Mend the coat, before you")),
            of=turn_clip(),
        )
    )
    assert figures.start_s == pytest.approx(0.2)
    assert figures.words_s is not None
    # the end did change a text, but no word: a comma at "coat" is not an extension, which is counted
    assert figures.words_s == pytest.approx(0.3)
    assert figures.shrunk == 1
    assert figures.eager_s == pytest.approx(0.3)
    assert figures.end_s == pytest.approx(0.55)
    assert figures.eager_lead_s == pytest.approx(0.25)
    assert (figures.cut_offs, figures.pauses_cut, figures.resumes, figures.extra_turns) == (0, 0, 0, 0)
    assert not figures.missing


def test_an_eager_end_that_was_taken_back_does_not_count_as_the_eager_end() -> None:
    figures = measure_turn(
        heard(
            (0.7, start()),
            (1.6, eager("Mend the")),
            (2.1, resume()),
            (3.3, update("Mend the coat")),
            (3.4, eager("Mend the coat")),
            (3.7, end("Mend the coat")),
            of=turn_clip(),
        )
    )
    assert figures.eager_s == pytest.approx(0.4)
    assert figures.words_s == pytest.approx(0.3)
    assert (figures.resumes, figures.pauses_eager, figures.pauses_cut) == (1, 1, 0)


def test_without_an_eager_end_the_end_stands_for_it() -> None:
    figures = measure_turn(heard((0.7, start()), (3.6, end("Mend")), of=turn_clip()))
    assert figures.eager_s == figures.end_s == pytest.approx(0.6)
    assert figures.eager_lead_s == 0


def test_an_end_in_a_pause_is_a_cut_off_and_the_rest_is_a_turn_of_its_own() -> None:
    figures = measure_turn(
        heard(
            (0.7, start()),
            (1.9, end("Mend the")),
            (2.2, start()),
            (3.4, eager(" coat")),
            (3.5, end(" coat")),
            of=turn_clip(),
        )
    )
    assert (figures.cut_offs, figures.pauses_cut) == (1, 1)
    assert figures.end_s == pytest.approx(0.5)
    assert figures.text == "Mend the coat"
    assert figures.extra_turns == 0


def test_an_end_told_after_speech_went_on_is_a_cut_off_of_that_pause_too() -> None:
    figures = measure_turn(heard((0.7, start()), (2.3, end("Mend")), (2.4, start()), (3.5, end(" it")), of=turn_clip()))
    assert (figures.cut_offs, figures.pauses_cut) == (1, 1)


@pytest.mark.parametrize(("at_s", "in_it"), [(1.21, 1), (2.0, 1), (2.29, 1), (2.31, 0), (2.9, 0)])
def test_an_end_that_comes_later_than_speech_is_noticed_is_not_of_the_pause_itself(at_s: float, in_it: int) -> None:
    told = heard((0.7, start()), (at_s, end("Mend")), (2.95, start()), (3.5, end(" it")), of=turn_clip())
    figures = measure_turn(told)
    assert (figures.pauses_cut, figures.pauses_ended) == (1, in_it)


def test_an_end_before_the_first_known_pause_is_a_cut_off_elsewhere() -> None:
    figures = measure_turn(heard((0.7, start()), (1.0, end("Mend")), (1.1, start()), (3.5, end(" it")), of=turn_clip()))
    assert (figures.cut_offs, figures.pauses_cut) == (1, 0)


def test_an_end_that_only_the_close_brought_is_missing() -> None:
    figures = measure_turn(heard((0.7, start()), (4.1, end("Mend")), of=turn_clip(), close_s=BEGIN_S + 4.0))
    assert figures.end_s is None
    assert figures.missing
    assert figures.text == "Mend"


@pytest.mark.parametrize(("at_s", "missing"), [(4.99, False), (5.01, True)])
def test_an_end_later_than_two_seconds_is_an_error(at_s: float, missing: bool) -> None:
    assert measure_turn(heard((0.7, start()), (at_s, end("Mend")), of=turn_clip())).missing is missing


def test_a_clip_whose_end_nobody_knows_counts_for_cut_offs_only() -> None:
    open_ended = turn_clip(ends_turn=False)
    figures = measure_turn(heard((0.7, start()), (1.8, end("Mend")), (2.2, start()), of=open_ended))
    assert figures.pauses_cut == 1
    assert figures.end_s is None
    assert not figures.missing


def test_a_turn_without_known_pauses_can_be_cut_off_too() -> None:
    figures = measure_turn(heard((0.7, start()), (2.0, end("Mend")), (2.2, start()), (3.4, end(" it")), of=clip()))
    assert (figures.pauses, figures.cut_offs, figures.pauses_cut) == (0, 1, 0)
    assert figures.end_s == pytest.approx(0.4)


def test_words_may_stand_before_the_true_end() -> None:
    figures = measure_turn(heard((0.7, start()), (2.9, update("Mend")), (3.5, end("Mend")), of=turn_clip()))
    assert figures.words_s == pytest.approx(-0.1)


def test_a_turn_after_the_last_end_is_one_too_many() -> None:
    figures = measure_turn(heard((0.7, start()), (3.5, end("Mend")), (3.8, start()), of=turn_clip()))
    assert figures.extra_turns == 1
    assert figures.turns == 2


def test_an_unfinished_turn_is_part_of_the_transcript() -> None:
    hearing = heard((0.7, start()), (1.0, end("Mend")), (1.2, start()), (2.0, update(" the coat")), of=turn_clip())
    assert hearing.transcript == "Mend the coat"


def test_what_never_began_has_no_times() -> None:
    figures = measure_turn(heard(begin_s=None, finalize_s=None, error="refused", of=turn_clip()))
    assert figures.error == "refused"
    assert figures.end_s is None
    assert not figures.missing  # a failure, counted as such
    assert measure_final(heard(begin_s=None, finalize_s=None, error="refused")).final_s is None


def test_messages_without_text_are_passed_over() -> None:
    assert measure_final(heard((3.1, SttDone(request_id="r")))).text == ""


def test_slope_is_least_squares() -> None:
    assert slope([1.0, 3.0, 5.0]) == pytest.approx(2.0)
    assert slope([1.0, 2.0, 1.0, 2.0]) == pytest.approx(0.2)
    assert slope([7.0]) == 0.0
