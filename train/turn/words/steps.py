"""What both trainings of the utterance model share: rows of about one length, and one step of the optimiser."""

import math
import random
from collections.abc import Sequence

import torch
from torch import Tensor

from train.turn.words.model import Utterance

KEPT = 0.998
"""Of the running average, at each step."""


def groups(lengths: Sequence[float], most: float, rng: random.Random) -> list[list[int]]:
    """Numbers of rows that are about as long as each other, up to ``most`` tokens together, in any order."""
    found: list[list[int]] = [[]]
    for at in sorted(range(len(lengths)), key=lambda at: lengths[at] + 8 * rng.random()):
        if found[-1] and (len(found[-1]) + 1) * (lengths[at] + 8) > most:
            found.append([])
        found[-1].append(at)
    rng.shuffle(found)
    return found


class Steps:
    """AdamW, its rate warmed up and then along a cosine to a fiftieth; ``average`` is that of the weights so far."""

    def __init__(self, model: Utterance, rate: float, warm: int) -> None:
        self._model, self._rate, self._warm = model, rate, warm
        self._optimiser = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.02)
        self._average = torch.optim.swa_utils.AveragedModel(
            model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(KEPT)
        )
        self.count = 0

    @property
    def average(self) -> Utterance:
        return self._average.module

    def step(self, loss: Tensor, done: float) -> None:
        """``done``: the share of the whole schedule that has passed."""
        cosine = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate * min(1.0, self.count / self._warm) * cosine
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimiser.step()
        self._average.update_parameters(self._model)
        self.count += 1
