"""What a teacher said about texts, in files: ``teacher.py`` writes them, ``taught.py`` reads them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.models.utterance_pieces import END as STOP
from antiphon.models.utterance_pieces import SHORT, START, Pieces, normalised
from antiphon.models.utterance_pieces import SOFT as COMMA
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


@dataclass(frozen=True, slots=True)
class Row:
    """``tokens`` [steps] and, after each, the teacher's probabilities of an end and of a comma (NaN inside words)."""

    tokens: NDArray[np.int16]
    targets: NDArray[np.float16]
    closed: bool


def row_of(one: Judged, known: Pieces) -> Row:
    tokens = [START]
    targets = [(math.nan, math.nan)]
    p = 1 / (1 + np.exp(-one.odds.astype(np.float32)))
    p /= np.maximum(1.0, p.sum(-1, keepdims=True))
    p[[word.lower() in SHORT for word in one.said.words]] = 0.0  # "Mr" is written with a full stop that ends nothing
    for word, sign, target in zip(one.said.words, one.shown, p, strict=True):
        parts = known.word(normalised(word))
        if not parts:
            continue
        tokens += parts
        targets += [(math.nan, math.nan)] * (len(parts) - 1) + [tuple(target)]
        if sign:
            tokens.append(STOP if sign == "." else COMMA)
            targets.append((math.nan, math.nan))
    return Row(np.array(tokens, np.int16), np.array(targets, np.float16), one.said.closed)
