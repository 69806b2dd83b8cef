import pytest

from antiphon.core.errors import InvalidInput
from antiphon.text.phonemes import check_ipa


@pytest.mark.parametrize("phonemes", ["k|ɑ|ɹ|ˈ|t|i|ʒ|ə", "ˈhaloː", "t͡ʃˈɛ͡ɹ", "sɑ̃", "ã", "nˈI", "ç", "ma˨˩˦", "ʘ"])
def test_what_people_write_is_known(phonemes: str) -> None:
    check_ipa(phonemes)


@pytest.mark.parametrize(
    ("phonemes", "about"), [("k@t", "'@' (U+0040)"), ("кот", "'к' (U+043A)"), ("ˈ", "no sound"), ("5", "'5' (U+0035)")]
)
def test_what_is_none_of_it_is_named(phonemes: str, about: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        check_ipa(phonemes)
    assert about in str(raised.value)
    assert raised.value.param == "transcript"
