"""Words as pieces: whole words where they are frequent, else the longest known beginnings and continuations."""

from collections import Counter
from collections.abc import Iterable

MARKS = ("<start>", ",", ".")
"""Tokens of their own: the start, a mark inside a sentence, a sentence's end."""
LETTERS = "abcdefghijklmnopqrstuvwxyz0'.:"
MORE = "+"
"""What a piece that continues a word begins with."""


def choose(sayings: Iterable[Iterable[str]], size: int) -> list[str]:
    """The ``size`` pieces: marks, letters, an eighth of beginnings, an eighth of continuations, else whole words."""
    words = Counter(word for words in sayings for word in words)
    found = [*MARKS, *LETTERS, *(MORE + letter for letter in LETTERS)]
    each = size // 8
    common = [word for word, _ in words.most_common(size - len(found) - 2 * each)]
    found += [word for word in common if len(word) > 1]
    whole = set(found)
    starts: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for word, count in words.items():
        if word not in whole:
            for length in range(2, min(len(word), 7)):
                starts[word[:length]] += count * length
                ends[MORE + word[-length:]] += count * length
    for parts, most in ((starts, each), (ends, size)):
        for piece, _ in parts.most_common():
            if most <= 0 or len(found) == size:
                break
            if piece not in whole:
                found.append(piece)
                whole.add(piece)
                most -= 1
    return found
