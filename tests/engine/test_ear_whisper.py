"""Whisper behind the recogniser's contract, on a scripted model; and what is said where the real one is missing."""

import sys
from pathlib import Path

import numpy as np
import pytest

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.hearing import HearingConfig
from antiphon.engine.ear import Ask
from antiphon.engine.ear_fake import FakeEar, FakeVad
from antiphon.engine.ear_whisper import WhisperEar
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.stt import SttEngine
from antiphon.models.whisper import Whisper, WhisperTranscript, WhisperWord


class ScriptedWhisper:
    languages = ("en", "de")

    def __init__(self, compression: float = 1.1, no_speech: float = 0.02) -> None:
        self.asked: list[tuple[int, str, str]] = []
        self._compression, self._no_speech = compression, no_speech

    def transcribe(self, samples: np.ndarray, language: str = "", hotwords: str = "") -> WhisperTranscript:
        self.asked.append((len(samples), language, hotwords))
        words = (WhisperWord("Guten", 0.5, 0.8, 0.9), WhisperWord("Tag.", 0.8, 1.1, 1.2))
        return WhisperTranscript(words, language or "de", -0.3, self._no_speech, self._compression)


def test_words_keep_their_times_and_the_language_its_name() -> None:
    model = ScriptedWhisper()
    ear = WhisperEar(model)  # type: ignore[arg-type]
    (heard,) = ear.decode(np.zeros(32_000, np.float32), Ask(language="de-DE", expect=ear.expect(("Graz", "Wien"))))
    assert heard is not None
    assert [(word.text, word.start_sample, word.end_sample) for word in heard.words] == [
        ("Guten", 8_000, 12_800),
        ("Tag.", 12_800, 17_600),
    ]
    assert heard.words[1].confidence == 1.0
    assert (heard.language, heard.avg_logprob, heard.looped) == ("de", -0.3, False)
    assert model.asked == [(32_000, "de", "Graz, Wien")]


def test_evidence_of_loops_and_silence_is_passed_on() -> None:
    ear = WhisperEar(ScriptedWhisper(compression=4.0, no_speech=0.9))  # type: ignore[arg-type]
    (heard,) = ear.decode(np.zeros(16_000, np.float32), Ask())
    assert heard is not None
    assert heard.looped
    assert heard.silence == 0.9


def test_the_language_chooses_the_recogniser() -> None:
    fake, whisper = FakeEar(), WhisperEar(ScriptedWhisper())  # type: ignore[arg-type]
    engine = SttEngine([fake, whisper], FakeVad(), VirtualLoop().scheduler)
    assert engine.languages == ("en", "de")
    choices = {("en", ""): fake, ("de", ""): whisper, ("de-AT", "ink-2"): whisper, ("", ""): whisper}
    for (language, model), recogniser in choices.items():
        assert engine.recogniser(HearingConfig(language=language, model=model)) is recogniser
    assert engine.recogniser(HearingConfig(model="whisper-base")) is whisper
    with pytest.raises(InvalidInput, match="en, de"):
        engine.recogniser(HearingConfig(language="fr"))
    with pytest.raises(InvalidInput, match="fake"):
        engine.recogniser(HearingConfig(language="de", model="fake"))


def test_what_is_missing_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(ModelUnavailable, match="pip install"):
        Whisper(tmp_path)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    with pytest.raises(ModelUnavailable, match="models pull whisper-base"):
        Whisper(tmp_path)
