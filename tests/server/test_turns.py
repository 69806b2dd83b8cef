"""Between a stream's events and the machine: decisions, the last resort, and the words that an end waits for."""

from antiphon.core.event import Event, Flushed, Marker
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import EndpointSettings, TurnEnded, TurnEvent, TurnStarted
from antiphon.server.turns import HASTEN, TurnTaking

SECOND = EAR_RATE_HZ


def taking() -> tuple[TurnTaking, list[Marker]]:
    asked: list[Marker] = []
    return TurnTaking(asked.append, EndpointSettings(), 0.0), asked


def give(turns: TurnTaking, now_s: float, *events: Event) -> list[TurnEvent]:
    return [decided for event in events for decided in turns.take(event, now_s)]


def test_an_end_that_lacks_its_words_asks_for_them_once() -> None:
    turns, asked = taking()
    give(turns, 1.0, SpeechStarted(0), Heard("hel", 0, False, end_sample=SECOND // 2))
    give(turns, 1.2, SpeechStopped(SECOND), TurnScored(SECOND + 3000, 0.1, 3000))
    assert asked == [HASTEN]
    assert give(turns, 1.25, Listened(SECOND + 3200, False)) == []
    assert asked == [HASTEN]
    (ended,) = (e for e in give(turns, 1.3, Heard("hello", 5, True, end_sample=SECOND)) if isinstance(e, TurnEnded))
    assert ended.transcript == "hello"
    assert give(turns, 1.3, Flushed(HASTEN)) == []


def test_the_next_turn_may_ask_again() -> None:
    turns, asked = taking()
    for start in (0, 5 * SECOND):
        stop = start + SECOND
        give(turns, start / SECOND, SpeechStarted(start), Heard("so", 0, False, end_sample=start + 4000))
        give(turns, stop / SECOND, SpeechStopped(stop), TurnScored(stop + 3000, 0.1, 3000))
        give(turns, stop / SECOND, Heard("so what", 7, True, end_sample=stop))
    assert asked == [HASTEN, HASTEN]


def test_a_stream_that_falls_silent_ends_its_turn_by_the_wall_clock() -> None:
    turns, _ = taking()
    assert turns.due_s is None
    (started,) = give(turns, 1.0, SpeechStarted(0))
    assert isinstance(started, TurnStarted)
    give(turns, 1.5, Heard("hello", 5, True, end_sample=8000))
    due_s = turns.due_s
    assert due_s is not None
    assert due_s > 1.5 + EndpointSettings().end_timeout_s
    assert turns.tick(due_s - 0.01) == []
    (ended,) = turns.tick(due_s)
    assert ended == TurnEnded("hello", 0, "timeout")
    assert turns.due_s is None


def test_the_last_flush_ends_every_turn() -> None:
    turns, asked = taking()
    give(turns, 1.0, SpeechStarted(0), Heard("bye", 3, True, end_sample=8000))
    turns.ends_with("end")
    (ended,) = give(turns, 1.1, Flushed("end"))
    assert isinstance(ended, TurnEnded)
    assert (ended.transcript, ended.reason) == ("bye", "closed")
    assert asked == []
