"""IPA, as people write it, to hibari's alphabet (the conventions of misaki: one letter for a diphthong)."""

import json
import re
import unicodedata
from importlib.resources import files

from antiphon.core.errors import ModelUnavailable

_PAIRS = {
    "aɪ": "I",
    "aʊ": "W",
    "eɪ": "A",
    "oʊ": "O",
    "əʊ": "O",
    "ɔɪ": "Y",
    "tʃ": "ʧ",
    "dʒ": "ʤ",
    "ɜɹ": "ɜɹ",
    "iː": "i",
    "uː": "u",
    "ɑː": "ɑ",
    "ɔː": "ɔ",
    "ɜː": "ɜɹ",
}

_SINGLES = {
    "e": "ɛ",
    "o": "O",
    "a": "ɑ",
    "g": "ɡ",
    "r": "ɹ",
    "ɝ": "ɜɹ",
    "ɚ": "əɹ",
    "ɾ": "T",
    "ʔ": "t",
    "ɫ": "l",
    "ɬ": "l",
    "ʎ": "j",
    "ɲ": "nj",
    "ʀ": "ɹ",
    "ʁ": "ɹ",
    "ɻ": "ɹ",
    "ɽ": "ɹ",
    "x": "k",
    "χ": "k",
    "ç": "ʃ",
    "ɕ": "ʃ",
    "ʂ": "ʃ",
    "ʑ": "ʒ",
    "ʐ": "ʒ",
    "c": "k",
    "q": "k",
    "ɟ": "ʤ",
    "ɣ": "ɡ",
    "β": "v",
    "ʋ": "v",
    "ɸ": "f",
    "ħ": "h",
    "ɦ": "h",
    "ʍ": "w",
    "y": "u",
    "ʏ": "ʊ",
    "ø": "ɜ",
    "œ": "ɜ",
    "ɒ": "ɑ",
    "ɐ": "ɐ",
    "ɨ": "ɪ",
    "ʉ": "u",
    "ɯ": "u",
    "ɤ": "ʌ",
    "ɘ": "ə",
    "ɵ": "O",
    "ɞ": "ɜ",
    "ɶ": "æ",
    "ʈ": "t",
    "ɖ": "d",
    "ɳ": "n",
    "ɴ": "ŋ",
    "ɭ": "l",
    "ɱ": "m",
    "'": "ˈ",
    "ʼ": "",
    "ː": "",
    ":": "",
}

_PLAIN = frozenset("AIOQTWYbdfhijklmnpstuvwzæɑɐəɛɜɡɪŋɔɹʃʊʌʒʤʧðθᵊᵻˈˌ ,.;:!?")
_TOKEN = re.compile("|".join(map(re.escape, sorted(_PAIRS, key=len, reverse=True))) + "|.", re.DOTALL)
_VOWEL = frozenset("AIOQWYiuæɑɐəɛɜɪɔʊʌᵊᵻ")


def vocabulary() -> dict[str, int]:
    """hibari's symbols and the numbers that its graph knows them by. Raises ``ModelUnavailable``."""
    try:
        ids: dict[str, int] = json.loads((files("hibari") / "assets" / "vocab.json").read_text("utf-8"))
    except (OSError, ModuleNotFoundError) as error:
        raise ModelUnavailable(f"the package hibari-tts is incomplete: {error}") from error
    return ids


def from_ipa(phonemes: str) -> str:
    """Phonemes as in ``k|ɑ|ɹ`` or ``/kˈɑɹ/`` in hibari's alphabet; what has no like there is left out.

    Symbols that are hibari's own already (``A I W Y O``) stay. A stress mark moves to just before the vowel, where
    the model learnt it.
    """
    # Ties and combining marks carry no sound of their own; composed letters (ç) must not be taken apart.
    plain = "".join(c for c in unicodedata.normalize("NFC", phonemes) if not unicodedata.combining(c))
    plain = plain.strip().strip("/[]").replace("|", "").replace("͡", "")
    out = ""
    for token in _TOKEN.findall(plain):
        symbol = _PAIRS.get(token) or _SINGLES.get(token, token)
        out += "".join(c for c in symbol if c in _PLAIN)
    return _stress_on_vowels(out)


def _stress_on_vowels(symbols: str) -> str:
    out, waiting = "", ""
    for symbol in symbols:
        if symbol in "ˈˌ":
            waiting = symbol
        elif symbol in _VOWEL:
            out += waiting + symbol
            waiting = ""
        else:
            out += symbol
    return out
