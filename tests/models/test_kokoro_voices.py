"""The list of voices: all 54, each with what a client has to know, and the blends of them."""

import unicodedata

from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.kokoro_style import read_blend
from antiphon.models.kokoro_voices import TONGUES, VOICES, blend_info, names_voice, voice_name
from antiphon.store.manifest import shipped_manifests


def test_every_voice_of_the_manifest_is_listed_and_no_other() -> None:
    files = {file.name.removesuffix(".bin") for file in shipped_manifests()["kokoro-voices"].files}
    assert len(VOICES) == 54
    assert set(VOICES) == files


def test_every_voice_has_language_gender_quality_and_licence() -> None:
    assert len({info.id for info in VOICES.values()}) == 54
    for name, info in VOICES.items():
        assert info.name == name
        assert info.engine == "kokoro"
        assert info.gender == ("feminine" if name[1] == "f" else "masculine")
        assert info.locales[0].startswith(info.language)
        assert info.quality
        assert info.licence == "Apache-2.0"
        assert voice_name(info.id) == name


def test_the_best_voice_of_each_language_comes_first() -> None:
    first = {}
    for name in VOICES:
        first.setdefault(name[0], name)
    assert first["a"] == "af_heart"
    assert first["b"] == "bf_emma"
    assert first["j"] == "jf_alpha"


def test_a_stand_in_has_only_symbols_that_the_model_knows() -> None:
    known = set(vocabulary())
    for tongue in TONGUES.values():
        assert set(unicodedata.normalize("NFD", tongue.stand_in)) <= known, tongue.name
        assert tongue.stand_in == unicodedata.normalize("NFD", tongue.stand_in)


def test_a_blend_speaks_the_language_of_its_heaviest_voice() -> None:
    info = blend_info(read_blend("bf_emma:0.7+ff_siwis:0.3", VOICES))
    assert info.id == info.name == "bf_emma:0.7+ff_siwis:0.3"
    assert info.locales == ("en-GB",)
    assert "70% bf_emma and 30% ff_siwis" in info.description
    assert voice_name(info.id) is None


def test_names_of_voices_and_blends_are_told_from_others() -> None:
    for name in ("af_heart", VOICES["jf_alpha"].id, "af_heart:0.7+am_adam:0.3", "af_heart(2)+am_adam"):
        assert names_voice(name)
    for name in ("Heart", "", "zz_top", "hibari"):
        assert not names_voice(name)
