"""IPA to eSpeak NG's own phoneme names, for each of its languages.

The library takes phonemes only by its own names, which differ between languages, and tells IPA only in what it says. So
each name of a language's phoneme table is spoken once, a vowel in a stressed syllable, a consonant in front of a vowel:
what it sounds as alone is often another thing. The IPA that comes back is its meaning.
Source of the table's format: espeak-ng 1.52, ``synthdata.c`` (phontab), ``phoneme.h``.
"""

import struct
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.models.espeak_library import EspeakLibrary
from antiphon.text.phonemes import STRESSES, check_ipa

_TABLE_HEADER = 36
_PHONEME = struct.Struct("<4sIHBBBBBB")
_VOWEL, _FIRST_SOUND, _LAST_SOUND = 2, 2, 8

_NEAR = {
    "ɹ": "rɾʁɻ", "r": "ɾʁɹʀ", "ʁ": "ʀrɾɹ", "ʀ": "ʁrɾɹ", "ɾ": "rɹd", "ɻ": "ɹr", "ɽ": "ɾr", "g": "ɡ", "ɡ": "g",
    "θ": "sft", "ð": "dzv", "ŋ": "nɲ", "ɲ": "nɳŋ", "ɳ": "n", "ɴ": "ŋn", "ɱ": "m", "ʒ": "ʑʐzʃ", "ʃ": "ʂɕs", "ɕ": "ʃʂs",
    "ʑ": "ʒʐz", "ʂ": "ʃɕs", "ʐ": "ʒʑz", "x": "χhk", "χ": "xhk", "ç": "ɕʃxh", "h": "xɦχ", "ħ": "hχx", "ɦ": "hx",
    "ʕ": "ʔ", "v": "ʋβwb", "w": "ʋvu", "ʋ": "vw", "β": "vb", "ɸ": "fp", "ɥ": "jy", "ʎ": "lj", "ɫ": "l", "ɬ": "l",
    "ɭ": "l", "l": "ɫɭʎ", "ʈ": "t", "ɖ": "d", "c": "k", "ɟ": "dɡ", "q": "k", "ɣ": "ɡxg", "ʝ": "j", "ʔ": "t", "ʍ": "w",
    "ɰ": "ɣw", "ɪ": "ie", "i": "ɪ", "ʊ": "uo", "u": "ʊɯ", "ə": "ɐɛaʌ", "ʌ": "ɐaɑə", "ɐ": "aʌə", "æ": "ɛa", "ɑ": "aɒɐ",
    "a": "ɑæɐ", "ɒ": "ɔɑo", "ɔ": "oɒ", "o": "ɔ", "ɛ": "eæ", "e": "ɛ", "ɜ": "œəɛ", "y": "ʏiu", "ʏ": "yɪiu", "ø": "œəe",
    "œ": "øəɛ", "ɨ": "ɪiəᵻ", "ʉ": "uʊyɯ", "ɯ": "uɨʊ", "ɤ": "oʌə", "ɘ": "əe", "ɵ": "øəo", "ᵻ": "ɪə", "ᵊ": "ə",
    "ɚ": "ə", "ɝ": "ɜə",
}  # fmt: skip
"""What may stand for a sound that a language has not, the nearest first."""
_COMPOUND = {
    "ʧ": "tʃ", "ʤ": "dʒ", "ʦ": "ts", "ʣ": "dz", "ʨ": "tɕ", "ʥ": "dʑ",
    "A": "eɪ", "I": "aɪ", "W": "aʊ", "Y": "ɔɪ", "O": "oʊ", "Q": "əʊ", "T": "ɾ", "ɚ": "əɹ", "ɝ": "ɜɹ",
}  # fmt: skip
_LONGEST = 4
_NASAL = "\u0303"


@dataclass(frozen=True, slots=True)
class _Table:
    """IPA -> name, and which of the names are vowels."""

    names: dict[str, str]
    vowels: frozenset[str]


class Mnemonics:
    """Thread-safe; a language is learnt when it is first asked for (about 0.1 s)."""

    def __init__(self, library: EspeakLibrary) -> None:
        self._library = library
        self._lock = Lock()
        self._tables: dict[str, _Table] = {}

    def of(self, ipa: str, language: str) -> str:
        """The library's names for one word: ``of("ˈhaloː", "de") == "h'alo:"``.

        Raises ``InvalidInput`` for what is no IPA, and for a sound that the language has nothing like.
        """
        check_ipa(ipa)
        table = self._table(language)
        said, stress, at = "", "", 0
        plain = _plain(ipa)
        while at < len(plain):
            if plain[at] in STRESSES:
                stress, at = "," if plain[at] == "ˌ" else "'", at + 1
                continue
            name, length = self._sound(plain, at, table, ipa)
            if name in table.vowels and stress:
                name, stress = stress + name, ""
            said += name
            at += length
        return said

    def _sound(self, plain: str, at: int, table: _Table, ipa: str) -> tuple[str, int]:
        for length in range(min(_LONGEST, len(plain) - at), 0, -1):
            if (name := table.names.get(plain[at : at + length])) is not None:
                return name, length
        symbol = plain[at]
        if symbol in ":ː":
            return "", 1
        if (length := 2 if plain[at + 1 : at + 2] == "ː" else 1) == 1 and (long := table.names.get(symbol + "ː")):
            return long, 1
        for near in (symbol, *_NEAR.get(symbol, "")):
            for spelled in (near + "ː", near) if length == 2 else (near, near + "ː"):
                if (name := table.names.get(spelled)) is not None:
                    return name, length
        raise InvalidInput(f"phonemes {ipa[:60]!r}: this language has no sound like {symbol!r}", "transcript")

    def _table(self, language: str) -> _Table:
        voice = self._library.voice(language)
        if voice is None:
            raise InvalidInput(f"eSpeak NG has no language {language[:40]!r}", "language")
        with self._lock:
            table = self._tables.get(voice.identifier)
            if table is None:
                names = _names(self._library.data, voice.identifier, voice.tags)
                probes = [f"t'{name}t" if vowel else f"{name}'a" for name, vowel in names]
                heard = self._library.sounds(language, probes)
                table = self._tables[voice.identifier] = _table(names, heard)
            return table


def _table(names: list[tuple[str, bool]], heard: list[list[str]]) -> _Table:
    known: dict[str, str] = {}
    vowels: set[str] = set()
    for (name, vowel), sounds in zip(names, heard, strict=True):
        own = sounds[1:-1] if vowel else sounds[:-1]
        ipa = "".join(c for c in own[0] if c not in STRESSES) if len(own) == 1 else ""
        # Variants have the same IPA as the plain phoneme; the shortest name is the plain one.
        if ipa and "ʰ" not in ipa and (ipa not in known or len(name) < len(known[ipa])):
            known[ipa] = name
            if vowel:
                vowels.add(name)
    for ipa, name in list(known.items()):
        known.setdefault(_bare(ipa), name)  # "ä" and "ɯᵝ" are meant where people write "a" and "ɯ"
    return _Table(known, frozenset(vowels))


def _bare(ipa: str) -> str:
    kept = (c for c in unicodedata.normalize("NFD", ipa) if c == _NASAL or not unicodedata.combining(c))
    return "".join(kept).replace("ᵝ", "")


def _plain(ipa: str) -> str:
    """Without separators and ties; nasal vowels keep their tilde, other marks on letters go."""
    out = ""
    for symbol in unicodedata.normalize("NFD", ipa.replace("'", "ˈ").replace("’", "ˈ")):
        if symbol == _NASAL or not unicodedata.combining(symbol):
            out += "" if symbol in "|.‿-^ ˑʼ‖" else _COMPOUND.get(symbol, symbol)
    return out.replace(":", "ː").replace("c\u0327", "ç")


def _names(data: Path, identifier: str, tags: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Phonemes of a voice's table and of those that it builds on: name, and whether it is a vowel."""
    content = (data / "phontab").read_bytes()
    tables: list[tuple[str, int, list[tuple[str, int, int]]]] = []
    at = 4
    for _ in range(content[0]):
        count, parent = content[at], content[at + 1]
        title = content[at + 4 : at + _TABLE_HEADER].split(b"\0")[0].decode()
        at += _TABLE_HEADER
        entries = []
        for _ in range(count):
            name, _, _, code, kind, *_ = _PHONEME.unpack_from(content, at)
            entries.append((name.rstrip(b"\0").decode("latin-1"), code, kind))
            at += _PHONEME.size
        tables.append((title, parent, entries))
    by_title = {title: index for index, (title, _, _) in enumerate(tables)}
    wanted = [_named_table(data / "lang" / identifier), *tags, *(tag.split("-")[0] for tag in tags)]
    index = next((by_title[name] for name in wanted if name in by_title), None)
    if index is None:
        raise ModelUnavailable(f"eSpeak NG's data have no phonemes for {identifier}")
    chain: list[int] = []
    while index is not None:
        chain.insert(0, index)
        index = tables[index][1] - 1 if tables[index][1] else None
    codes: dict[int, tuple[str, int]] = {}
    for one in chain:
        codes.update({code: (name, kind) for name, code, kind in tables[one][2]})
    return [(name, kind == _VOWEL) for name, kind in codes.values() if name and _FIRST_SOUND <= kind <= _LAST_SOUND]


def _named_table(voice: Path) -> str:
    lines = voice.read_text("utf-8", "replace").splitlines() if voice.is_file() else []
    return next((line.split()[1] for line in lines if line.startswith("phonemes ") and len(line.split()) > 1), "")
