"""Kokoro's styles: a voice is a table of style vectors, one for each length of text; voices can be mixed.

A file ``NAME.bin`` holds float32 ``[510, 1, 256]``; the row is chosen by the number of tokens.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.models.kokoro_graph import MAX_TOKENS, STYLE_DIM

MAX_PARTS = 8
"""Voices in one blend."""

_PART = re.compile(r"\s*([a-z]{2}_[a-z]+)\s*(?::\s*([0-9]*\.?[0-9]+)\s*|\(([0-9]*\.?[0-9]+)\)\s*)?")

Style = NDArray[np.float32]
"""``[510, 1, 256]``"""


@dataclass(frozen=True, slots=True)
class Blend:
    """Voices with their weights, which are positive and add up to 1; the heaviest comes first."""

    parts: tuple[tuple[str, float], ...]

    @property
    def name(self) -> str:
        if len(self.parts) == 1:
            return self.parts[0][0]
        return "+".join(f"{voice}:{weight:.4g}" for voice, weight in self.parts)


def looks_like_blend(name: str) -> bool:
    """Whether ``name`` can only be meant as a blend (``af_heart:0.7+am_adam:0.3``)."""
    return "+" in name or re.match(r"[a-z]{2}_[a-z]+[:(]", name) is not None


def read_blend(text: str, known: Mapping[str, object]) -> Blend:
    """``af_heart:0.7+am_adam:0.3``, or ``af_heart(0.7)+am_adam(0.3)``; no weight is 1.

    Weights are shares of their sum; a voice that is named twice counts twice. Raises ``InvalidInput`` that says what is
    wrong.
    """
    weights: dict[str, float] = {}
    pieces = text.split("+")
    if len(pieces) > MAX_PARTS:
        raise InvalidInput(f"voice: a blend has at most {MAX_PARTS} voices, this one has {len(pieces)}", "voice")
    for piece in pieces:
        match = _PART.fullmatch(piece)
        if match is None:
            about = f"voice: {piece.strip()[:40]!r} is no part of a blend; write af_heart:0.7+am_adam:0.3"
            raise InvalidInput(about, "voice")
        voice, weight = match.group(1), float(match.group(2) or match.group(3) or 1.0)
        if voice not in known:
            raise InvalidInput(f"voice: the blend names {voice!r}, which Kokoro does not have", "voice")
        weights[voice] = weights.get(voice, 0.0) + weight
    total = sum(weights.values())
    if not 0 < total < float("inf"):
        raise InvalidInput(f"voice: the weights of the blend {text[:80]!r} add up to {total:g}", "voice")
    parts = [(voice, weight / total) for voice, weight in weights.items() if weight > 0]
    return Blend(tuple(sorted(parts, key=lambda part: -part[1])))


class Styles:
    """Style tables by voice, read when they are first asked for (half a megabyte each). Thread-safe."""

    def __init__(self, file: Callable[[str], Path]) -> None:
        """``file``: the verified file of a voice; raises ``ModelUnavailable``."""
        self._file = file
        self._tables: dict[str, Style] = {}
        self._lock = Lock()

    def row(self, blend: Blend, tokens: int) -> NDArray[np.float32]:
        """Style ``[1, 256]`` for a line of so many tokens. Raises ``ModelUnavailable``."""
        at = min(max(tokens, 0), MAX_TOKENS - 1)
        row = np.zeros((1, STYLE_DIM), np.float32)
        for voice, weight in blend.parts:
            row += np.float32(weight) * self._table(voice)[at]
        return row

    def _table(self, voice: str) -> Style:
        with self._lock:
            table = self._tables.get(voice)
        if table is None:
            path = self._file(voice)
            try:
                table = np.fromfile(path, np.float32).reshape(MAX_TOKENS, 1, STYLE_DIM)
            except (OSError, ValueError) as error:
                raise ModelUnavailable(f"the voice file {path} cannot be read: {error}") from error
            with self._lock:
                self._tables[voice] = table
        return table
