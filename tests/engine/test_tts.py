"""The TTS engine on the scripted voice, in virtual time."""

import base64

import numpy as np
import pytest

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Flushed, Warned, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import Pronunciation, Prosody, SpeechConfig
from antiphon.engine.fake import FAKE_VOICE, FakeScript, FakeVoice, VirtualLoop
from antiphon.engine.outbox import MAX_EVENTS
from antiphon.engine.tts import MAX_PENDING_CHARS, TtsEngine, TtsStream
from antiphon.text.unit import Ipa, Respelled

RAW = AudioFormat("raw", "pcm_f32le", 24_000)


class Stage:
    def __init__(self, capacity: int = 8, script: FakeScript | None = None) -> None:
        self.loop = VirtualLoop()
        self.voice = FakeVoice(script, self.loop.clock)
        self.engine = TtsEngine(self.voice, self.loop.scheduler, capacity)

    def open(self, **settings: object) -> TtsStream:
        settings = {"voice": FAKE_VOICE.id, "format": RAW, "words": True, **settings}
        return self.engine.open_stream(SpeechConfig(**settings), lambda: None)  # type: ignore[arg-type]

    def hear(self, stream: TtsStream) -> list[Event]:
        self.loop.run()
        return stream.pull()


def samples(events: list[Event]) -> np.ndarray:
    return np.concatenate([np.frombuffer(e.data, np.float32) for e in events if isinstance(e, Audio)] or [np.zeros(0)])


def words(events: list[Event]) -> list[str]:
    return [word.text for e in events if isinstance(e, WordTimes) for word in e.words]


ANSWER = "Thank you for calling. Your order ships on Friday, and it should arrive by noon. Is there anything else?"


def test_a_three_sentence_answer_is_spoken_whole_in_order_and_flushed_last() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(ANSWER)
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert words(events) == ANSWER.split()
    assert events[-1] == Flushed("end")
    starts = [word.start_sample for e in events if isinstance(e, WordTimes) for word in e.words]
    assert starts == sorted(starts)


def test_token_by_token_says_the_same_words_as_all_at_once() -> None:
    stage = Stage()
    whole, tokens = stage.open(), stage.open()
    whole.push(ANSWER)
    whole.flush("end", last=True)
    for i in range(0, len(ANSWER), 3):
        tokens.push(ANSWER[i : i + 3])
    tokens.flush("end", last=True)
    assert words(stage.hear(whole)) == words(stage.hear(tokens)) == ANSWER.split()


def test_positions_are_contiguous_and_count_the_model_rate() -> None:
    stage = Stage()
    stream = stage.open(format=AudioFormat("raw", "pcm_s16le", 8000))
    stream.push(ANSWER)
    stream.flush("end", last=True)
    audio = [e for e in stage.hear(stream) if isinstance(e, Audio)]
    position = 0
    for event in audio:
        assert event.start_sample == position
        assert len(event.data) % 2 == 0
        position += event.samples
    assert sum(len(e.data) for e in audio) == 2 * round(position / 3)


def test_a_chunked_stream_equals_the_whole() -> None:
    quick, slow = Stage(script=FakeScript(quantum_s=0.02)), Stage(script=FakeScript(quantum_s=100.0))
    heard = []
    for stage in (quick, slow):
        stream = stage.open(format=AudioFormat("raw", "pcm_f32le", 16_000))
        stream.push(ANSWER)
        stream.flush("end", last=True)
        heard.append(samples(stage.hear(stream)))
    np.testing.assert_allclose(heard[0], heard[1], atol=1e-6)


def test_alone_equals_among_others() -> None:
    stage = Stage()
    alone = stage.open()
    alone.push(ANSWER)
    alone.flush("end", last=True)
    expected = samples(stage.hear(alone))
    streams = [stage.open() for _ in range(4)]
    for stream in streams:
        stream.push(ANSWER)
        stream.flush("end", last=True)
    stage.loop.run()
    for stream in streams:
        np.testing.assert_array_equal(samples(stream.pull()), expected)


def test_a_place_is_free_when_the_audio_is_made_not_when_it_is_pulled() -> None:
    stage = Stage(capacity=1)
    stream = stage.open()
    with pytest.raises(AtCapacity):
        stage.open()
    stream.push("Hello there.")
    stream.flush("end", last=True)
    stage.loop.run()
    assert stage.engine.places.taken == 0
    assert words(stream.pull()) == ["Hello", "there."]
    stream.close()
    stream.close()
    assert stage.engine.places.taken == 0


def test_cancel_is_silent_and_the_stream_speaks_on() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(ANSWER)
    stream.flush("old", last=False)
    stage.loop.scheduler.run_next()
    stream.cancel()
    assert stage.hear(stream) == []
    stream.push("New words now.")
    stream.flush("new", last=True)
    events = stage.hear(stream)
    assert words(events) == ["New", "words", "now."]
    assert [e for e in events if isinstance(e, Flushed)] == [Flushed("new")]


def test_1000_opened_cancelled_and_closed_streams_leave_all_places_free() -> None:
    stage = Stage(capacity=2)
    for n in range(1000):
        stream = stage.open()
        stream.push(ANSWER)
        stream.flush("end", last=True)
        for _ in range(n % 4):
            stage.loop.scheduler.run_next()
        if n % 2:
            stream.cancel()
        stream.close()
    stage.loop.run()
    assert stage.engine.places.taken == 0
    assert stage.loop.scheduler.backlog() == 0
    stream = stage.open()
    stream.push("As before.")
    stream.flush("end", last=True)
    assert words(stage.hear(stream)) == ["As", "before."]


def test_waiting_text_goes_at_its_deadline() -> None:
    stage = Stage()
    stream = stage.open(max_buffer_delay_s=0.5)
    stream.push("Hello there my")
    due_s = stream.tick(stage.loop.clock.now_s())
    assert due_s is not None
    assert due_s <= 0.5
    stage.loop.clock.advance_to(due_s)
    stream.tick(stage.loop.clock.now_s())
    early = words(stage.hear(stream))
    assert early[0] == "Hello"
    stream.flush("end", last=True)
    assert early + words(stage.hear(stream)) == ["Hello", "there", "my"]


def test_a_failing_unit_says_so_and_the_rest_is_spoken() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("This will surely !fail! in the middle of it, I am afraid. But this sentence is spoken in full.")
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert any(isinstance(e, Failed) and not e.fatal for e in events)
    assert "full." in words(events)
    assert events[-1] == Flushed("end")
    assert stage.engine.places.taken == 0


def test_an_emotion_is_accepted_with_one_warning() -> None:
    stage = Stage()
    stream = stage.open(emotion="excited")
    stream.push("We won. We really won the whole thing. I can hardly believe that we won it.")
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert len([e for e in events if isinstance(e, Warned)]) == 1
    assert words(events)[0] == "We"


def test_a_format_that_comes_out_otherwise_than_asked_is_told_once() -> None:
    stage = Stage()
    stream = stage.open(format=AudioFormat("mp3", sample_rate_hz=15_000, bit_rate_bps=32_000))
    stream.push(ANSWER)
    stream.flush("end", last=True)
    (told,) = [e.message for e in stage.hear(stream) if isinstance(e, Warned)]
    assert "mp3 has no 15000 Hz; 16000 Hz is sent" in told


def test_a_sound_that_no_voice_can_make_is_left_out_with_a_warning() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("That was a good joke [laughter] indeed.")
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert [e for e in events if isinstance(e, Warned) and "laughter" in e.message]
    assert words(events) == ["That", "was", "a", "good", "joke", "indeed."]


def test_volume_changes_mid_stream_without_a_jump() -> None:
    stage = Stage()
    stream = stage.open()
    stream.push("This is the normal volume of it. ")
    stream.flush("one")
    stream.push(Prosody(volume=0.5))
    stream.push("And this is half of that volume.")
    stream.flush("end", last=True)
    heard = samples(stage.hear(stream))
    half = len(heard) // 2
    loud, soft = np.abs(heard[: half - 2400]).max(), np.abs(heard[half + 2400 :]).max()
    assert soft == pytest.approx(loud / 2, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"language": "fr"}, "fr"),
        ({"voice": "nobody"}, "nobody"),
        ({"format": AudioFormat("raw", "pcm_s24le", 24_000)}, "pcm_s16le"),
        ({"format": AudioFormat("ogg-vorbis")}, "mp3"),
    ],
)
def test_a_bad_config_is_refused_and_costs_no_place(settings: dict[str, object], hint: str) -> None:
    stage = Stage(capacity=1)
    with pytest.raises(InvalidInput, match=hint):
        stage.open(**settings)
    assert stage.engine.places.taken == 0


def test_A18_twenty_minutes_for_a_slow_reader_wait_in_a_bounded_box() -> None:
    stage = Stage()
    stream = stage.open()
    text = " ".join(f"This is sentence number {n} of a very long reading." for n in range(500))
    stream.push(text)
    stream.flush("end", last=True)
    heard: list[Event] = []
    most = 0
    while Flushed("end") not in heard[-1:]:
        stage.loop.run()
        most = max(most, len(stream._line._outbox))
        heard += stream.pull(10)
    assert words(heard) == text.split()
    assert sum(e.samples for e in heard if isinstance(e, Audio)) > 20 * 60 * 24_000
    assert most <= MAX_EVENTS + 2
    assert stage.engine.places.taken == 0


def test_the_inbox_is_bounded() -> None:
    stage = Stage()
    stream = stage.open()
    for _ in range(MAX_PENDING_CHARS // 1000):
        stream.push("word " * 200)
    with pytest.raises(InvalidInput, match="no faster"):
        stream.push("word " * 200)


def test_empty_input_still_ends() -> None:
    stage = Stage()
    for text in ("", " ", "\n\n", "🙂"):
        stream = stage.open()
        stream.push(text)
        stream.flush("end", last=True)
        events = stage.hear(stream)
        assert events[-1] == Flushed("end")
        assert len(samples(events)) == 0
        stream.close()
    assert stage.engine.places.taken == 0


@pytest.mark.parametrize(
    "text", ["Say <<k|@|t>>.", "Say this first, and then at some length <<k|@|t>> to everybody here."]
)
def test_phonemes_that_are_none_are_the_callers_mistake(text: str) -> None:
    stage = Stage()
    stream = stage.open()
    stream.push(text)
    stream.flush("end", last=True)
    [failed] = [event for event in stage.hear(stream) if isinstance(event, Failed)]
    assert "'@' (U+0040)" in failed.message
    assert failed.param == "transcript"


def test_pronunciations_reach_the_voice_and_leave_word_times_as_written() -> None:
    stage = Stage()
    said = (Pronunciation("nginx", "engine x"), Pronunciation("cat", "<<k|æ|t>>"))
    stream = stage.open(pronunciations=said)
    for delta in ("We use ngi", "nx, not a ", "Cat. Cats are n", "o nginx."):
        stream.push(delta)
    stream.flush("end", last=True)
    events = stage.hear(stream)
    assert " ".join(words(events)) == "We use nginx, not a Cat. Cats are no nginx."
    pieces = [piece for unit in stage.voice.units for piece in unit.pieces]
    assert [piece.spoken for piece in pieces if isinstance(piece, Respelled)] == ["engine x", "engine x"]
    assert [piece.phonemes for piece in pieces if isinstance(piece, Ipa)] == ["kæt"]


def test_audio_that_goes_into_json_comes_encoded_and_else_does_not() -> None:
    stage = Stage()
    for wanted in (True, False):
        stream = stage.open(as_json=wanted, format=AudioFormat("raw", "pcm_s16le", 8000))
        stream.push(ANSWER)
        stream.flush("end", last=True)
        audio = [e for e in stage.hear(stream) if isinstance(e, Audio)]
        assert len(audio) > 3
        for event in audio:
            assert event.as_json == (b'"' + base64.b64encode(event.data) + b'"' if wanted else b"")
