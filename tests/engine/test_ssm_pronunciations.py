"""Dictionaries and phonemes on the state-space voice, which reads word by word and can be saved in between."""

from itertools import pairwise

import numpy as np
import pytest

from antiphon.core.event import Event, Failed, Flushed, PhonemeTimes, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import Pronunciation, SpeechConfig
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.ssm import SsmEngine, SsmStream
from antiphon.models.ssm_voice import RIVER
from tests.models.ssm_weights import voice

VOICE = voice()
RAW = AudioFormat("raw", "pcm_f32le", 24_000)
SAID = (Pronunciation("nginx", "engine x"), Pronunciation("New York", "<<n|ˈ|u>> <<j|ˈ|ɔ|ɹ|k>>"))
TEXT = "We run nginx in New York, and New cars in York."


class Stage:
    def __init__(self) -> None:
        self.loop = VirtualLoop()
        self.engine = SsmEngine(VOICE, self.loop.scheduler, 8)

    def open(self, *said: Pronunciation) -> SsmStream:
        config = SpeechConfig(RIVER.id, format=RAW, words=True, phonemes=True, pronunciations=said)
        return self.engine.open_stream(config, lambda: None)

    def hear(self, stream: SsmStream) -> list[Event]:
        events: list[Event] = []
        while self.loop.scheduler.run_next():
            events += stream.pull()
        return events + stream.pull()

    def say(self, text: str, *said: Pronunciation, size: int = 1_000) -> list[Event]:
        stream = self.open(*said)
        for at in range(0, len(text), size):
            stream.push(text[at : at + size])
        stream.flush("end", last=True)
        return self.hear(stream)


def told(events: list[Event]) -> tuple[list[str], list[str], str]:
    """Words as written, as spoken, and phonemes."""
    words = [word.text for event in events if isinstance(event, WordTimes) for word in event.words]
    spoken = [word.text for event in events if isinstance(event, WordTimes) for word in event.normalized]
    sounds = [sound.text for event in events if isinstance(event, PhonemeTimes) for sound in event.phonemes]
    return words, spoken, " ".join(sounds)


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_what_is_said_is_the_dictionarys_and_what_is_shown_the_users(size: int) -> None:
    words, spoken, sounds = told(Stage().say(TEXT, *SAID, size=size))
    assert words == TEXT.split()
    assert spoken[2:4] == ["engine", "x"]
    assert "ɛ n ʤ ə n ɛ k s".replace("ʤ", "dʒ") in sounds
    assert "n u j ɔ ɹ k" in sounds


def test_a_saved_stream_takes_its_dictionary_along() -> None:
    whole = told(Stage().say(TEXT, *SAID))
    stage = Stage()
    stream = stage.open(*SAID)
    stream.push(TEXT[:12])  # in the middle of a key
    events = stage.hear(stream)
    snapshot = stream.save()
    other = Stage()
    moved = other.engine.resume(snapshot, lambda: None)
    moved.push(TEXT[12:])
    moved.flush("end", last=True)
    assert told(events + other.hear(moved)) == whole


def test_phonemes_are_in_order_and_within_their_words() -> None:
    events = Stage().say("My number is 42.")
    sounds = [sound for event in events if isinstance(event, PhonemeTimes) for sound in event.phonemes]
    words = [word for event in events if isinstance(event, WordTimes) for word in event.words]
    assert all(left.end_sample <= right.start_sample for left, right in pairwise(sounds))
    assert sounds[0].start_sample == words[0].start_sample
    assert sounds[-1].end_sample == words[-1].end_sample
    assert [sound.text for sound in sounds][:2] == ["m", "aɪ"]
    assert np.all([sound.end_sample > sound.start_sample for sound in sounds])


def test_phonemes_that_are_none_are_the_callers_mistake() -> None:
    events = Stage().say("Say <<k|@|t>> now.")
    [failed] = [event for event in events if isinstance(event, Failed)]
    assert failed.param == "transcript"
    assert "U+0040" in failed.message
    assert events[-1] == Flushed("end")
