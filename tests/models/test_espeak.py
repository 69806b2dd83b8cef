"""The formant voice: real speech in real languages, with exact times."""

import numpy as np
import pytest

from antiphon.core.errors import EngineFailed, InvalidInput
from antiphon.core.speech import Rendered, VoiceInfo
from antiphon.models import espeak_library
from antiphon.models.espeak import EspeakVoice
from antiphon.text.languages import LANGUAGES, base_language
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken, Text, Unit

pytest.importorskip("espeakng_loader")


@pytest.fixture(scope="module")
def voice() -> EspeakVoice:
    return EspeakVoice(espeak_library.load())


def of(voice: EspeakVoice, language: str) -> VoiceInfo:
    return next(info for info in voice.voices if info.language == language)


def spoken(voice: EspeakVoice, language: str, *pieces: Spoken, after: str | None = None, **unit: float) -> Rendered:
    whole = Unit(pieces, **unit)  # type: ignore[arg-type]
    made = list(voice.speak(of(voice, language).id, whole, 1_000, 0, after))
    return Rendered(
        np.concatenate([one.samples for one in made]),
        tuple(word for one in made for word in one.words),
        tuple(word for one in made for word in one.normalized),
        tuple(sound for one in made for sound in one.phonemes),
    )


def test_every_language_of_the_protocol_has_a_voice_that_says_what_it_is(voice: EspeakVoice) -> None:
    for language in LANGUAGES:
        info = of(voice, language)
        assert (info.engine, info.licence) == ("espeak", "GPL-3.0-or-later")
        assert info.quality == ("formant, weak" if "; weak: " in info.description else "formant")
        assert f"espeak-{language}" in info.aliases


def test_what_a_recogniser_mishears_is_labelled(voice: EspeakVoice) -> None:
    quality = {language: of(voice, language).quality for language in ("en", "es", "pt", "fr", "zh", "hi")}
    assert quality == {
        "en": "formant", "es": "formant", "pt": "formant",
        "fr": "formant, weak", "zh": "formant, weak", "hi": "formant, weak",
    }  # fmt: skip


def test_ids_and_languages_are_one_of_a_kind(voice: EspeakVoice) -> None:
    assert len({info.id for info in voice.voices}) == len(voice.voices)
    assert len({info.language for info in voice.voices}) == len(voice.voices)
    assert len(voice.voices) > 120
    aliases = [alias for info in voice.voices for alias in info.aliases]
    assert len(set(aliases)) == len(aliases)


def test_a_voice_is_called_by_each_of_its_regions(voice: EspeakVoice) -> None:
    called = {alias: info.language for info in voice.voices for alias in info.aliases}
    assert [called[f"espeak-{tag}"] for tag in ("en-us", "es-mx", "pt-br", "pt-pt", "fil")] == [
        "en", "es-419", "pt", "pt-PT", "tl",
    ]  # fmt: skip


SENTENCES = {
    "ar": "مرحبا بالعالم", "bg": "Добро утро", "bn": "শুভ সকাল", "el": "Καλημέρα κόσμε", "gu": "શુભ સવાર",
    "he": "שלום עולם", "hi": "नमस्ते दुनिया", "ja": "こんにちは", "ka": "დილა მშვიდობისა",
    "kn": "ಶುಭೋದಯ", "ko": "안녕하세요", "ml": "സുപ്രഭാതം",
    "mr": "सुप्रभात", "or": "ଶୁଭ ସକାଳ", "pa": "ਸ਼ੁਭ ਸਵੇਰ", "ru": "Доброе утро", "ta": "காலை வணக்கம்", "te": "శుభోదయం",
    "th": "สวัสดีครับ", "uk": "Доброго ранку", "ur": "صبح بخیر", "zh": "你好世界",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_of_the_protocol_speaks(voice: EspeakVoice, language: str) -> None:
    made = spoken(voice, language, Text(SENTENCES.get(language, "Banana, 21 taxi.")))
    assert 0.4 < len(made.samples) / voice.sample_rate_hz < 6
    assert np.sqrt(np.mean(made.samples**2)) > 0.01
    assert len(made.phonemes) > 4
    end = 1_000 + len(made.samples)
    starts = [timed.start_sample for timed in made.words]
    assert starts == sorted(starts)
    assert all(1_000 <= timed.start_sample <= timed.end_sample <= end for timed in (*made.words, *made.phonemes))


def test_words_are_the_users_and_as_spoken(voice: EspeakVoice) -> None:
    made = spoken(voice, "de", Text("Am 3.10. kostet es 5 €."))
    assert [word.text for word in made.words] == ["Am", "3.10.", "kostet", "es", "5", "€."]
    assert [word.text for word in made.normalized] == ["Am", "dritten", "Oktober", "kostet", "es", "5", "Euro."]
    third = made.normalized[1], made.normalized[2]
    assert (made.words[1].start_sample, made.words[1].end_sample) == (third[0].start_sample, third[1].end_sample)


def test_a_unit_starts_with_the_pause_of_the_one_before_and_ends_with_its_break(voice: EspeakVoice) -> None:
    plain = spoken(voice, "de", Text("Ja."))
    later = spoken(voice, "de", Text("Ja."), after="sentence", pause_s=0.5)
    rate_hz = voice.sample_rate_hz
    assert len(later.samples) - len(plain.samples) == round(0.35 * rate_hz) + round(0.5 * rate_hz)
    assert later.words[0].start_sample - plain.words[0].start_sample == round(0.35 * rate_hz)
    np.testing.assert_array_equal(later.samples[round(0.35 * rate_hz) :][: len(plain.samples)], plain.samples)


def test_silence_around_speech_is_cut(voice: EspeakVoice) -> None:
    made = spoken(voice, "de", Text("Guten Tag."))
    loud = np.flatnonzero(np.abs(made.samples) > 0.01)
    assert loud[0] < 0.06 * voice.sample_rate_hz
    assert len(made.samples) - loud[-1] < 0.15 * voice.sample_rate_hz


def test_inline_phonemes_and_respelled_words(voice: EspeakVoice) -> None:
    made = spoken(voice, "de", Text("Das ist "), Ipa("Foo", "ˈhaloː"), Text(" und "), Respelled("nginx", "Endschin X"))
    assert [word.text for word in made.words] == ["Das", "ist", "Foo", "und", "nginx"]
    assert [word.text for word in made.normalized] == ["Das", "ist", "Foo", "und", "Endschin", "X"]
    foo = made.words[2]
    sounds = [sound.text for sound in made.phonemes if foo.start_sample <= sound.start_sample < foo.end_sample]
    assert sounds == ["h", "a", "l", "oː"]


def test_double_brackets_of_the_user_are_not_phonemes(voice: EspeakVoice) -> None:
    made = spoken(voice, "de", Text("Das [[x]] "), Ipa("Foo", "ˈhaloː"))
    assert [word.text for word in made.words] == ["Das", "[[x]]", "Foo"]
    assert [sound.text for sound in made.phonemes][-4:] == ["h", "a", "l", "oː"]


def test_spelled_text_is_said_letter_by_letter(voice: EspeakVoice) -> None:
    made = spoken(voice, "de", Spell("ABC"))
    assert "".join(sound.text for sound in made.phonemes) == "ɑːbeːtseː"


def test_long_text_comes_in_parts_of_bounded_length(voice: EspeakVoice) -> None:
    text = "Dieser Satz ist lang, und er hört nicht auf, weil immer noch etwas kommt, das gesagt sein will. " * 6
    made = list(voice.speak(of(voice, "de").id, Unit((Text(text),)), 0, 0, None))
    assert len(made) > 3
    assert all(len(one.samples) < 15 * voice.sample_rate_hz for one in made)
    assert [word.text for one in made for word in one.words] == text.split()


def test_streams_do_not_change_each_other(voice: EspeakVoice) -> None:
    first = spoken(voice, "fr", Text("Bonjour tout le monde.")).samples
    spoken(voice, "ru", Text("Привет"), speed=1.7)
    np.testing.assert_array_equal(spoken(voice, "fr", Text("Bonjour tout le monde.")).samples, first)


def test_text_without_words_makes_no_sound_and_loses_none(voice: EspeakVoice) -> None:
    made = spoken(voice, "de", Text("🙂 …"))
    assert len(made.samples) == 0
    assert [word.text for word in made.words] == ["🙂", "…"]


def test_kanji_are_refused_rather_than_misread(voice: EspeakVoice) -> None:
    with pytest.raises(EngineFailed, match="kanji"):
        spoken(voice, "ja", Text("日本語です"))


def test_unknown_phonemes_are_the_callers_mistake(voice: EspeakVoice) -> None:
    with pytest.raises(InvalidInput, match="no symbol"):
        spoken(voice, "de", Ipa("x", "k@t"))


def test_the_stated_bound_holds_for_a_usual_part(voice: EspeakVoice) -> None:
    assert voice.estimate_s(Unit((Text("x" * 160),))) < voice.quantum_bound_s
    assert {base_language(info.language) for info in voice.voices} >= set(LANGUAGES)


def test_locales_begin_with_where_the_speech_is_at_home(voice: EspeakVoice) -> None:
    assert [of(voice, language).locales[0] for language in ("pt", "pt-PT", "zh", "de", "tl")] == [
        "pt-BR",
        "pt-PT",
        "zh",
        "de",
        "fil-PH",
    ]


def test_several_words_of_phonemes(voice: EspeakVoice) -> None:
    made = spoken(voice, "en", Text("In "), Ipa("New York", "nˈu jˈɔɹk"), Text(" today."))
    assert [word.text for word in made.words] == ["In", "New", "York", "today."]
    starts = [word.start_sample for word in made.words]
    assert starts == sorted(starts)
    assert "n u" in " ".join(sound.text.replace("uː", "u") for sound in made.phonemes)
