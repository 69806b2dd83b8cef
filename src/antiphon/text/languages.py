"""The languages that the speech protocols name, and what the text room must know of each script.

Source of the list: Cartesia's TTS language enumeration. Region tags (``en-GB``) are accepted wherever a code is.
"""

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Language:
    """One language. ``spaced``: words are set apart by spaces (zh, ja and th are not)."""

    code: str
    name: str
    script: str
    spaced: bool = True
    ordinal_dot: bool = False
    """A number followed by a full stop is an ordinal ("am 3. Oktober"), not the end of a sentence."""


def _languages() -> dict[str, Language]:
    rows = """
    en English Latin; fr French Latin; de German Latin; es Spanish Latin; pt Portuguese Latin; zh Chinese Han;
    ja Japanese Kana; hi Hindi Devanagari; it Italian Latin; ko Korean Hangul; nl Dutch Latin; pl Polish Latin;
    ru Russian Cyrillic; sv Swedish Latin; tr Turkish Latin; tl Tagalog Latin; bg Bulgarian Cyrillic;
    ro Romanian Latin; ar Arabic Arabic; cs Czech Latin; el Greek Greek; fi Finnish Latin; hr Croatian Latin;
    ms Malay Latin; sk Slovak Latin; da Danish Latin; ta Tamil Tamil; uk Ukrainian Cyrillic; hu Hungarian Latin;
    no Norwegian Latin; vi Vietnamese Latin; bn Bengali Bengali; th Thai Thai; he Hebrew Hebrew; ka Georgian Georgian;
    id Indonesian Latin; te Telugu Telugu; gu Gujarati Gujarati; kn Kannada Kannada; ml Malayalam Malayalam;
    mr Marathi Devanagari; pa Punjabi Gurmukhi; or Odia Odia; ur Urdu Arabic
    """
    unspaced = {"zh", "ja", "th"}
    ordinal_dot = {"de", "cs", "sk", "pl", "hu", "fi", "da", "no", "hr", "tr"}
    table = {}
    for row in rows.split(";"):
        code, name, script = row.split()
        table[code] = Language(code, name, script, code not in unspaced, code in ordinal_dot)
    return table


LANGUAGES: dict[str, Language] = _languages()
"""By base code, in the order in which the protocol lists them."""

_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh", "yue": "zh"}
LONGEST_TAG = 35
"""Characters that every language tag fits in (RFC 5646, section 4.4.1)."""

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")

_UNSPACED_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]")
"""One character of a script that writes no spaces between words."""


@lru_cache(maxsize=512)
def base_language(tag: str) -> str:
    """Base code of a language tag, lower case: ``base_language("pt_BR") == "pt"``. Aliases are resolved."""
    base = re.split(r"[-_]", tag.strip(), maxsplit=1)[0].lower()
    return _ALIASES.get(base, base)


def is_language(tag: str) -> bool:
    """Whether ``tag`` is a well-formed tag of a language in the table."""
    return _TAG.fullmatch(tag.strip()) is not None and base_language(tag) in LANGUAGES


def is_spaced(tag: str) -> bool:
    """Whether words of this language are set apart by spaces; unknown languages are taken to be."""
    language = LANGUAGES.get(base_language(tag))
    return language is None or language.spaced


def has_ordinal_dot(tag: str) -> bool:
    """Whether "3." in front of a word reads "third" in this language."""
    language = LANGUAGES.get(base_language(tag))
    return language is not None and language.ordinal_dot
