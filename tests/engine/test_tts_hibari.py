"""The TTS engine on the real voice: faults that show only in a whole stream."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hibari.tts import ASSETS

from antiphon.core.event import Event
from antiphon.core.speech import SpeechConfig
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.tts import TtsEngine
from antiphon.models.hibari import HEART, HibariVoice
from antiphon.models.hibari_dsp import Vocoder, silent_rows
from antiphon.models.hibari_phrase import lay_out, phrases
from antiphon.text.unit import Text, Unit
from tests.engine.listening import FORMAT, RATE_HZ, colour_db, level_db, said, sound, spoken


@pytest.fixture(scope="module")
def voice() -> HibariVoice:
    return HibariVoice(Path(ASSETS) / "hibari.onnx")


def speak(voice: HibariVoice, *deltas: str) -> list[Event]:
    loop = VirtualLoop()
    config = SpeechConfig(voice=HEART.id, format=FORMAT, words=True)
    return spoken(TtsEngine(voice, loop.scheduler, 1).open_stream(config, lambda: None), loop, *deltas)


def test_A7_streamed_speech_is_the_speech_of_one_decode(voice: HibariVoice) -> None:
    text = "When the rain finally stopped, all of us walked slowly home together along the river."
    streamed = np.concatenate([r.samples for r in voice.speak(HEART.id, Unit((Text(text),)), 0, 7, None)])
    (phrase,) = phrases(voice._frontend.script((Text(text),)), False)
    plan = voice._plan(phrase.line, 1.0)
    layout = lay_out(phrase, plan.durations, False, 1.0)
    rows = voice._graph.decode(plan, layout.start - 1, min(plan.frames, layout.stop + 2))
    rows = np.concatenate((rows, silent_rows(layout.stop + 2 - layout.start + 1 - len(rows))))
    whole = Vocoder(plan.f0, layout.start, 0, 7).push(rows)[: len(streamed)]
    assert len(whole) == len(streamed)
    assert np.corrcoef(whole, streamed)[0, 1] > 0.98
    assert np.abs(colour_db(whole) - colour_db(streamed)).max() < 0.5


def test_A8_timbre_stays_the_same_over_a_minute(voice: HibariVoice) -> None:
    refrain = "Every morning she reads the paper before breakfast. "
    between = "The garden is quiet, and the birds have not begun to sing yet. " * 3
    events = speak(voice, *([refrain, between] * 6))
    samples, words = sound(events), said(events)
    assert len(samples) > 60 * RATE_HZ
    starts = [start for text, start, _ in words if text == "Every"]
    ends = [end for text, _, end in words if text == "breakfast."]
    takes = [samples[a:b] for a, b in zip(starts, ends, strict=True)]
    first = colour_db(takes[0])
    assert len(takes) == 6
    for take in takes[1:]:
        assert np.abs(colour_db(take) - first).mean() < 0.3  # a pitch 5 % higher makes it 0.9
        assert len(take) == pytest.approx(len(takes[0]), rel=0.02)
        assert level_db(take) == pytest.approx(level_db(takes[0]), abs=0.5)


HOLD = ["Hold", "the", "line,", "please."]
BACK = ["Hello", "again,", "and", "thank", "you."]


def test_A10_speech_after_a_long_break_is_whole(voice: HibariVoice) -> None:
    events = speak(voice, f'{" ".join(HOLD)} <break time="1.5s"/> {" ".join(BACK)}')
    samples, words = sound(events), said(events)
    assert [text for text, _, _ in words] == [*HOLD, *BACK]
    (gap,) = [(a[2], b[1]) for a, b in itertools.pairwise(words) if b[0] == "Hello"]
    assert gap[1] - gap[0] >= 1.5 * RATE_HZ
    for _, start, end in words:
        assert level_db(samples[start:end]) > -45


def test_A12_leading_silence_can_be_asked_for(voice: HibariVoice) -> None:
    events = speak(voice, '<break time="400ms"/>Good morning.')
    samples, words = sound(events), said(events)
    assert not samples[: round(0.4 * RATE_HZ)].any()
    assert words[0][0] == "Good"
    assert words[0][1] >= 0.4 * RATE_HZ
