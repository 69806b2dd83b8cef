from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from antiphon.core.clock import ManualClock
from antiphon.core.errors import InvalidInput, ModelUnavailable, NotFound
from antiphon.core.hearing import HearingConfig
from antiphon.core.speech import MissingVoice, SpeechConfig, VoiceInfo
from antiphon.engine.fake import FAKE_VOICE, FakeVoice, LeakyIntegrator
from antiphon.engine.registry import OPENAI_VOICES, SDK_VOICES, Registry
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.stt import SttEngine
from antiphon.engine.tts import TtsEngine


@pytest.fixture
def registry() -> Registry:
    return Registry([TtsEngine(FakeVoice(), Scheduler(ManualClock(), 0))], aliases={"Receptionist": "Fake"})


@pytest.mark.parametrize("name", [*SDK_VOICES, *OPENAI_VOICES, "Alloy", FAKE_VOICE.id, "fake", "receptionist", ""])
def test_known_names_resolve_to_the_voice(registry: Registry, name: str) -> None:
    engine, config = registry.resolve(SpeechConfig(voice=name, model="sonic-3"))
    assert (engine.name, config.voice) == ("fake", FAKE_VOICE.id)


def test_an_unknown_voice_is_not_found_and_says_what_is_known(registry: Registry) -> None:
    with pytest.raises(NotFound, match="Fake"):
        registry.resolve(SpeechConfig(voice="nobody"))


@pytest.mark.parametrize("model", ["sonic", "sonic-3.5", "tts-1", "made-up", "fake", ""])
def test_any_model_name_is_served(registry: Registry, model: str) -> None:
    assert registry.resolve(SpeechConfig(voice="", model=model))[0].name == "fake"


def test_a_default_voice_must_exist() -> None:
    with pytest.raises(NotFound):
        Registry([TtsEngine(FakeVoice(), Scheduler(ManualClock(), 0))], default_voice="nobody")


def test_no_language_means_the_voices_own(registry: Registry) -> None:
    assert registry.resolve(SpeechConfig(voice="", language=""))[1].language == FAKE_VOICE.language


class Named:
    """As much of a recogniser as names need."""

    interims = True
    quantum_bound_s = 0.01
    max_window_s = 10.0

    def __init__(self, name: str, *languages: str) -> None:
        self.name = name
        self.languages = languages
        self.warmed = False

    def warm_up(self) -> None:
        self.warmed = True


def with_ear() -> tuple[Registry, list[Named]]:
    scheduler = Scheduler(ManualClock(), 0)
    recognisers = [Named("quick", "en"), Named("many", "en", "fr")]
    ear = SttEngine(recognisers, FakeVad(), scheduler)  # type: ignore[arg-type]
    return Registry([TtsEngine(FakeVoice(), scheduler)], ear=ear), recognisers


class FakeVad(LeakyIntegrator):
    def step(self, inputs: Any, state: Any, mask: Any) -> Any:
        return np.zeros(len(inputs), np.float32), state


@pytest.mark.parametrize(
    ("asked", "found"),
    [("ink-2", ""), ("ink-whisper", ""), ("whisper-1", ""), ("gpt-4o-transcribe", ""), ("", ""), ("many", "many")],
)
def test_any_name_means_an_ear_and_a_recognisers_own_that_one(asked: str, found: str) -> None:
    registry, _ = with_ear()
    engine, config = registry.listener(HearingConfig(model=asked))
    assert (engine.name, config.model) == ("stt", found)
    assert registry.ears() == ("quick", "many")


def test_the_ear_is_warmed_with_the_voices() -> None:
    registry, recognisers = with_ear()
    registry.warm_up()
    assert all(recogniser.warmed for recogniser in recognisers)


def test_where_nothing_listens_that_is_said(registry: Registry) -> None:
    assert registry.ears() == ()
    with pytest.raises(NotFound, match="only speaks"):
        registry.listener(HearingConfig())


def of_languages() -> Registry:
    """Heart (English, the default), then a voice of another engine for each of German and Portuguese."""
    scheduler = Scheduler(ManualClock(), 0)
    other = FakeVoice()
    other.name = "other"
    other.voices = tuple(
        replace(FAKE_VOICE, id=code, name=name, language=code, locales=(code,), engine="other", quality="formant")
        for code, name in (("de", "Hans"), ("pt", "Rosa"))
    )  # type: ignore[assignment]
    return Registry([TtsEngine(FakeVoice(), scheduler), TtsEngine(other, scheduler)])


@pytest.mark.parametrize("voice", ["", "alloy", SDK_VOICES[0], FAKE_VOICE.id])
@pytest.mark.parametrize(("language", "found"), [("de-AT", "de"), ("pt", "pt"), ("en-GB", FAKE_VOICE.id)])
def test_a_default_voice_gives_way_to_one_that_speaks_the_language(voice: str, language: str, found: str) -> None:
    engine, config = of_languages().resolve(SpeechConfig(voice=voice, model="sonic-3", language=language))
    assert (config.voice, config.language) == (found, language)
    assert any(info.id == found for info in engine.voices)


def test_a_voice_that_was_named_is_never_swapped() -> None:
    with pytest.raises(InvalidInput, match=r"speaks de, not pt.*Rosa"):
        of_languages().resolve(SpeechConfig(voice="Hans", language="pt-BR"))
    with pytest.raises(InvalidInput, match="espeak"):
        of_languages().resolve(SpeechConfig(voice="Hans", language="fr"))


def test_a_language_that_nobody_speaks_says_what_to_install() -> None:
    with pytest.raises(InvalidInput, match=r"French.*antiphon\[espeak\]"):
        of_languages().resolve(SpeechConfig(voice="", language="fr"))


@pytest.mark.parametrize("language", ["de" + "-a" * 500_000, "x" * 1_000_000, "de-AT-1996-x-" + "y" * 23])
def test_a_language_without_end_is_refused_before_it_is_looked_at(language: str) -> None:
    with pytest.raises(InvalidInput, match="at most 35") as refusal:
        of_languages().resolve(SpeechConfig(voice="", language=language))
    assert refusal.value.param == "language"


@pytest.mark.parametrize("language", ["de-", "de__", " de ", "DE_at", "de-\u202e"])
def test_an_odd_tag_goes_by_its_language(language: str) -> None:
    assert of_languages().resolve(SpeechConfig(voice="", language=language))[1].voice == "de"


@pytest.mark.parametrize("language", ["-", "d\x00", "\U0001f600", "'; DROP TABLE", "../../de"])
def test_what_is_no_tag_is_nobodys_language(language: str) -> None:
    with pytest.raises(InvalidInput, match="no voice here speaks"):
        of_languages().resolve(SpeechConfig(voice="", language=language))


def test_an_engine_that_was_named_speaks_its_own_languages_only() -> None:
    registry = of_languages()
    assert registry.resolve(SpeechConfig(voice="", model="other", language="pt"))[1].voice == "pt"
    assert registry.resolve(SpeechConfig(voice="", model="other", language=""))[1].voice == "de"
    with pytest.raises(InvalidInput, match="no voice here speaks"):
        registry.resolve(SpeechConfig(voice="", model="other", language="en"))


class Blending(FakeVoice):
    """A voice that can be mixed with itself."""

    def find(self, name: str) -> VoiceInfo | None:
        return replace(FAKE_VOICE, id=name, name=name) if "+" in name else None


def test_a_blend_is_found_by_its_name_and_opens_a_stream() -> None:
    registry = Registry([TtsEngine(Blending(), Scheduler(ManualClock(), 0))])
    engine, config = registry.resolve(SpeechConfig(voice="fake:0.7+fake:0.3", model=""))
    assert config.voice == "fake:0.7+fake:0.3"
    engine.open_stream(config, lambda: None).close()
    with pytest.raises(NotFound):
        registry.resolve(SpeechConfig(voice="nobody"))


def test_a_default_voice_may_be_a_blend() -> None:
    blend = "fake:0.7+fake:0.3"
    registry = Registry([TtsEngine(Blending(), Scheduler(ManualClock(), 0))], default_voice=blend)
    for asked in (SpeechConfig(voice="", model=""), SpeechConfig(voice="alloy", model="", language="en")):
        assert registry.resolve(asked)[1].voice == blend


@pytest.mark.parametrize("name", ["Far", "far", "far-id", "far:0.5+fake:0.5"])
def test_a_missing_voice_says_what_to_pull(name: str) -> None:
    far = replace(FAKE_VOICE, id="far-id", name="Far", engine="distant")
    missing = [MissingVoice(far, "antiphon models pull far")]
    registry = Registry([TtsEngine(FakeVoice(), Scheduler(ManualClock(), 0))], missing=missing)
    with pytest.raises(ModelUnavailable, match="antiphon models pull far"):
        registry.resolve(SpeechConfig(voice=name))
    assert far not in registry.voices()


def test_an_engine_whose_voices_are_all_missing_says_what_to_pull() -> None:
    missing = [MissingVoice(replace(FAKE_VOICE, id="far-id", name="Far", engine="distant"), "antiphon models pull far")]
    registry = Registry([TtsEngine(FakeVoice(), Scheduler(ManualClock(), 0))], missing=missing)
    with pytest.raises(ModelUnavailable, match="antiphon models pull far"):
        registry.resolve(SpeechConfig(voice="", model="distant"))
