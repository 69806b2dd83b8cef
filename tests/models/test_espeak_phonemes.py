"""IPA in the library's own names: what is asked for is what is heard."""

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.models import espeak_library
from antiphon.models.espeak_library import EspeakLibrary
from antiphon.models.espeak_phonemes import Mnemonics
from antiphon.text.languages import LANGUAGES

pytest.importorskip("espeakng_loader")


@pytest.fixture(scope="module")
def library() -> EspeakLibrary:
    return espeak_library.load()


@pytest.fixture(scope="module")
def mnemonics(library: EspeakLibrary) -> Mnemonics:
    return Mnemonics(library)


def heard(library: EspeakLibrary, names: str, language: str) -> str:
    return "".join(library.sounds(language, [names])[0])


@pytest.mark.parametrize(
    ("language", "ipa"),
    [("de", "hˈaloː"), ("fr", "bɔ̃ʒˈuʁ"), ("en", "hˈæbɪts"), ("ru", "prʲɪvʲˈet"), ("hi", "nəmˈʌsteː"), ("sv", "fˈyːra")],
)
def test_what_is_asked_for_is_heard(library: EspeakLibrary, mnemonics: Mnemonics, language: str, ipa: str) -> None:
    assert heard(library, mnemonics.of(ipa, language), language) == ipa


def test_stress_moves_to_its_vowel_and_separators_go(mnemonics: Mnemonics) -> None:
    assert mnemonics.of("k|ɑ|ɹ|ˈ|t|i|ʒ|ə", "de") == mnemonics.of("kɑɹtˈiʒə", "de")
    assert mnemonics.of("'haloː", "de") == mnemonics.of("ˈhaloː", "de")


def test_what_a_language_lacks_is_said_by_the_nearest(library: EspeakLibrary, mnemonics: Mnemonics) -> None:
    assert heard(library, mnemonics.of("bʏk", "en"), "en") == "bˈɪk"


def test_letters_of_speech_software_mean_their_diphthongs(mnemonics: Mnemonics) -> None:
    assert mnemonics.of("nˈIt", "de") == mnemonics.of("nˈaɪt", "de")
    assert mnemonics.of("ˈʤæk", "en") == mnemonics.of("ˈdʒæk", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_can_say_a_common_word(mnemonics: Mnemonics, language: str) -> None:
    assert mnemonics.of("ˈhaloː", language)
    assert mnemonics.of("kɑɹˈtiʒə", language)


@pytest.mark.parametrize(("ipa", "about"), [("k@t", "no symbol"), ("aǃ", "no sound like 'ǃ'"), ("", "no sound")])
def test_what_cannot_be_said_is_named(mnemonics: Mnemonics, ipa: str, about: str) -> None:
    with pytest.raises(InvalidInput, match=about):
        mnemonics.of(ipa, "de")
