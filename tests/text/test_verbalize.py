"""Written forms of other languages in words that a reader of plain figures says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.text.languages import LANGUAGES
from antiphon.text.ordinal_days import ordinal_day
from antiphon.text.verbal_forms import forms_of
from antiphon.text.verbalize import verbalize

pytest.importorskip("babel")


@pytest.mark.parametrize(
    ("language", "written", "said"),
    [
        ("de", "Am 3.10.2024 um 14:30 Uhr", "Am dritten Oktober 2024 um 14 Uhr 30"),
        ("de", "der 3. Oktober 1985", "der dritte Oktober 1985"),
        ("de", "1985-10-03", "dritter Oktober 19 hundert 85"),
        ("de", "Es kostet 1.234,50 €.", "Es kostet 1234 Euro 50."),
        ("de", "-5 °C und 80 km/h", "minus 5 Grad Celsius und 80 Kilometer pro Stunde"),
        ("de", "am 3.10. um 8:00", "am dritten Oktober um 8 Uhr"),
        ("de", "3.5 mal, Version 1.2.3", "3,5 mal, Version 1.2.3"),
        ("de", "+49 30 1234567", "+ 4 9, 3 0, 1 2 3 4 5 6 7"),
        ("de", "Nummer 12345678, Agent 007", "Nummer 1 2 3 4, 5 6 7 8, Agent 0 0 7"),
        ("de", "Der 31.02.2024 ist keiner", "Der 31.02.2024 ist keiner"),
        ("fr", "Le 03/10/2024 à 15h30", "Le 3 octobre 2024 à 15 heures 30"),
        ("fr", "1 234,50 € ou -3 %", "1234 euros 50 ou moins 3 %"),
        ("es", "el 3/10/2024 a las 14:05", "el 3 de octubre de 2024 a las 14 0 5"),
        ("pt-PT", "29,90 €", "29 euros 90"),
        ("it", "alle 14:30", "alle 14 e 30"),
        ("ru", "3 октября 2024, 21.05.2024", "третьего октября 2024, двадцать первого мая 2024"),
        ("ru", "1 км, 2 км, 5 км", "1 км, 2 км, 5 км"),
        ("cs", "3. října a 21. 5. 2024", "třetího října a dvacátého prvního května 2024"),
        ("pl", "3 października 2024", "trzeciego października 2024"),
        ("uk", "03.10.2024", "третього жовтня 2024"),
        ("hr", "dana 03.10.2024. u 14:00", "dana trećeg listopada 2024 u 14"),
        ("fi", "3. lokakuuta, 5 km", "kolmas lokakuuta, 5 kilometriä"),
        ("sv", "1985-10-03 för 25 kr", "3 oktober 19 hundra 85 för 25 svenska kronor"),
        ("zh", "2024/10/03，增长25%，14:30", "2024年10月3日，增长百分之25 ，14点30分"),
        ("ja", "25% 14:30 3.5", "25パーセント 14じ30ふん 3てん5"),
        ("ko", "25% 3.5", "25 퍼센트 3 점 5"),
        ("hi", "३ अक्टूबर, ₹1,23,456", "3 अक्टूबर, 123456 भारतीय रुपए"),
        ("ar", "٢٥٪", "25 بالمئة"),
        ("tl", "10/03/2024", "Oktubre 3 2024"),
        ("hu", "2024.10.03", "2024. október 3."),
        ("xx", "Ab -5 12345678", "Ab -5 1 2 3 4, 5 6 7 8"),
    ],
)
def test_written_forms(language: str, written: str, said: str) -> None:
    assert verbalize(written, language) == said


def test_plain_text_is_left_alone_but_for_its_spaces() -> None:
    assert verbalize("  Guten   Tag,\nHerr  Müller! ", "de") == "Guten Tag, Herr Müller!"


def test_every_language_of_the_protocol_has_a_minus_and_months() -> None:
    for language in LANGUAGES:
        if language == "en":
            continue
        forms = forms_of(language)
        assert forms.words.get("minus"), language
        assert len(forms.months) == 12, language


@pytest.mark.parametrize("language", ["de", "fi", "cs", "sk", "pl", "ru", "uk", "bg", "hr"])
def test_every_day_of_a_month_has_its_own_ordinal(language: str) -> None:
    said = [ordinal_day(day, language, "am ") for day in range(1, 32)]
    assert None not in said
    assert len(set(said)) == 31
    assert ordinal_day(0, language) is None
    assert ordinal_day(32, language) is None


def test_german_ordinals_follow_the_word_before() -> None:
    assert ordinal_day(1, "de", "am ") == "ersten"
    assert ordinal_day(1, "de", "Das ist der ") == "erste"
    assert ordinal_day(31, "de") == "einunddreißigster"
    assert ordinal_day(1, "en") is None


@settings(max_examples=200)
@given(
    st.sampled_from(["de", "fr", "ru", "zh", "hi", "ar", "hu", "xx", "pt-PT"]),
    st.text(st.sampled_from("aЖ字३ 1290.,-/:€$%+()°Ckmh月"), max_size=60),
)
def test_nothing_fails_and_words_stay(language: str, text: str) -> None:
    said = verbalize(text, language)
    assert (not any(c.isalnum() for c in text)) or any(c.isalnum() for c in said)
    assert len(said) < 40 * len(text) + 40
