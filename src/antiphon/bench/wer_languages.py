"""Error rates of a read-back in any language: words, or smaller units where a script sets no words apart.

English goes by Whisper's own normaliser (:mod:`antiphon.bench.wer`); elsewhere case, punctuation and width do not
count. Mandarin is compared by its syllables with their tones: a recogniser writes traditional characters as it likes,
and one of several that sound the same, which says nothing of the voice.
"""

import unicodedata

import jiwer

from antiphon.bench.wer import WordErrors, word_errors
from antiphon.core.errors import ModelUnavailable
from antiphon.text.languages import base_language, is_spaced


def errors_in(language: str, reference: str, hypothesis: str) -> WordErrors:
    """Of one sentence; "words" are what :func:`unit_of` names. Raises ``ValueError`` for a reference without any, and
    ``ModelUnavailable`` for Mandarin without pypinyin."""
    if base_language(language) == "en":
        return word_errors(reference, hypothesis)
    wanted, heard = units(language, reference), units(language, hypothesis)
    if not wanted:
        raise ValueError(f"no words in the reference {reference!r}")
    if not heard:
        return WordErrors(len(wanted), len(wanted))
    aligned = jiwer.process_words(" ".join(wanted), " ".join(heard))
    return WordErrors(aligned.substitutions + aligned.deletions + aligned.insertions, len(wanted))


def unit_of(language: str) -> str:
    """What is counted."""
    return "syllables" if base_language(language) == "zh" else "words" if is_spaced(language) else "characters"


def units(language: str, text: str) -> list[str]:
    """What is compared. Marks on letters (accents, vowel signs) count as part of them."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in plain)
    if unit_of(language) == "syllables":
        return _syllables(kept.replace(" ", ""))
    return kept.split() if is_spaced(language) else [letter for letter in kept if letter != " "]


def _syllables(text: str) -> list[str]:
    try:
        from pypinyin import Style, lazy_pinyin
    except ImportError:
        raise ModelUnavailable("errors in Mandarin need pypinyin: pip install 'antiphon[zh]'") from None
    found: list[str] = lazy_pinyin(text, style=Style.TONE3)
    return found
