"""The default voice, with the weights that the package carries: what a listener would complain of."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from antiphon.core.event import Event
from antiphon.core.speech import SpeechConfig
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.ssm import SsmEngine
from antiphon.models.ssm_voice import RIVER, SsmVoice, packaged
from tests.engine.listening import FORMAT, RATE_HZ, colour_db, level_db, said, sound, spoken
from tests.models.odd_texts import ODD

HOLD = ["Hold", "the", "line,", "please."]
BACK = ["Hello", "again,", "and", "thank", "you."]


@pytest.fixture(scope="module")
def voice() -> SsmVoice:
    folder = packaged()
    assert isinstance(folder, Path)
    return SsmVoice(folder)


def speak(voice: SsmVoice, *deltas: str, speed: float = 1.0) -> list[Event]:
    loop = VirtualLoop()
    config = SpeechConfig(RIVER.id, format=FORMAT, words=True, speed=speed)
    return spoken(SsmEngine(voice, loop.scheduler, 1).open_stream(config, lambda: None), loop, *deltas)


@pytest.mark.parametrize("text", ["Hello.", "Please wait.", "A", "Sssh.", "100"])
def test_A5_the_first_and_last_samples_are_near_zero(voice: SsmVoice, text: str) -> None:
    samples = sound(speak(voice, text))
    assert np.abs(samples[:24]).max() < 0.01
    assert np.abs(samples[-24:]).max() < 0.01


def test_A8_timbre_stays_the_same_over_a_minute(voice: SsmVoice) -> None:
    refrain = "Every morning she reads the paper before breakfast. "
    between = "The garden is quiet, and the birds have not begun to sing yet. " * 3
    events = speak(voice, *([refrain, between] * 6))
    samples, words = sound(events), said(events)
    starts = [start for text, start, _ in words if text == "Every"]
    ends = [end for text, _, end in words if text == "breakfast."]
    takes = [samples[a:b] for a, b in zip(starts, ends, strict=True)]
    assert len(samples) > 60 * RATE_HZ
    assert len(takes) == 6
    colours = np.array([colour_db(take) for take in takes])  # a pitch 5 % higher makes 0.9
    assert np.abs(colours - colours.mean(axis=0)).mean(axis=1).max() < 0.6
    assert np.abs(colours[:3].mean(axis=0) - colours[3:].mean(axis=0)).mean() < 0.4
    for take in takes[1:]:
        assert len(take) == pytest.approx(len(takes[0]), rel=0.02)
        assert level_db(take) == pytest.approx(level_db(takes[0]), abs=0.5)


def test_A10_speech_after_a_long_break_is_whole(voice: SsmVoice) -> None:
    events = speak(voice, f'{" ".join(HOLD)} <break time="1.5s"/> {" ".join(BACK)}')
    samples, words = sound(events), said(events)
    assert [text for text, _, _ in words] == [*HOLD, *BACK]
    ((before, after),) = [(a[2], b[1]) for a, b in itertools.pairwise(words) if b[0] == "Hello"]
    assert after - before >= 1.5 * RATE_HZ
    for _, start, end in words:
        assert level_db(samples[start:end]) > -45


def test_A12_leading_silence_can_be_asked_for(voice: SsmVoice) -> None:
    events = speak(voice, '<break time="400ms"/>Good morning.')
    assert not sound(events)[: round(0.4 * RATE_HZ)].any()
    word, start, _ = said(events)[0]
    assert word == "Good"
    assert start >= 0.4 * RATE_HZ


def test_T17_inline_phonemes_are_used_as_phonemes(voice: SsmVoice) -> None:
    one, other = (said(speak(voice, f"[Tomato](/{ipa}/) soup.")) for ipa in ("təmˈeɪtoʊ", "bˈi"))
    assert [text for text, _, _ in one] == [text for text, _, _ in other] == ["Tomato", "soup."]
    assert one[0][2] - one[0][1] > 1.5 * (other[0][2] - other[0][1])


@pytest.mark.parametrize("name", ODD)
def test_odd_text_is_spoken_and_nothing_is_lost(voice: SsmVoice, name: str) -> None:
    text = ODD[name][:700]
    events = speak(voice, text)
    assert np.isfinite(sound(events)).all()
    if any(character.isalnum() for character in text):
        assert len(sound(events)) > 0.3 * RATE_HZ
        shown = "".join(word for word, _, _ in said(events))
        assert len([c for c in shown if c.isalnum()]) >= 0.9 * len([c for c in text if c.isalnum()]) or "](" in text


@pytest.mark.parametrize("speed", [0.6, 0.8, 1.25, 1.5])
def test_speed_is_kept(voice: SsmVoice, speed: float) -> None:
    text = "The weather in Paris is sunny and warm today."
    usual = len(sound(speak(voice, text)))
    assert len(sound(speak(voice, text, speed=speed))) == pytest.approx(usual / speed, rel=0.12)
