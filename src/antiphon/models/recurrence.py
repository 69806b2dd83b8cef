"""Gated linear recurrences (RG-LRU: De et al. 2024, "Griffin", section 2.4) in numpy, for small networks that judge.

``train/voice/blocks.py`` trains the same blocks, and has the equations.
"""

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float32]
Weights = dict[str, Real]

TAPS = 4


def norm(x: Real, weight: Real) -> Real:
    """RMS normalisation of [steps, width]."""
    return np.asarray(x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 1e-6) * weight, np.float32)


def sigmoid(x: Real) -> Real:
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(-x, 80.0))), np.float32)


def stack(w: Weights, x: Real, name: str = "stack.blocks.") -> Real:
    """All blocks whose weights begin with ``name``, from an empty state: [steps, width] -> the same."""
    for number in range(sum(key.startswith(name) and key.endswith(".taps") for key in w)):
        x = _block(w, x, f"{name}{number}.")
    return x


def _block(w: Weights, x: Real, name: str) -> Real:
    """All steps as matrices, the recurrence in a loop."""
    width = x.shape[1]
    entered = norm(x, w[name + "norm.weight"]) @ w[name + "enter.weight"].T + w[name + "enter.bias"]
    u, g = entered[:, :width], entered[:, width:]
    line = np.concatenate((np.zeros((TAPS - 1, width), np.float32), u))
    u = u * w[name + "taps"][TAPS - 1]
    for k in range(TAPS - 1):
        u = u + line[k : k + len(x)] * w[name + "taps"][k]
    gates = sigmoid(u @ w[name + "gates.weight"].T + w[name + "gates.bias"])
    a = np.exp(gates[:, :width] * (-8.0 * np.logaddexp(0.0, w[name + "decay"])))
    h = np.sqrt(1.0 - a * a + 1e-6) * gates[:, width:] * u
    for t in range(1, len(h)):
        h[t] += a[t] * h[t - 1]
    x = x + (h * g * sigmoid(g)) @ w[name + "leave.weight"].T
    inner = norm(x, w[name + "norm_inner.weight"]) @ w[name + "widen.weight"].T + w[name + "widen.bias"]
    p, q = np.split(inner, 2, axis=1)
    return np.asarray(x + (p * sigmoid(p) * q) @ w[name + "narrow.weight"].T, np.float32)
