"""What a teacher said about texts, in files: ``teacher.py`` writes them, ``taught.py`` reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from train.turn.words.corpus import Said

_NOTHING = "_"


@dataclass(frozen=True)
class Judged:
    """``shown``: the mark shown after each word, or nothing; ``odds`` [words, 2]: natural logarithms of the odds
    of a closing mark or the end, and of a comma, semicolon, colon or dash, after the word."""

    said: Said
    shown: tuple[str, ...]
    odds: NDArray[np.float16]


def write(file: Path, some: Sequence[Judged]) -> None:
    """Whole or not at all."""
    part = file.with_suffix(".part.npz")
    np.savez_compressed(
        part,
        words=np.array("\n".join(" ".join(one.said.words) for one in some)),
        shown=np.array("\n".join("".join(mark or _NOTHING for mark in one.shown) for one in some)),
        marks=np.array([mark for one in some for mark in one.said.marks], np.int8),
        closed=np.array([one.said.closed for one in some]),
        odds=np.concatenate([one.odds for one in some]).astype(np.float16),
    )
    part.rename(file)


def judged(folder: Path) -> Iterator[Judged]:
    """All that was written to ``folder``, in the order of the files' names."""
    for file in sorted(folder.glob("[0-9]*[0-9].npz")):
        with np.load(file) as held:
            words, shown = str(held["words"]).split("\n"), str(held["shown"]).split("\n")
            marks, closed, odds = held["marks"].tolist(), held["closed"].tolist(), held["odds"]
        start = 0
        for line, signs, last in zip(words, shown, closed, strict=True):
            of = tuple(line.split(" "))
            stop = start + len(of)
            said = Said(of, tuple(marks[start:stop]), last)
            yield Judged(said, tuple(sign.replace(_NOTHING, "") for sign in signs), odds[start:stop])
            start = stop
