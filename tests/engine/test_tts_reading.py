"""Long texts are read by the workers: the same words in the same order, and the caller is not kept."""

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.core.event import Audio, Event, Flushed, Warned
from antiphon.core.speech import Prosody
from antiphon.engine.tts import MAX_PENDING_CHARS, TtsStream
from antiphon.engine.tts_reading import AT_ONCE_CHARS, LOOK_AGAIN_S
from tests.engine.test_tts import ANSWER, Stage, samples, words

LONG = " ".join([ANSWER] * 40)


def hear(stage: Stage, stream: TtsStream) -> list[Event]:
    """All of it: more than an outbox holds."""
    events: list[Event] = []
    while some := stage.hear(stream):
        events += some
    return events


def test_a_long_text_sounds_the_same_as_in_short_pieces() -> None:
    stage = Stage()
    whole, pieces = stage.open(), stage.open()
    whole.push(LONG)
    whole.flush("end", last=True)
    for at in range(0, len(LONG), 700):
        pieces.push(LONG[at : at + 700])
    pieces.flush("end", last=True)
    heard, expected = hear(stage, whole), hear(stage, pieces)
    assert words(heard) == LONG.split()
    assert (samples(heard) == samples(expected)).all()
    assert heard[-1] == Flushed("end")
    assert stage.engine.places.taken == 0


def test_pushing_a_long_text_reads_none_of_it() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(LONG)
    assert stage.loop.scheduler.backlog() == 1
    assert stage.voice.spoken == []


def test_what_follows_a_long_text_keeps_its_order() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(LONG)
    stream.push(" Then this.")
    stream.flush(1)
    stream.push(Prosody(emotion="angry"))
    stream.push("And last of all that.")
    stream.flush("end", last=True)
    events = hear(stage, stream)
    assert words(events) == [*LONG.split(), "Then", "this.", "And", "last", "of", "all", "that."]
    told = [event for event in events if isinstance(event, Flushed | Warned)]
    assert [type(event) for event in told] == [Flushed, Warned, Flushed]  # emotion is warned of where it begins


def test_the_end_of_a_long_text_that_is_left_open_is_spoken_when_it_is_due() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(LONG + " and so on")
    now_s = stage.loop.clock.now_s()
    assert stream.tick(now_s) == now_s + LOOK_AGAIN_S
    heard = words(hear(stage, stream))
    due_s = stream.tick(stage.loop.clock.now_s())
    assert due_s is not None
    while due_s is not None:
        due_s = stream.tick(due_s)
        heard += words(hear(stage, stream))
    assert heard == [*LONG.split(), "and", "so", "on"]


def test_a_cancel_ends_the_reading() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(LONG)
    stage.loop.scheduler.run_next()
    stream.cancel()
    stream.push("Afterwards.")
    stream.flush("end", last=True)
    assert words(hear(stage, stream)) == ["Afterwards."]


def test_texts_that_wait_to_be_read_count_as_waiting() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("a " * (MAX_PENDING_CHARS // 2))
    with pytest.raises(InvalidInput):
        stream.push("b")


def test_without_delay_a_long_text_is_one_utterance() -> None:
    stage = Stage()
    at_once, long = stage.open(max_buffer_delay_s=0.0), stage.open(max_buffer_delay_s=0.0)
    word = "word"
    text = " ".join([word] * (AT_ONCE_CHARS // 2))
    long.push(text)
    long.flush("end", last=True)
    at_once.push(word)
    at_once.flush("end", last=True)
    assert words(hear(stage, long)) == text.split()
    assert words(hear(stage, at_once)) == [word]


def test_a_sound_repeated_a_thousand_times_is_one_warning() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("Ha. " + "[laughter] " * 1_000)
    stream.flush("end", last=True)
    warnings = [event.message for event in hear(stage, stream) if isinstance(event, Warned)]
    assert all(len(message) < 200 for message in warnings)


def test_a_sentence_is_read_by_a_worker_and_a_token_at_once() -> None:
    stage = Stage()
    sentence, token = stage.open(), stage.open()
    sentence.push("x" * (AT_ONCE_CHARS + 1))
    assert stage.loop.scheduler.backlog() == 1
    token.push("Well")
    assert stage.loop.scheduler.backlog() == 1
    assert token.tick(0.0) is not None  # it waits for more


def test_after_a_flush_nobody_has_to_look_again() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(LONG)
    stream.flush(1)
    assert stream.tick(stage.loop.clock.now_s()) is None
    stream.push("And more")
    now_s = stage.loop.clock.now_s()
    assert stream.tick(now_s) == now_s + LOOK_AGAIN_S


def test_a_sentence_and_its_first_sound_are_one_quantum() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(ANSWER)
    assert stage.loop.scheduler.run_next()
    assert any(isinstance(event, Audio) for event in stream.pull())
