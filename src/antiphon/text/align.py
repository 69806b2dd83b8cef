"""Which words of the spoken text each word of the written text became: "$29.50" -> "29 dollars and 50 cents"."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from antiphon.text.languages import UNSPACED, is_spaced

_COMBINING = r"[\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe0f]*"
_WIDE_TOKEN = re.compile(rf"[A-Za-z0-9À-ɏ]+(?:[.,'’-][A-Za-z0-9À-ɏ]+)*|\S{_COMBINING}")
_LONGEST_MATCH = 4_000


@dataclass(frozen=True, slots=True)
class WordSpan:
    """A written word, and the spoken words ``[start, end)`` that it became. Neighbours may share spoken words."""

    word: str
    start: int
    end: int


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
    """Divide spoken words among written ones by how long each takes to say; every one gets at least a share of one."""
    weights = [_letters(word) for word in written]
    total, count = sum(weights), end - start
    spans: list[tuple[int, int]] = []
    passed = 0.0
    edge = start
    for i, weight in enumerate(weights):
        passed += weight
        left = len(weights) - i - 1
        target = start + round(passed / total * count)
        stop = min(max(target, edge + 1), max(edge + 1, end - left))
        stop = end if left == 0 else min(stop, end)
        begin = min(edge, end - 1)
        spans.append((begin, max(stop, begin + 1)))
        edge = stop
    return spans


def _letters(word: str) -> float:
    """About how many letters a written word takes to say: digits and symbols have long names."""
    return sum(3.5 if c.isdigit() else 1.0 if c.isalpha() else 2.0 if c in "$€£%@&+=/" else 0.3 for c in word) or 0.3


def _bare(word: str) -> str:
    bare = re.sub(r"\W+", "", word).lower()
    return bare or word
