"""The whole sentence's statistics, guessed before the generator has run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from train.kokoro.plans import Plan

Real = NDArray[np.float32]
Predict = Callable[[Plan], tuple[Real, Real]]


def oracle(plan: Plan) -> tuple[Real, Real]:
    """The truth, of the whole decode: what chunking alone costs."""
    return plan.mean, plan.deviation


@dataclass(frozen=True)
class PerVoice:
    """Means over other sentences of the same voice."""

    tables: dict[str, tuple[Real, Real]]

    @classmethod
    def fit(cls, plans: Iterable[Plan]) -> "PerVoice":
        kept: dict[str, list[tuple[Real, Real]]] = {}
        for plan in plans:
            kept.setdefault(plan.voice, []).append((plan.mean, plan.deviation))
        return cls(
            {
                voice: (
                    np.mean([m for m, _ in rows], axis=0),
                    np.exp(np.mean([np.log(d) for _, d in rows], axis=0)),
                )
                for voice, rows in kept.items()
            }
        )

    def __call__(self, plan: Plan) -> tuple[Real, Real]:
        return self.tables[plan.voice]


def pooled(plan: Plan, harmonic: bool = True) -> Real:
    """What the low-rate side says of the sentence: mean and log deviation over time of its 512 channels, F0, voicing,
    energy."""
    low = plan.low[0]
    f0 = plan.f0[0]
    voiced = f0 > 10
    pitch = np.log(f0[voiced]) if voiced.any() else np.array([5.0])
    energy = plan.energy[0]
    source = plan.source[0]
    few = [pitch.mean(), pitch.std(), voiced.mean(), energy.mean(), energy.std()]
    return np.concatenate(
        [low.mean(axis=1), np.log(low.std(axis=1) + 1e-3), few, source.mean(axis=1), np.log(source.std(axis=1) + 1e-3)]
    ).astype(np.float32)


@dataclass(frozen=True)
class Ridge:
    """Linear in the pooled features (and the style, where ``styled``), with the voice's own means where they are known
    (``centres``)."""

    offset: Real
    spread: Real
    weights: Real
    base: Real
    styled: bool
    centres: dict[str, tuple[Real, Real]] | None

    @classmethod
    def fit(cls, plans: Iterable[Plan], penalty: float = 30.0, styled: bool = True, centred: bool = False) -> "Ridge":
        plans = list(plans)
        inputs = np.stack([_inputs(p, styled) for p in plans])
        targets = np.stack([np.concatenate([p.mean, np.log(p.deviation)]) for p in plans])
        centres = None
        if centred:
            centres = {}
            for voice in {p.voice for p in plans}:
                rows = [i for i, p in enumerate(plans) if p.voice == voice]
                centres[voice] = (inputs[rows].mean(axis=0), targets[rows].mean(axis=0))
                inputs[rows] -= centres[voice][0]
                targets[rows] -= centres[voice][1]
        offset, base = inputs.mean(axis=0), targets.mean(axis=0)
        spread = inputs.std(axis=0) + 1e-3
        x = (inputs - offset) / spread
        gram = x @ x.T + penalty * x.shape[1] / 100 * np.eye(len(x), dtype=np.float32)
        weights = x.T @ np.linalg.solve(gram, targets - base)
        return cls(offset, spread, weights.astype(np.float32), base, styled, centres)

    def __call__(self, plan: Plan) -> tuple[Real, Real]:
        inputs = _inputs(plan, self.styled)
        add: Real | float = 0.0
        if self.centres is not None:
            centre, add = self.centres[plan.voice]
            inputs = inputs - centre
        out = ((inputs - self.offset) / self.spread) @ self.weights + self.base + add
        half = len(out) // 2
        return np.asarray(out[:half], np.float32), np.exp(out[half:]).astype(np.float32)



def _inputs(plan: Plan, styled: bool) -> Real:
    features = pooled(plan)
    return np.concatenate([features, plan.style[0, :128]]) if styled else features
