import pytest

from antiphon.core.clock import ManualClock
from antiphon.core.errors import NotFound
from antiphon.core.speech import SpeechConfig
from antiphon.engine.fake import FAKE_VOICE, FakeVoice
from antiphon.engine.registry import OPENAI_VOICES, SDK_VOICES, Registry
from antiphon.engine.scheduler import Scheduler
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
