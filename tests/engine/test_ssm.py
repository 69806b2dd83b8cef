"""The engine of the state-space voice, on its real weights, in virtual time."""

import random
import threading
from itertools import pairwise

import numpy as np
import pytest

from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Flushed, PhonemeTimes, Saved, Unsaved, Warned, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.ssm import MAX_PENDING_CHARS, SsmEngine, SsmStream
from antiphon.models.ssm_sound import LAG_SAMPLES
from antiphon.models.ssm_voice import RIVER
from tests.models.ssm_weights import voice

VOICE = voice()
RAW = AudioFormat("raw", "pcm_f32le", 24_000)
TEXT = (
    "Hello there, this is a test of the voice. On March 3rd, 2024 it costs $29.50, or so says Dr. Smith! "
    "Is that okay? <break time='300ms'/> Good."
)
ROUNDING = 1e-4
"""See ``tests/models/test_ssm.py``."""


class Stage:
    def __init__(self, capacity: int = 8, sub_batch: int = 8) -> None:
        self.loop = VirtualLoop()
        self.engine = SsmEngine(VOICE, self.loop.scheduler, capacity, sub_batch)

    def open(self, **settings: object) -> SsmStream:
        settings = {"voice": RIVER.id, "format": RAW, "words": True, "phonemes": True, **settings}
        return self.engine.open_stream(SpeechConfig(**settings), lambda: None)  # type: ignore[arg-type]

    def hear(self, stream: SsmStream) -> list[Event]:
        events: list[Event] = []
        while self.loop.scheduler.run_next():
            events += stream.pull()
        return events + stream.pull()

    def say(self, *deltas: str, **settings: object) -> list[Event]:
        stream = self.open(**settings)
        events: list[Event] = []
        for delta in deltas:
            stream.push(delta)
            events += self.hear(stream)
        stream.flush("end", last=True)
        events += self.hear(stream)
        stream.close()
        return events


def sound(events: list[Event]) -> np.ndarray:
    return np.concatenate([np.frombuffer(e.data, np.float32) for e in events if isinstance(e, Audio)] or [np.zeros(0)])


def words(events: list[Event]) -> list[tuple[str, int, int]]:
    found = [word for e in events if isinstance(e, WordTimes) for word in e.words]
    return [(word.text, word.start_sample, word.end_sample) for word in found]


def cut_up(text: str, rng: random.Random) -> list[str]:
    deltas = []
    while text:
        size = rng.choice((1, 1, 2, 3, 5, 8, 20))
        deltas.append(text[:size])
        text = text[size:]
    return deltas


def test_a_text_is_spoken_whole_and_flushed_last() -> None:
    events = Stage().say(TEXT)
    assert events[-1] == Flushed("end")
    assert not [e for e in events if isinstance(e, Failed | Warned)]
    plain = TEXT.replace("<break time='300ms'/> ", "")
    assert [word for word, _, _ in words(events)] == plain.split()
    audio = [e for e in events if isinstance(e, Audio)]
    assert [e.start_sample for e in audio] == np.cumsum([0, *(e.samples for e in audio)])[:-1].tolist()
    assert 0.05 < np.abs(sound(events)).max() <= 1


@pytest.mark.parametrize("seed", range(4))
def test_letter_by_letter_equals_all_at_once(seed: int) -> None:
    whole = Stage().say(TEXT)
    parts = Stage().say(*cut_up(TEXT, random.Random(seed)))
    assert words(parts) == words(whole)
    assert np.abs(sound(parts) - sound(whole)).max() < ROUNDING


def test_sound_begins_after_a_few_words_and_its_first_packet_is_small() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("The appointment that you ")
    events = stage.hear(stream)
    audio = [e for e in events if isinstance(e, Audio)]
    assert audio[0].samples == 1200
    assert words(events)[0][0] == "The"


def test_times_are_exact_and_do_not_overlap() -> None:
    events = Stage().say("My number is 555 0199, and my name is Ada.")
    phonemes = [one for e in events if isinstance(e, PhonemeTimes) for one in e.phonemes]
    spans = [(start, end) for _, start, end in words(events)]
    for (_, end), (start, _) in pairwise(spans):
        assert end <= start
    for left, right in pairwise(phonemes):
        assert left.end_sample <= right.start_sample
    # A frame is 300 samples, and sound comes 150 later than its frame.
    assert all((one.start_sample - LAG_SAMPLES) % 300 == 0 for one in phonemes)
    assert spans[-1][1] <= len(sound(events)) + LAG_SAMPLES
    quiet = sound(events)[: spans[0][0] - 150]
    assert np.abs(quiet).max() < 0.02


def test_words_come_no_later_than_the_audio_that_holds_them_whole() -> None:
    position, late = 0, []
    for event in Stage().say(TEXT):
        if isinstance(event, Audio):
            position = event.start_sample + event.samples
        elif isinstance(event, WordTimes):
            late += [word.text for word in event.words if word.end_sample < position - 2400]
    assert not late


def test_many_streams_share_steps_and_none_changes_another() -> None:
    texts = [f"This is caller number {n}, and I have {n + 2} questions for you." for n in range(6)]
    alone = [sound(Stage().say(text, seed=n)) for n, text in enumerate(texts)]
    stage = Stage()
    calls = 0
    advance = VOICE.model.advance

    def counted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        return advance(*arguments)  # type: ignore[arg-type]

    streams = [stage.open(seed=n) for n in range(len(texts))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VOICE.model, "advance", counted)
        for stream, text in zip(streams, texts, strict=True):
            stream.push(text)
            stream.flush("end", last=True)
        made: list[list[Event]] = [[] for _ in streams]
        while stage.loop.scheduler.run_next():
            for events, stream in zip(made, streams, strict=True):
                events += stream.pull()
    packets = sum(isinstance(e, Audio) and e.samples > 0 for events in made for e in events)
    assert calls < packets / 2
    for events, expected in zip(made, alone, strict=True):
        assert events[-1] == Flushed("end")
        got = sound(events)
        assert len(got) == len(expected)
        assert np.abs(got - expected).max() < ROUNDING


def test_cancel_frees_the_step_and_nothing_old_comes_after() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(TEXT)
    for _ in range(3):
        stage.loop.scheduler.run_next()
    before = stream.pull()
    made = sum(e.samples for e in before if isinstance(e, Audio))
    assert made > 0
    stage.loop.scheduler.run_next()
    stream.cancel()
    assert stage.hear(stream) == []
    stream.push("Something else.")
    stream.flush("two", last=True)
    after = stage.hear(stream)
    assert [word for word, _, _ in words(after)] == ["Something", "else."]
    assert words(after)[0][1] >= made
    assert after[-1] == Flushed("two")


def test_places_are_given_back_when_the_last_audio_is_made() -> None:
    stage = Stage(capacity=1)
    stream = stage.open()
    with pytest.raises(AtCapacity):
        stage.open()
    stream.push("Hello.")
    stream.flush("end", last=True)
    stage.hear(stream)
    assert stage.engine.places.taken == 0
    stage.open().close()
    stream.close()
    assert stage.engine.places.taken == 0


def test_a_flush_without_text_comes_back() -> None:
    stage = Stage()
    stream = stage.open()
    stream.flush("one")
    stream.push("Yes.")
    stream.flush("two")
    stream.push("No.")
    stream.flush("three", last=True)
    events = stage.hear(stream)
    assert [e.marker for e in events if isinstance(e, Flushed)] == ["one", "two", "three"]
    flushes = [index for index, e in enumerate(events) if isinstance(e, Flushed)]
    assert words(events[: flushes[1]])[0][0] == "Yes."
    assert words(events[flushes[1] :])[0][0] == "No."


def test_a_break_is_silence_of_its_length() -> None:
    plain, broken = Stage().say("Yes. No."), Stage().say("Yes. <break time='1s'/> No.")
    gaps = [words(events)[1][1] - words(events)[0][2] for events in (plain, broken)]
    assert gaps[0] == pytest.approx(0.32 * 24_000, rel=0.25)
    assert 24_000 <= gaps[1] < 24_000 + 6_000


def test_speed_volume_and_emotion_change_what_follows() -> None:
    plain = Stage().say("One thing after the other.")
    fast = Stage().say("One thing after the other.", speed=1.5)
    assert len(sound(fast)) < 0.8 * len(sound(plain))
    loud = Stage().say("One thing after the other.", volume=0.5)
    np.testing.assert_allclose(sound(loud), sound(plain) * 0.5, atol=2e-3)
    stage = Stage()
    stream = stage.open()
    stream.push("One thing. ")
    stream.push(Prosody(emotion="excited"))
    stream.push("After the other.")
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert [word for word, _, _ in words(events)] == ["One", "thing.", "After", "the", "other."]
    assert not [e for e in events if isinstance(e, Warned)]


def test_an_unknown_emotion_is_told_once_and_spoken_neutrally() -> None:
    events = Stage().say("Well. Well. Well.", emotion="ravenous")
    assert [e.message for e in events if isinstance(e, Warned)] == [
        "voice engine 'ssm' does not know emotion 'ravenous'; it is spoken neutrally"
    ]
    np.testing.assert_array_equal(sound(events), sound(Stage().say("Well. Well. Well.")))


def test_sounds_that_cannot_be_made_are_told() -> None:
    events = Stage().say("Ha, [laughter] that is good.")
    assert any(isinstance(e, Warned) and "[laughter]" in e.message for e in events)


def test_what_cannot_be_read_fails_and_the_rest_is_spoken() -> None:
    events = Stage().say("Hello. \u0e01\u0e02. Goodbye.")
    assert events[-1] == Flushed("end")
    assert "Goodbye." in [word for word, _, _ in words(events)]


def test_text_that_stalls_in_a_sentence_is_spoken_to_its_last_word() -> None:
    stage = Stage()
    stream = stage.open(max_buffer_delay_s=1.0)
    stream.push("I think that ")
    events = stage.hear(stream)
    due_s = stream.tick(0.0)
    while due_s is not None and due_s < 5:
        stage.loop.clock.advance_to(due_s)
        due_s = stream.tick(due_s)
        events += stage.hear(stream)
    assert [word for word, _, _ in words(events)] == ["I", "think", "that"]
    assert len(sound(events)) / 24_000 > words(events)[-1][2] / 24_000


def test_without_delay_every_push_is_an_utterance() -> None:
    stage = Stage()
    stream = stage.open(max_buffer_delay_s=0.0)
    stream.push("Wait")
    events = stage.hear(stream)
    assert [word for word, _, _ in words(events)] == ["Wait"]


def test_long_texts_are_read_by_the_workers() -> None:
    text = "Yes, yes. " * 110
    stage = Stage()
    stream = stage.open()
    stream.push(text)
    assert stream._run.reading.behind
    stream.push("The end.")
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert [word for word, _, _ in words(events)] == (text + "The end.").split()
    assert stream._run.reading.pending_chars == 0


def test_more_text_than_can_wait_is_refused() -> None:
    stream = Stage().open()
    with pytest.raises(InvalidInput, match="characters wait"):
        stream.push("a " * MAX_PENDING_CHARS)


def test_a_lead_is_kept() -> None:
    stage = Stage()
    stream = stage.open(lead_s=1.0)
    stream.push("This is a sentence that takes much longer than a second to say, as everybody can hear at once.")
    stream.flush("end", last=True)
    heard = stage.hear(stream)
    while stage.loop.scheduler.run_next():
        heard += stream.pull()
    made_s = len(sound(heard)) / 24_000
    assert 0.9 < made_s < 1.4
    stage.loop.run()
    heard += stream.pull()
    assert stage.loop.clock.now_s() > 2
    assert heard[-1] == Flushed("end")


def test_other_formats_are_resampled() -> None:
    stage = Stage()
    stream = stage.open(format=AudioFormat("raw", "pcm_s16le", 8_000))
    stream.push("Hello there.")
    stream.flush("end", last=True)
    events = stage.hear(stream)
    size = sum(len(e.data) for e in events if isinstance(e, Audio)) / 2
    assert size == pytest.approx(sum(e.samples for e in events if isinstance(e, Audio)) / 3, abs=2)


# -- snapshots ---------------------------------------------------------------------------------------------------


def moved(cuts: set[int], rate_hz: int = 24_000) -> tuple[list[Event], int, int]:
    """The text in pieces, the stream moved to another engine after each quantum of ``cuts``; quanta; bytes of the
    largest snapshot."""
    stage = Stage()
    format = AudioFormat("raw", "pcm_f32le", rate_hz)
    stream = stage.open(format=format)
    deltas = [TEXT[at : at + 7] for at in range(0, len(TEXT), 7)]
    events: list[Event] = []
    quanta = size = 0
    for delta in [*deltas, None]:
        if delta is None:
            stream.flush("end", last=True)
        else:
            stream.push(delta)
        while stage.loop.scheduler.run_next():
            quanta += 1
            events += stream.pull()
            if quanta in cuts:
                snapshot = stream.save()
                size = max(size, len(snapshot))
                events += stream.pull()
                stream.close()
                stage = Stage()
                stage.loop.clock.advance_to(512.0)
                stream = stage.engine.resume(snapshot, lambda: None)
    return events + stream.pull(), quanta, size


def test_a_stream_cut_anywhere_goes_on_elsewhere_as_if_it_had_not_been_cut() -> None:
    whole, quanta, _ = moved(set())
    points = random.Random(1).sample(range(1, quanta), 50)
    for first in range(5):  # ten moves each
        events, _, size = moved(set(points[first::5]))
        np.testing.assert_array_equal(sound(events), sound(whole))
        assert words(events) == words(whole)
        assert 0 < size < 100_000


def test_a_cut_at_another_rate_is_not_heard() -> None:
    whole, quanta, _ = moved(set(), 16_000)
    events, _, _ = moved({quanta // 2}, 16_000)
    np.testing.assert_array_equal(sound(events), sound(whole))


def test_load_puts_a_snapshot_into_a_stream_that_is_open() -> None:
    stage = Stage()
    stream, other = stage.open(), stage.open()
    stream.push("Hello there, this is a sentence.")
    stream.flush("end", last=True)
    other.push("Not this.")
    snapshot = stream.save()
    assert stage.hear(stream) == []
    other.load(snapshot)
    events = stage.hear(other)
    assert words(events)[0][0] == "Hello"
    assert events[-1] == Flushed("end")
    with pytest.raises(InvalidInput, match="other settings"):
        stage.open(speed=1.2).load(snapshot)


def test_a_snapshot_is_checked() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("Hello there, this is a sentence.")
    stage.loop.scheduler.run_next()
    snapshot = stream.save()
    for bad, why in (
        (b"", "no snapshot"),
        (snapshot[:-40] + b"x" + snapshot[-39:], "damaged"),
        (b"ANTSTR\x02" + snapshot[7:], "another version"),
        (bytes(17 << 20), "at most"),
    ):
        with pytest.raises(InvalidInput, match=why):
            stage.engine.resume(bad, lambda: None)
    assert stage.engine.places.taken == 0


def test_save_soon_is_the_last_event_after_all_that_was_made() -> None:
    whole, quanta, _ = moved(set())
    stage = Stage()
    woken: list[int] = []
    stream = stage.engine.open_stream(
        SpeechConfig(voice=RIVER.id, format=RAW, words=True, phonemes=True), lambda: woken.append(1)
    )
    deltas = [TEXT[at : at + 7] for at in range(0, len(TEXT), 7)]
    for delta in deltas:
        stream.push(delta)
    stream.flush("end", last=True)
    for _ in range(quanta // 4):
        stage.loop.scheduler.run_next()
    before = stream.pull()
    woken.clear()
    stream.save_soon()
    assert woken == [1]
    *rest, saved = stream.pull()
    assert isinstance(saved, Saved)
    assert (saved.voice, stage.engine.places.taken) == (RIVER.id, 0)
    for refused in (lambda: stream.push("More."), lambda: stream.flush("more")):
        with pytest.raises(InvalidInput, match="being saved"):
            refused()
    assert stage.hear(stream) == []
    other = Stage()
    events = before + rest + other.hear(other.engine.resume(saved.snapshot, lambda: None))
    assert len(sound(events)) == len(sound(whole))
    assert np.abs(sound(events) - sound(whole)).max() < ROUNDING
    assert words(events) == words(whole)


def test_save_soon_of_a_stream_that_is_being_stepped_comes_after_the_step() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(TEXT)
    advance = VOICE.model.advance
    asked: list[list[Event]] = []

    def meanwhile(*arguments: object) -> object:
        if not asked:
            stream.save_soon()
            asked.append(stream.pull())
        return advance(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VOICE.model, "advance", meanwhile)
        events = stage.hear(stream)
    assert asked == [[]]
    assert isinstance(events[-1], Saved)
    assert len(sound(events)) == 1200
    other = Stage()
    rest = other.hear(other.engine.resume(events[-1].snapshot, lambda: None))
    assert next(e for e in rest if isinstance(e, Audio)).start_sample == 1200


def test_a_long_text_is_read_again_by_the_workers_where_a_stream_goes_on() -> None:
    text = "Yes, on the 3rd of May. It was \"so\" they say; and " * 40

    def said(cuts: int) -> list[Event]:
        stage = Stage()
        stream = stage.open()
        for at in range(0, len(text), 9):
            stream.push(text[at : at + 9])
        events: list[Event] = []
        for _ in range(5):
            stage.loop.scheduler.run_next()
            events += stream.pull()
        for cut in range(cuts):
            snapshot = stream.save()
            events += stream.pull()
            stage = Stage()
            stream = stage.engine.resume(snapshot, lambda: None)
            assert stream._run.reading.behind
            if cut:  # the first time it is saved again before anything was read
                stage.loop.scheduler.run_next()
                events += stream.pull()
        for delta in ("that was", " all."):
            stream.push(delta)
        stream.flush("end", last=True)
        return events + stage.hear(stream)

    whole, moved = said(0), said(3)
    np.testing.assert_array_equal(sound(moved), sound(whole))
    assert words(moved) == words(whole)
    assert moved[-1] == Flushed("end")


def test_a_stream_that_would_be_too_large_is_not_saved_and_goes_on() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("Hello there, this is a sentence.")
    stream.save_soon(1000)
    events = stage.hear(stream)
    assert next(e for e in events if isinstance(e, Unsaved)).message.startswith("the snapshot would have")
    stream.flush("end", last=True)
    assert stage.hear(stream)[-1] == Flushed("end")


def test_a_resumed_stream_belongs_to_whoever_resumes_it_and_keeps_the_shorter_lead() -> None:
    for here, there, wanted in ((None, 2.0, 2.0), (1.0, 2.0, 1.0), (3.0, 2.0, 2.0), (1.0, None, 1.0)):
        stream = Stage().open(lead_s=here, owner="ada")
        stream.push(TEXT)
        resumed = Stage().engine.resume(stream.save(), lambda: None, owner="bob", lead_s=there)
        assert (resumed._config.owner, resumed._config.lead_s) == ("bob", wanted)


def test_a_stream_in_a_container_cannot_be_saved_and_goes_on() -> None:
    stage = Stage()
    stream = stage.open(format=AudioFormat("mp3", "", 24_000))
    stream.push("Hello there.")
    with pytest.raises(InvalidInput, match="raw PCM"):
        stream.save()
    stream.save_soon()
    (event,) = [e for e in stage.hear(stream) if isinstance(e, Unsaved)]
    assert "raw PCM" in event.message
    stream.flush("end", last=True)
    assert stage.hear(stream)[-1] == Flushed("end")


# -- real threads ------------------------------------------------------------------------------------------------


def test_workers_serve_many_streams_at_once() -> None:
    scheduler = Scheduler(MonotonicClock(), workers=3)
    engine = SsmEngine(VOICE, scheduler, 16, sub_batch=4)
    done: list[threading.Event] = []
    streams: list[SsmStream] = []
    heard: list[list[Event]] = []
    locks = threading.Lock()

    def open_one(text: str) -> None:
        end, events = threading.Event(), list[Event]()

        def wake() -> None:
            with locks:
                events.extend(stream.pull())
            if any(isinstance(e, Flushed) for e in events):
                end.set()

        stream = engine.open_stream(SpeechConfig(voice=RIVER.id, format=RAW, words=True), wake)
        streams.append(stream)
        done.append(end)
        heard.append(events)
        for word in text.split():
            stream.push(word + " ")
        stream.flush("end", last=True)

    try:
        texts = [f"Caller number {n} says something of a certain length." for n in range(12)]
        for text in texts:
            open_one(text)
        for end in done:
            assert end.wait(60)
        for text, events in zip(texts, heard, strict=True):
            assert [word for word, _, _ in words(events)] == text.split()
        assert engine.places.taken == 0
    finally:
        scheduler.close()
