"""The utterance model: could these words be all that somebody wanted to say? A small state-space language model.

It reads a speaker's words, as a recogniser wrote them down, and gives the odds that a sentence ends after the last: two
gated linear recurrences over pieces of words, 1.6 million parameters, English. ``train/turn/words`` makes the weights.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.models.packaged import ASSETS, read_weights
from antiphon.models.recurrence import norm, stack
from antiphon.models.utterance_pieces import Pieces

PACKAGED = ASSETS / "utterance" / "utterance.npz"
SHA256 = "5a9ddcf4dd5b56f918e43e179a5d51fd49af902545843b173afcd7c18f58a3f1"
MOST_TOKENS = 96
"""What counts: the last sentences of a turn."""
_SURE = 8.0  # log odds
_COMMA = 1.0
"""Log odds: speakers pause at commas more often than elsewhere, so a pause there says less of an end."""


class UtteranceModel:
    """The weights, nothing else: thread-safe, one core, one to three milliseconds a text."""

    def __init__(self, pieces: str, weights: Mapping[str, NDArray[np.generic]]) -> None:
        """``pieces``: the vocabulary, one a line; ``weights`` by name, as ``train/turn/words/run.py`` writes them."""
        self._pieces = Pieces(pieces.split("\n"))
        self._weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    @classmethod
    def load(cls, path: Path | None = None) -> "UtteranceModel":
        """The packaged weights, or those of ``path``. Raises ``ModelUnavailable`` if they are missing or damaged."""
        weights = read_weights(PACKAGED, SHA256) if path is None else read_weights(path)
        return cls(str(weights.pop("pieces")), weights)

    def log_odds(self, text: str) -> float:
        """Log odds, within 8, that a sentence ends where a speaker pauses after ``text``, whatever marks close it; 0
        without words."""
        tokens = self._pieces.text(text)
        return self._read(tokens[:1] + tokens[1:][-MOST_TOKENS:]) if len(tokens) > 1 else 0.0

    def _read(self, tokens: list[int]) -> float:
        w = self._weights
        x = stack(w, w["embed.weight"][tokens] * np.float32(8.0))[-1:]
        none, soft, end, done = (norm(x, w["norm.weight"]) @ w["mark.weight"].T + w["mark.bias"])[0]
        return float(np.clip(np.logaddexp(end, done) - np.logaddexp(none, soft + _COMMA), -_SURE, _SURE))
