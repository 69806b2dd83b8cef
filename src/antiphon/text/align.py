"""Which words of the spoken text each word of the written text became: "$29.50" -> "29 dollars and 50 cents"."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from antiphon.text.languages import UNSPACED, is_spaced
from antiphon.text.spelling import DIGITS, SYMBOLS

_COMBINING = r"[\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe0f]*"
_WIDE_TOKEN = re.compile(rf"[A-Za-z0-9À-ɏ]+(?:[.,'’-][A-Za-z0-9À-ɏ]+)*|\S{_COMBINING}")
_PART = re.compile(r"[^\W\d_]+|\d+|\S")
_LONGEST_MATCH = 4_000


@dataclass(frozen=True, slots=True)
class WordSpan:
    """A written word, and the spoken words ``[start, end)`` that it became. Neighbours may share spoken words."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of letters or digits, or a symbol, of the written word ``owner``."""

    name: str
    owner: int
    letters: float


def split_words(text: str, language: str = "en") -> list[str]:
    """Words as clients count them: white-space tokens; in zh, ja and th characters, punctuation with the one before.

    In a spaced language a run of Han or kana is split the same way.
    """
    words: list[str] = []
    wide_language = not is_spaced(language)
    for token in text.split():
        if not wide_language and not UNSPACED.search(token):
            words.append(token)
            continue
        fresh = True
        for part in _WIDE_TOKEN.findall(token):
            if any(c.isalnum() for c in part) or fresh:
                words.append(part)
            else:
                words[-1] += part
            fresh = False
    return words


def align(original: str, spoken: str, language: str = "en") -> list[WordSpan]:
    """One span for every written word, in order; starts and ends never go back.

    Spans are empty only if nothing is spoken.
    """
    written, said = split_words(original, language), split_words(spoken, language)
    if not said:
        return [WordSpan(word, 0, 0) for word in written]
    spans: list[tuple[int, int]] = []
    for w_start, w_end, s_start, s_end in _blocks([_bare(w) for w in written], [_bare(w) for w in said]):
        if w_start == w_end:
            # Spoken words that answer to nothing written belong to the word before them.
            if spans:
                spans[-1] = (spans[-1][0], s_end)
            continue
        if s_start == s_end:
            at = min(max(s_start - 1, 0), len(said) - 1)
            spans += [(at, at + 1)] * (w_end - w_start)
            continue
        spans += _share(written[w_start:w_end], said, s_start, s_end)
    if spans:
        spans[0] = (0, max(1, spans[0][1]))
        spans[-1] = (spans[-1][0], len(said))
    return [WordSpan(word, start, end) for word, (start, end) in zip(written, spans, strict=True)]


def word_places(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Characters ``[start, end)`` of each word of ``text``, words as :func:`split_words` counts them."""
    places, at = list[tuple[int, int]](), 0
    for word in split_words(text, language):
        start = text.index(word, at)
        at = start + len(word)
        places.append((start, at))
    return places


def spoken_places(text: str, spoken: str, language: str = "en") -> list[tuple[str, int, int]]:
    """Words of ``spoken`` with the characters of ``text`` that each stands for."""
    said = split_words(spoken, language)
    places = [(len(text), 0)] * len(said)
    for span, (start, end) in zip(align(text, spoken, language), word_places(text, language), strict=True):
        for index in range(span.start, span.end):
            places[index] = (min(places[index][0], start), max(places[index][1], end))
    return [(word, *place) for word, place in zip(said, places, strict=True)]


def _blocks(written: list[str], said: list[str]) -> list[tuple[int, int, int, int]]:
    """Stretches that correspond, in order, covering both lists: equal words one by one, the rest between them."""
    if len(written) * len(said) > _LONGEST_MATCH * _LONGEST_MATCH:
        return [(0, len(written), 0, len(said))]
    blocks: list[tuple[int, int, int, int]] = []
    for tag, w_start, w_end, s_start, s_end in SequenceMatcher(None, written, said, autojunk=False).get_opcodes():
        if tag == "equal":
            blocks += [(w_start + i, w_start + i + 1, s_start + i, s_start + i + 1) for i in range(w_end - w_start)]
        else:
            blocks.append((w_start, w_end, s_start, s_end))
    return blocks


def _share(written: list[str], said: list[str], start: int, end: int) -> list[tuple[int, int]]:
    """Divide spoken words among written ones: by the parts that they have in common, else by length.

    Every written word gets at least a share of one.
    """
    runs = [(i, run) for i, word in enumerate(written) for run in _PART.findall(word)]
    parts = [_Part(_canonical(run), i, _letters(run)) for i, run in runs]
    names = [_canonical(word) for word in said[start:end]]
    owners: list[int] = []
    matcher = SequenceMatcher(None, [part.name for part in parts], names, autojunk=False)
    for tag, p_start, p_end, n_start, n_end in matcher.get_opcodes():
        if tag == "equal":
            owners += [part.owner for part in parts[p_start:p_end]]
        elif n_start < n_end:
            owners += _owners(parts, p_start, p_end, n_end - n_start)
    spans: list[tuple[int, int]] = []
    edge = start
    for i in range(len(written)):
        count = owners.count(i)
        begin = min(edge, end - 1) if count else min(max(edge - 1, start), end - 1)
        edge += count
        spans.append((begin, max(edge, begin + 1)))
    return spans


def _owners(parts: list[_Part], begin: int, end: int, count: int) -> list[int]:
    """Which written word each of ``count`` spoken words belongs to, given the unmatched parts between two matches."""
    shares: dict[int, float] = {}
    for part in parts[begin:end]:
        if part.letters >= 1:
            shares[part.owner] = shares.get(part.owner, 0.0) + part.letters
    if not shares:
        near = parts[begin - 1] if begin else parts[min(end, len(parts) - 1)]
        return [near.owner] * count
    total, passed = sum(shares.values()), 0.0
    owners: list[int] = []
    for owner, share in shares.items():
        passed += share
        owners += [owner] * (round(passed / total * count) - len(owners))
    return owners


def _letters(word: str) -> float:
    """About how many letters a written word takes to say: digits and symbols have long names."""
    return sum(3.5 if c.isdigit() else 1.0 if c.isalpha() else 2.0 if c in "$€£%@&+=/" else 0.3 for c in word) or 0.3


def _canonical(word: str) -> str:
    """The form under which a part of a written word and a spoken word are the same: "@" and "at", "5" and "five"."""
    if not any(c.isalnum() for c in word):
        return SYMBOLS.get(word, word)
    bare = _bare(word)
    return str(DIGITS.index(bare)) if bare in DIGITS else "dot" if bare == "point" else bare


def _bare(word: str) -> str:
    bare = re.sub(r"\W+", "", word).lower()
    return bare or word
