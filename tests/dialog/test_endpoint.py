"""Turns in virtual media time."""

from dataclasses import replace

import pytest

from antiphon.core.event import Flushed, Warned
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import EndpointSettings, TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted
from antiphon.dialog.endpoint import FINAL_WAIT_S, STALL_GRACE_S, Endpoint

from .speaker import Speaker


def test_a_question_ends_at_once() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("What time do", stable=9)
    user.talk(0.5)
    user.pause(0.2)
    user.final("What time do you close?")
    user.score(0.3)
    user.pause(0.1)
    user.score(0.1)
    assert user.events[0] == TurnStarted(0)
    assert user.transcripts_so_far[:2] == ["What time", "What time do you close"]
    assert user.story == ["start", "update", "update", "eager", "end"]
    assert user.events[4] == TurnEnded("What time do you close?", user.samples, "model")


def test_a_pause_in_a_sentence_does_not_end_the_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.3)
    user.final("I would like to book a table for")
    for likelihood in (0.95, 0.9, 0.8, 0.7, 0.55):
        user.score(likelihood)
        user.pause(0.3)
    user.talk(1.0)
    user.pause(0.2)
    user.final(" four people.")
    user.score(0.15)
    assert user.story == ["start", "update", "update", "end"]
    assert user.transcripts == ["I would like to book a table for four people."]


def test_an_eager_end_is_taken_back_by_speech() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.3)
    user.final("I want a pizza")
    user.score(0.35)
    user.talk(0.8)
    user.pause(0.3)
    user.final(" with olives.")
    user.score(0.35)
    user.pause(0.2)
    user.score(0.1)
    assert user.story == ["start", "update", "eager", "resume", "update", "eager", "end"]
    assert user.transcripts == ["I want a pizza with olives."]


def test_an_eager_end_is_taken_back_by_a_likelihood_above_start() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.2)
    user.final("Fine")
    user.score(0.3)
    user.score(0.6)
    assert user.story == ["start", "update", "eager"]
    user.score(0.85)
    assert user.story == ["start", "update", "eager", "resume"]


def test_an_eager_end_without_all_the_words_is_said_again_with_them() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.1)
    user.interim("Book a table", stable=4)
    user.score(0.35)
    user.final("Book a table for two.")
    assert user.story == ["start", "update", "eager", "resume", "update", "eager"]
    assert user.events[-1] == TurnEagerEnded("Book a table for two.", user.samples)


def test_B1_a_dictated_number_is_one_turn() -> None:
    user = Speaker()
    user.talk(1.5)
    user.pause(0.25)
    user.final("My number is 0 7 7")
    for likelihood in (0.97, 0.95, 0.9):
        user.score(likelihood)
        user.pause(0.2)
    user.pause(0.05)
    user.talk(1.0)
    user.pause(0.25)
    user.final(" 3 4 5")
    user.score(0.95)
    user.talk(1.0)
    user.pause(0.25)
    user.final(" 6 7 8 9")
    user.score(0.19)
    assert user.transcripts == ["My number is 0 7 7 3 4 5 6 7 8 9"]
    assert user.story.count("start") == 1


def test_B11_a_final_300_ms_late_lands_in_its_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Cancel my")
    user.pause(0.2)
    user.score(0.1)
    assert user.endpoint.awaits_final
    user.pause(0.3)
    user.final("Cancel my order please.", end_s=1.0)
    user.pause(5.0)
    assert not user.endpoint.awaits_final
    assert user.transcripts == ["Cancel my order please."]
    assert user.time_of(TurnEnded) == pytest.approx(1.5)
    assert user.story.count("start") == 1


def test_B11_two_finals_a_second_apart_are_one_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.3)
    user.final("I need a taxi")
    user.score(0.7)
    user.pause(0.7)
    user.talk(0.8)
    user.pause(0.3)
    user.final(" to the airport.")
    user.score(0.1)
    user.pause(3)
    assert user.transcripts == ["I need a taxi to the airport."]


def test_B11_a_final_that_misses_its_turn_makes_no_second_one_but_opens_the_next() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Cancel my order")
    user.pause(0.2)
    user.score(0.1)
    user.pause(FINAL_WAIT_S + 0.1)
    assert user.transcripts == ["Cancel my order"]
    user.final("Cancel my order please.", end_s=1.0)
    user.pause(3.0)
    assert user.story == ["start", "update", "eager", "end"]
    user.talk(1.0)
    user.pause(0.2)
    user.final(" Thanks.")
    user.score(0.1)
    assert user.transcripts == ["Cancel my order", " please. Thanks."]


def test_a_full_stop_that_misses_its_turn_is_no_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Hello")
    user.pause(0.2)
    user.score(0.1)
    user.pause(FINAL_WAIT_S + 0.1)
    user.final("Hello.", end_s=1.0)
    user.close()
    assert user.transcripts == ["Hello"]


def test_all_the_words_of_a_turn_that_ended_empty_get_their_own_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.2)
    user.score(0.1)
    user.pause(FINAL_WAIT_S + 0.1)
    user.final("Is anybody there?", end_s=1.0)
    user.pause(6.0)
    assert user.transcripts == ["", "Is anybody there?"]


def test_words_that_missed_the_last_turn_come_out_at_close() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Cancel")
    user.pause(0.2)
    user.score(0.1)
    user.pause(FINAL_WAIT_S + 0.1)
    user.final("Cancel everything.", end_s=1.0)
    user.close()
    assert user.transcripts == ["Cancel", " everything."]
    assert user.events[-1] == TurnEnded(" everything.", user.samples, "closed")


def test_a_revised_interim_is_never_revised_on_the_wire() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.1)
    user.interim("I need too tickets", stable=6)
    user.score(0.3)
    user.talk(0.5)
    user.pause(0.2)
    user.final("I need two tickets for Saturday.")
    user.score(0.1)
    assert user.transcripts == ["I need too tickets for Saturday."]


def test_a_noise_is_a_turn_without_words_and_never_an_eager_end() -> None:
    user = Speaker()
    user.talk(0.3)
    user.pause(0.3)
    user.score(0.3)
    user.pause(0.3)
    user.score(0.1)
    user.pause(FINAL_WAIT_S + 0.1)
    assert user.story == ["start", "end"]
    assert user.transcripts == [""]


def test_white_space_is_no_word() -> None:
    user = Speaker()
    user.talk(0.3)
    user.interim(" ")
    user.pause(0.2)
    user.final("  ")
    user.score(0.1)
    assert user.story == ["start", "end"]
    assert user.transcripts[0].strip() == ""


def test_silence_beyond_the_timeout_ends_any_turn() -> None:
    user = Speaker.with_settings(EndpointSettings(end_timeout_s=2.0))
    user.talk(1.0)
    user.pause(0.3)
    user.final("My number is")
    user.score(0.99)
    user.pause(1.6)
    assert user.story == ["start", "update"]
    user.pause(0.2)
    assert user.story == ["start", "update", "end"]
    ended = user.events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.reason == "timeout"
    assert user.time_of(TurnEnded) == pytest.approx(3.0, abs=0.04)


def test_noise_that_the_detector_takes_for_speech_does_not_time_out() -> None:
    user = Speaker()
    user.talk(60.0)
    assert user.story == ["start"]


def test_when_audio_stops_arriving_the_wall_clock_ends_the_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Are you")
    user.stall(5.6)
    assert user.story == ["start", "update"]
    user.stall(STALL_GRACE_S + 0.01)
    assert user.events[-1] == TurnEnded("Are you", user.samples, "timeout")
    assert user.endpoint.deadline_s is None


def test_silence_that_was_heard_counts_for_the_wall_clock_too() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(4.0)
    user.stall(1.5)
    assert user.story == ["start"]
    user.stall(1.2)
    assert user.story == ["start", "end"]


def test_audio_that_comes_in_lumps_is_no_stall() -> None:
    user = Speaker.with_settings(EndpointSettings(end_timeout_s=0.64))
    user.talk(1.0)
    for _ in range(5):
        user.stall(1.5)
        user.talk(1.5)
    assert user.story == ["start"]


def test_a_final_that_never_comes_is_given_up_by_the_wall_clock() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Stop it", stable=4)
    user.pause(0.2)
    user.score(0.1)
    assert user.endpoint.deadline_s == pytest.approx(user.now_s + FINAL_WAIT_S)
    user.stall(FINAL_WAIT_S)
    assert user.events[-1] == TurnEnded("Stop it", user.samples, "model")


def test_speech_calls_off_an_end_that_waits_for_its_final() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Well")
    user.pause(0.2)
    user.score(0.1)
    user.talk(0.5)
    user.pause(0.2)
    user.final("Well then.")
    user.score(0.1)
    assert user.transcripts == ["Well then."]


def test_a_second_thought_calls_off_an_end_that_waits_for_its_final() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("Book it for")
    user.pause(0.2)
    user.score(0.1)
    user.score(0.9)
    user.final("Book it for")
    user.pause(1.5)
    assert "end" not in user.story


def test_the_judgement_of_a_pause_that_is_over_does_not_count() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.3)
    stale = TurnScored(user.samples, 0.05, 4800)
    user.final("And")
    user.talk(0.4)
    assert user.endpoint.handle(stale, user.now_s) == []
    user.pause(0.1)
    assert user.endpoint.handle(stale, user.now_s) == []


def test_an_end_waits_for_the_final_of_the_last_words_not_an_earlier_one() -> None:
    user = Speaker()
    user.talk(10.0)
    user.final("A long window", end_s=8.0)
    user.interim(" and more")
    user.pause(0.2)
    user.score(0.1)
    assert user.endpoint.awaits_final
    user.final(" and more words.", end_s=10.0)
    assert user.transcripts == ["A long window and more words."]


def test_words_without_detected_speech_start_a_turn_and_silence_ends_it() -> None:
    user = Speaker()
    user.at_s = 3.0
    user.final("psst")
    assert user.story == ["start", "update"]
    user.pause(5.7)
    assert user.transcripts == ["psst"]


def test_an_ear_that_judges_during_speech_starts_and_resumes_turns_by_the_start_threshold() -> None:
    endpoint = Endpoint()
    assert endpoint.handle(TurnScored(1000, 0.79, 0), 0.0) == []
    assert endpoint.handle(TurnScored(2000, 0.81, 0), 0.1) == [TurnStarted(2000)]
    endpoint.handle(SpeechStopped(9000), 0.5)
    endpoint.handle(Heard("Yes", 3, True, end_sample=9000), 0.6)
    assert endpoint.handle(TurnScored(12_000, 0.3, 3000), 0.7) == [TurnEagerEnded("Yes", 12_000)]
    assert endpoint.handle(TurnScored(13_000, 0.85, 0), 0.8) == [TurnResumed(13_000)]


def test_thresholds_change_within_a_turn() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.2)
    user.final("So")
    user.score(0.45)
    assert user.story == ["start", "update"]
    user.endpoint.configure(replace(user.endpoint.settings, eager_end=0.6, end=0.5))
    user.pause(0.05)
    assert user.story == ["start", "update", "end"]


def test_closing_ends_an_open_turn_with_all_that_was_heard() -> None:
    user = Speaker()
    user.talk(1.0)
    user.interim("I was just say", stable=5)
    user.close()
    user.close()
    assert user.events[-1] == TurnEnded("I was just say", user.samples, "closed")
    assert user.story == ["start", "update", "end"]
    assert user.endpoint.handle(SpeechStarted(99_999), 9.0) == []
    assert user.endpoint.tick(99.0) == []


def test_closing_without_a_turn_says_nothing() -> None:
    user = Speaker()
    user.close()
    assert user.events == []


def test_a_closed_eager_turn_ends_without_resuming() -> None:
    user = Speaker()
    user.talk(1.0)
    user.pause(0.2)
    user.final("Okay")
    user.score(0.3)
    user.close()
    assert user.story == ["start", "update", "eager", "end"]


def test_silence_without_a_turn_is_nothing() -> None:
    endpoint = Endpoint()
    for second in range(60):
        assert endpoint.handle(Listened(second * EAR_RATE_HZ, False), float(second)) == []
    assert endpoint.deadline_s is None


def test_other_events_of_an_ear_are_ignored() -> None:
    endpoint = Endpoint()
    assert endpoint.handle(Warned("loud"), 0.0) == []
    assert endpoint.handle(Flushed("m"), 0.0) == []


def test_a_hum_ends_its_turn_soon_where_that_is_wanted() -> None:
    user = Speaker(Endpoint(EndpointSettings(wordless_s=0.5)))
    user.talk(0.4)
    user.pause(0.45)
    assert user.story == ["start"]
    user.pause(0.1)
    assert user.story == ["start", "end"]
    user.final("Who?")
    user.score(0.1)
    assert user.story[2:4] == ["start", "update"], "words that came late are not lost"
    slow = Speaker()
    slow.talk(0.4)
    slow.pause(2.0)
    assert slow.story == ["start"]


def test_words_that_are_not_certain_yet_are_no_hum() -> None:
    user = Speaker(Endpoint(EndpointSettings(wordless_s=0.5)))
    user.talk(0.4)
    user.interim("Who", stable=0)
    user.pause(1.0)
    assert user.story == ["start"]


def test_all_right_and_so_on_is_one_turn_where_nothing_was_asked_for() -> None:
    user = Speaker(Endpoint(EndpointSettings(opener_s=1.2)))
    user.talk(0.6)
    user.pause(0.4)
    user.final("All right.")
    user.score(0.1)
    user.pause(0.5)
    assert user.story == ["start", "update", "eager"], "an answer may be prepared"
    user.talk(1.5)
    user.pause(0.4)
    user.final(" So I need a new appointment.")
    user.score(0.1)
    assert user.transcripts == ["All right. So I need a new appointment."]


@pytest.mark.parametrize(("opener_s", "end_s"), [(None, 0.4), (1.2, 1.2)])
@pytest.mark.parametrize("text", ["All right.", "Okay.", "Right.", "Well."])
def test_all_right_alone_ends_at_once_as_an_answer_and_else_a_little_later(
    text: str, opener_s: float | None, end_s: float
) -> None:
    user = Speaker(Endpoint(EndpointSettings(opener_s=opener_s)))
    user.talk(0.6)
    begin_s = user.at_s
    user.pause(0.4)
    user.final(text)
    user.score(0.1)
    user.pause(1.5)
    assert user.transcripts == [text]
    assert user.time_of(TurnEnded) - begin_s == pytest.approx(end_s, abs=0.04)


@pytest.mark.parametrize("text", ["Yes.", "No.", "Thank you.", "Okay, thank you.", "All right, cancel it."])
def test_what_has_been_said_is_no_beginning(text: str) -> None:
    user = Speaker(Endpoint(EndpointSettings(opener_s=1.2)))
    user.talk(0.6)
    user.pause(0.4)
    user.final(text)
    user.score(0.1)
    assert user.transcripts == [text]
