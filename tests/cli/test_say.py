"""``antiphon say`` on the scripted voice."""

import io
import wave
from collections.abc import Iterator

import pytest

from antiphon.cli.say import PIECE_CHARS, _pieces, _speak
from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import EngineFailed, InvalidInput
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.engine.build import House
from antiphon.engine.fake import FakeScript, FakeVoice
from antiphon.engine.registry import Registry
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.tts import MAX_PENDING_CHARS, TtsEngine

CONFIG = SpeechConfig(voice="", format=AudioFormat("wav", "pcm_s16le", 24_000))


@pytest.fixture
def voice() -> FakeVoice:
    return FakeVoice(FakeScript(char_s=0.0005, quantum_s=0.01))


@pytest.fixture
def house(voice: FakeVoice) -> Iterator[House]:
    scheduler = Scheduler(MonotonicClock(), workers=1)
    yield House(scheduler, Registry([TtsEngine(voice, scheduler, 1)]))
    scheduler.close()


def test_what_is_written_is_a_file_of_the_whole_text(house: House, voice: FakeVoice) -> None:
    sink = io.BytesIO()
    _speak(house, CONFIG, iter(["Hello ", "there, my ", "friend."]), sink)
    assert " ".join(voice.spoken).split() == ["Hello", "there,", "my", "friend."]
    sink.seek(0)
    with wave.open(sink) as file:
        assert file.getframerate() == 24_000
    assert len(sink.getvalue()) == 44 + 2 * 12 * sum(len(text) for text in voice.spoken)


def test_a_book_is_read_no_faster_than_it_is_spoken(house: House, voice: FakeVoice) -> None:
    book = " ".join(f"Sentence {n} of this long book ends here." for n in range(4_000))
    assert len(book) > 1.5 * MAX_PENDING_CHARS
    _speak(house, CONFIG, _pieces(book), io.BytesIO())
    assert " ".join(voice.spoken).split() == book.split()


def test_pieces_are_the_text() -> None:
    text = "x" * (2 * PIECE_CHARS + 1)
    assert [len(piece) for piece in _pieces(text)] == [PIECE_CHARS, PIECE_CHARS, 1]


def test_a_failure_is_raised(house: House) -> None:
    with pytest.raises(EngineFailed, match="told to fail"):
        _speak(house, CONFIG, iter(["This is where it must !fail! because it was told to do so."]), io.BytesIO())


def test_a_text_that_breaks_off_is_an_error_and_not_waited_for(house: House) -> None:
    def broken() -> Iterator[str]:
        yield "Hello."
        raise IsADirectoryError(21, "Is a directory")

    with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
        _speak(house, CONFIG, broken(), io.BytesIO())
