import pytest

from antiphon.text.languages import LANGUAGES, base_language, has_ordinal_dot, is_language, is_spaced


def test_all_languages_of_the_protocol_are_known():
    codes = (
        "en fr de es pt zh ja hi it ko nl pl ru sv tr tl bg ro ar cs el fi hr ms sk da ta uk hu no vi bn th he ka "
        "id te gu kn ml mr pa or ur"
    )
    assert list(LANGUAGES) == codes.split()


@pytest.mark.parametrize(
    ("tag", "base"),
    [("en-GB", "en"), ("pt_BR", "pt"), ("EN", "en"), ("nb-NO", "no"), ("zh-Hant-TW", "zh")],
)
def test_base_language(tag, base):
    assert base_language(tag) == base
    assert is_language(tag)


@pytest.mark.parametrize("tag", ["", "xx", "english", "e", "en-", "en GB", "en--GB"])
def test_invalid_tags(tag):
    assert not is_language(tag)


def test_scripts():
    assert [code for code in LANGUAGES if not is_spaced(code)] == ["zh", "ja", "th"]
    assert has_ordinal_dot("de-AT")
    assert not has_ordinal_dot("en")
