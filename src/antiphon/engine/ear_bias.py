"""Keyterms: words that the speaker is likely to say lift the decoder's logits along their spellings, within bounds.

A shallow bias: at each step the tokens that would go on with a keyterm get a bonus. It grows along the term, so that a
term once begun on good evidence is finished, and it goes only to tokens that the model itself thinks nearly possible,
so that a keyterm is never heard where nothing like it was said.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

BEGIN_BONUS = 2.5
GO_ON_BONUS = 4.5
REACH = 9.0
"""A token further below the best one than this gets no bonus."""


@dataclass(slots=True)
class _Node:
    children: dict[int, "_Node"] = field(default_factory=dict)


class KeytermBias:
    """A :data:`~antiphon.models.moonshine.Bias` for one set of keyterms. Immutable once made; thread-safe."""

    def __init__(self, keyterms: Iterable[str], tokenize: Callable[[str], Sequence[int]]) -> None:
        self._root = _Node()
        self._longest = 0
        for term in keyterms:
            for spelling in {term, term.capitalize(), term.title()} if term.islower() else {term}:
                self._add(tuple(tokenize(spelling)))

    def _add(self, tokens: tuple[int, ...]) -> None:
        node = self._root
        for token in tokens:
            node = node.children.setdefault(token, _Node())
        self._longest = max(self._longest, len(tokens))

    def __call__(self, tokens: Sequence[int], logits: NDArray[np.float32]) -> NDArray[np.float32]:
        bonuses = {token: BEGIN_BONUS for token in self._root.children}
        for length in range(1, min(self._longest, len(tokens) + 1)):
            node = self._find(tokens[len(tokens) - length :])
            if node is not None:
                bonuses.update(dict.fromkeys(node.children, GO_ON_BONUS))
        if not bonuses:
            return logits
        least = logits.max() - REACH
        lifted = logits.copy()
        for token, bonus in bonuses.items():
            if logits[token] >= least:
                lifted[token] += bonus
        return lifted

    def _find(self, tokens: Sequence[int]) -> _Node | None:
        node: _Node | None = self._root
        for token in tokens:
            node = node.children.get(token) if node is not None else None
        return node
