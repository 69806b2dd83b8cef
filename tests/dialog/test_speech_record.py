import pytest

from antiphon.core.event import Audio, Timed, WordTimes
from antiphon.dialog.conversation_actions import CancelSpeech, HoldSpeech, ReleaseSpeech, Speak
from antiphon.dialog.conversation_events import FromVoice, Played, Truncated
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, Observed, PlayedTo, SpeechOpened
from antiphon.dialog.speech_record import Speeches

RATE_HZ = 1_000


def told(*entries: tuple[float, Observed], delay_s: float = 0.0) -> Speeches:
    speeches = Speeches(delay_s)
    for now_s, entry in entries:
        speeches.observe(now_s, entry)
    return speeches


def opened(speech_id: str = "s", at_s: float = 1.0) -> tuple[tuple[float, Observed], ...]:
    words = tuple(Timed(word, i * 500, i * 500 + 500) for i, word in enumerate(("one", "two", "three")))
    return (
        (at_s, Speak(speech_id, "one two three", False)),
        (at_s, SpeechOpened(speech_id, "r", 1, RATE_HZ)),
        (at_s + 0.1, FromVoice(speech_id, WordTimes(words, words, RATE_HZ))),
        (at_s + 0.1, FromVoice(speech_id, Audio(b"", 0, 1_500, RATE_HZ))),
        (at_s + 0.1, AudibleLeft(speech_id, 200)),
        (at_s + 0.1, AudioLeft(speech_id, 0, 1_500)),
    )


def test_without_reports_the_first_sound_is_where_the_clock_puts_it() -> None:
    assert told(*opened()).first_heard(["s"], 9.0) == (pytest.approx(1.1), pytest.approx(1.3), True)
    assert told(*opened(), delay_s=0.2).first_heard(["s"], 9.0)[1] == pytest.approx(1.5)


def test_with_reports_the_earliest_that_one_of_them_implies() -> None:
    reports = ((1.55, PlayedTo("s", 250)), (1.7, PlayedTo("s", 420)), (2.6, PlayedTo("s", 900)))
    assert told(*opened(), *reports).first_heard(["s"], 9.0) == (pytest.approx(1.1), pytest.approx(1.48), False)


def test_a_sound_is_never_heard_before_it_was_sent() -> None:
    assert told(*opened(), (1.1, PlayedTo("s", 900))).first_heard(["s"], 9.0)[1] == pytest.approx(1.1)


def test_what_was_cancelled_before_its_first_sound_was_not_heard() -> None:
    speeches = told(*opened(), (1.2, CancelSpeech("s", 0)))
    assert speeches.first_heard(["s"], 9.0) == (None, None, False)
    assert speeches.texts(["s"], 9.0) == ("one two three", "")


def test_what_the_client_says_it_stopped_before_was_not_heard_whatever_the_clock_says() -> None:
    cancelled = (*opened(), (2.0, CancelSpeech("s", 0)))
    assert told(*cancelled).first_heard(["s"], 9.0) == (pytest.approx(1.1), pytest.approx(1.3), True)
    assert told(*cancelled, (2.1, Truncated("s", 201))).first_heard(["s"], 9.0)[1] == pytest.approx(1.3)
    speeches = told(*cancelled, (2.1, Truncated("s", 200)))
    assert speeches.first_heard(["s"], 9.0) == (None, None, False)
    assert speeches.texts(["s"], 9.0) == ("one two three", "")


def test_audio_that_waits_behind_another_is_heard_when_it_is_released() -> None:
    waiting = (*opened(), (1.1, HoldSpeech("s")))
    assert told(*waiting).first_heard(["s"], 9.0)[1] is None
    speeches = told(*waiting, (3.0, ReleaseSpeech("s")))
    assert speeches.first_heard(["s"], 9.0)[1] == pytest.approx(3.2)
    assert speeches.texts(["s"], 3.6) == ("one two three", "one")


def test_a_speech_that_follows_another_goes_on_behind_what_was_heard() -> None:
    played = ((1.7, PlayedTo("s", 600)), (1.7, Played("s", 600)), (1.7, CancelSpeech("s", 0)))
    speeches = told(*opened(), *played, *opened("t", 2.0))
    assert speeches.texts(["s", "t"], 9.0) == ("one one two three", "one one two three")
    assert speeches.first_heard(["s", "t"], 9.0)[1] == pytest.approx(1.3)


def test_only_so_many_speeches_are_remembered() -> None:
    speeches = Speeches()
    for index in range(1_000):
        speeches.observe(float(index), Speak(f"s{index}", "word", False))
    assert len(speeches._all) <= 64
    speeches.forget(["s999"])
    assert speeches.texts(["s999"], 9.0) == ("", "")
