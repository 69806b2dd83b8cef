"""The International Phonetic Alphabet as people write it, and what is none of it.

Source: the IPA chart, revised to 2020, with the ligatures and letters that speech software uses beside it (misaki's
``A I O Q W Y T`` for diphthongs and the flap, ``ᵊ`` and ``ᵻ``).
"""

import re
import unicodedata
from collections.abc import Iterable

from antiphon.core.errors import InvalidInput
from antiphon.text.unit import Ipa, Spoken

VOWELS = frozenset("iyɨʉɯuɪʏʊeøɘɵɤoəɛœɜɞʌɔæɐaɶɑɒɚɝᵊᵻ" + "AIOQWY")
CONSONANTS = frozenset(
    "pbtdʈɖcɟkɡgqɢʔmɱnɳɲŋɴʙrʀⱱɾɽɸβfvθðszʃʒʂʐçʝxɣχʁħʕhɦɬɮʋɹɻjɰlɭʎʟwʍɥʜʢʡɕʑɺɧɫʘǀǃǂǁɓɗʄɠʛʣʤʥʦʧʨT"
)
STRESSES = frozenset("ˈˌ'’")
_MARKS = frozenset("ːˑ:.‿͜͡ʰʷʲˠˤⁿˡʼ˞˥˦˧˨˩↗↘ꜛꜜ‖|-^ ")
"""Length, ties, secondary articulations, tones, separators."""

_WITH_A_SOUND = re.compile(
    "[{marks}]*[{sounds}][{sounds}{marks}]*".format(
        sounds=re.escape("".join(sorted(VOWELS | CONSONANTS))), marks=re.escape("".join(sorted(STRESSES | _MARKS)))
    )
)
"""What most phonemes are; the others are looked at one by one."""


def check_pieces(pieces: Iterable[Spoken]) -> None:
    """Raises ``InvalidInput`` for phonemes among them that are none."""
    for piece in pieces:
        if isinstance(piece, Ipa):
            check_ipa(piece.phonemes)


def check_ipa(phonemes: str) -> None:
    """Raises ``InvalidInput`` naming the first symbol that is not of the alphabet, and where there is no sound."""
    if _WITH_A_SOUND.fullmatch(phonemes):
        return
    plain = unicodedata.normalize("NFC", phonemes)
    sounds = 0
    for symbol in plain:
        if symbol in VOWELS or symbol in CONSONANTS:
            sounds += 1
        elif not (symbol in STRESSES or symbol in _MARKS or unicodedata.combining(symbol)):
            # Composed letters (ã) count as their base.
            base = unicodedata.normalize("NFD", symbol)[0]
            if base not in VOWELS and base not in CONSONANTS:
                raise InvalidInput(
                    f"phonemes {_shown(phonemes)}: {symbol!r} (U+{ord(symbol):04X}) is no symbol of the International "
                    "Phonetic Alphabet",
                    "transcript",
                )
            sounds += 1
    if not sounds:
        raise InvalidInput(f"phonemes {_shown(phonemes)}: there is no sound in them", "transcript")


def _shown(phonemes: str) -> str:
    return repr(phonemes if len(phonemes) <= 60 else phonemes[:57] + "...")
