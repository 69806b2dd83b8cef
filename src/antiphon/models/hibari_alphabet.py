"""IPA, as people write it, to hibari's alphabet (the conventions of misaki: one letter for a diphthong)."""

import json
import re
import unicodedata
from importlib.resources import files

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.text.phonemes import CONSONANTS, VOWELS

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
    "ɢ": "ɡ",
    "ʙ": "b",
    "ⱱ": "v",
    "ʝ": "j",
    "ɮ": "l",
    "ɰ": "w",
    "ʟ": "l",
    "ɥ": "j",
    "ʜ": "h",
    "ɺ": "l",
    "ɧ": "ʃ",
    "ɓ": "b",
    "ɗ": "d",
    "ʄ": "ʤ",
    "ɠ": "ɡ",
    "ʛ": "ɡ",
    "ʣ": "dz",
    "ʦ": "ts",
    "ʨ": "ʧ",
    "ʥ": "ʤ",
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

_IPA = {
    "A": "eɪ", "I": "aɪ", "O": "oʊ", "Q": "əʊ", "W": "aʊ", "Y": "ɔɪ", "T": "ɾ", "ʤ": "dʒ", "ʧ": "tʃ", "ʣ": "dz",
    "ʦ": "ts", "ʨ": "tɕ", "ʥ": "dʑ", "ᵊ": "ə", "ᵻ": "ɨ",
}  # fmt: skip

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
    """Phonemes as in ``k|ɑ|ɹ`` or ``/kˈɑɹ/`` in hibari's alphabet; marks that mean nothing there are left out.

    Symbols that are hibari's own already (``A I W Y O``) stay. A stress mark moves to just before the vowel, where
    the model learnt it. Raises ``InvalidInput`` for a sound that has no like there.
    """
    # Ties and combining marks carry no sound of their own; composed letters (ç) must not be taken apart.
    plain = "".join(c for c in unicodedata.normalize("NFC", phonemes) if not unicodedata.combining(c))
    plain = plain.strip().strip("/[]").replace("|", "").replace("͡", "")
    out = ""
    for token in _TOKEN.findall(plain):
        symbol = _PAIRS.get(token) or _SINGLES.get(token, token)
        said = "".join(c for c in symbol if c in _PLAIN)
        if not said and (token in VOWELS or token in CONSONANTS):
            raise InvalidInput(f"phonemes {phonemes[:60]!r}: this voice has no sound like {token!r}", "transcript")
        out += said
    return _stress_on_vowels(out)


def to_ipa(symbol: str) -> str:
    """One symbol of the alphabet (hibari's, Kokoro's) as others write it: ``to_ipa("I") == "aɪ"``."""
    return _IPA.get(symbol, symbol)


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
