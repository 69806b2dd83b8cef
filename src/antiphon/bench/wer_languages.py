"""Error rates of a read-back in any language: words, or characters where a script sets no words apart.

English goes by Whisper's own normaliser (:mod:`antiphon.bench.wer`); elsewhere case, punctuation and width do not
count.
"""

import unicodedata

import jiwer

from antiphon.bench.wer import WordErrors, word_errors
from antiphon.text.languages import base_language, is_spaced


def errors_in(language: str, reference: str, hypothesis: str) -> WordErrors:
    """Of one sentence; "words" are characters in zh, ja and th. Raises ``ValueError`` for a reference without any."""
    if base_language(language) == "en":
        return word_errors(reference, hypothesis)
    wanted, heard = units(language, reference), units(language, hypothesis)
    if not wanted:
        raise ValueError(f"no words in the reference {reference!r}")
    if not heard:
        return WordErrors(len(wanted), len(wanted))
    aligned = jiwer.process_words(" ".join(wanted), " ".join(heard))
    return WordErrors(aligned.substitutions + aligned.deletions + aligned.insertions, len(wanted))


def units(language: str, text: str) -> list[str]:
    """Words as they are compared, or characters. Marks on letters (accents, vowel signs) count as part of them."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in plain)
    return kept.split() if is_spaced(language) else [letter for letter in kept if letter != " "]
