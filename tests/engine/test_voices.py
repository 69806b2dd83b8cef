"""Which voice speaks a language."""

from dataclasses import replace

import pytest

from antiphon.core.speech import VoiceInfo
from antiphon.engine.fake import FAKE_VOICE
from antiphon.engine.voices import nobody_speaks, speaker, wrong_voice
from antiphon.text.languages import LANGUAGES


def info(name: str, language: str, *locales: str, quality: str = "neural", engine: str = "kokoro") -> VoiceInfo:
    return replace(
        FAKE_VOICE, id=name, name=name, language=language, locales=locales, quality=quality, engine=engine
    )


HEART = info("Heart", "en", "en-US")
EMMA = info("Emma", "en-GB", "en-GB", "en-AU")
DORA = info("Dora", "pt", "pt-BR", "pt")
LISBON = info("Lisbon", "pt-PT", "pt-PT", quality="formant", engine="espeak")
GERMAN = info("German", "de", "de", quality="formant", engine="espeak")
MANDARIN = info("Mandarin", "zh", "cmn", "zh", quality="formant", engine="espeak")
CANTONESE = info("Cantonese", "yue", "zh-HK", "yue", quality="formant", engine="espeak")
ALL = [GERMAN, LISBON, MANDARIN, CANTONESE, HEART, EMMA, DORA]


@pytest.mark.parametrize(
    ("language", "voice"),
    [
        ("en", HEART),
        ("en-US", HEART),
        ("en_gb", EMMA),
        ("en-AU", EMMA),
        ("en-ZA", HEART),
        ("pt", DORA),
        ("pt-PT", DORA),
        ("de-CH-1996", GERMAN),
        ("zh-Hant-TW", MANDARIN),
        ("zh-HK", CANTONESE),
        ("cmn", MANDARIN),
        ("xx", None),
        ("", None),
    ],
)
def test_quality_goes_before_region_and_region_before_order(language: str, voice: VoiceInfo | None) -> None:
    assert speaker(ALL, language) is voice


def test_where_no_neural_voice_speaks_it_the_region_decides() -> None:
    assert speaker([GERMAN, LISBON, info("Rio", "pt", "pt-BR", quality="formant")], "pt-PT") is LISBON


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_refusal_says_what_to_install(language: str) -> None:
    error = nobody_speaks(language, [info("Any", "xx")])
    assert "pip install 'antiphon[espeak]'" in str(error)
    assert LANGUAGES[language].name in str(error)
    assert error.param == "language"


def test_a_language_that_a_neural_voice_could_speak_is_told_of_it() -> None:
    assert "antiphon models pull kokoro-82m-int8" in str(nobody_speaks("ja-JP", [HEART]))
    assert "kokoro" not in str(nobody_speaks("de", [HEART]))


def test_where_installing_would_not_help_it_is_not_advised() -> None:
    for refused in (nobody_speaks("xx", [HEART]), nobody_speaks("tlh", [HEART, GERMAN])):
        assert "pip" not in str(refused)
        assert "voices here speak" in str(refused)


def test_a_named_voice_of_another_language_is_told_of_those_that_speak_it() -> None:
    assert "German" in str(wrong_voice(HEART, "de-AT", ALL))
    assert "pip install" in str(wrong_voice(HEART, "fr", [HEART]))
