"""What counts as an error in other languages."""

import pytest

from antiphon.bench.wer_languages import errors_in, unit_of, units


@pytest.mark.parametrize(
    ("language", "said", "heard", "errors", "words"),
    [
        ("es", "¿En qué puedo ayudarle?", "en qué puedo ayudarle", 0, 4),
        ("es", "¿En qué puedo ayudarle?", "En que puedo ayudarle.", 1, 4),
        ("fr", "J'ai trouvé l'été.", "J’ai trouvé l’été", 0, 5),
        ("ja", "橋の近くです。", "橋の 近くです", 0, 6),
        ("ja", "橋の近くです。", "箸の近くです", 1, 6),
        ("hi", "नमस्ते, आपकी क्या मदद?", "नमस्ते आपकी क्या मदद", 0, 4),
        ("de", "Schöne Grüße", "", 2, 2),
        ("en", "I have 3 cats.", "I've three cats", 0, 4),
    ],
)
def test_errors_of_a_sentence(language: str, said: str, heard: str, errors: int, words: int) -> None:
    found = errors_in(language, said, heard)
    assert (found.errors, found.words) == (errors, words)


def test_marks_belong_to_their_letters() -> None:
    assert units("hi", "हिन्दी में") == ["हिन्दी", "में"]


def test_mandarin_is_counted_by_syllables_whatever_the_script() -> None:
    pytest.importorskip("pypinyin")
    found = errors_in("zh", "感谢您的来电，请问？", "感謝您的來爹 請問")
    assert (found.errors, found.words) == (1, 8)
    assert errors_in("zh-CN", "他在家", "她再家").errors == 0
    assert [unit_of(language) for language in ("zh-TW", "ja", "pt-BR")] == ["syllables", "characters", "words"]


def test_a_reference_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="no words"):
        errors_in("fr", "…", "bonjour")
