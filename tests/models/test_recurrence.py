"""Gated linear recurrences in numpy against their equations, written out step by step."""

import numpy as np

from antiphon.models import recurrence
from antiphon.models.recurrence import TAPS, Real, Weights

WIDTH, INNER, STEPS = 6, 10, 23


def made(blocks: int) -> Weights:
    rng = np.random.default_rng(3)
    shapes = {
        "norm.weight": (WIDTH,), "enter.weight": (2 * WIDTH, WIDTH), "enter.bias": (2 * WIDTH,),
        "taps": (TAPS, WIDTH), "gates.weight": (2 * WIDTH, WIDTH), "gates.bias": (2 * WIDTH,), "decay": (WIDTH,),
        "leave.weight": (WIDTH, WIDTH), "norm_inner.weight": (WIDTH,), "widen.weight": (2 * INNER, WIDTH),
        "widen.bias": (2 * INNER,), "narrow.weight": (WIDTH, INNER),
    }  # fmt: skip
    return {
        f"stack.blocks.{block}.{name}": rng.normal(0, 0.5, shape).astype(np.float32)
        for block in range(blocks)
        for name, shape in shapes.items()
    }


def stepwise(w: Weights, x: Real, name: str) -> Real:
    """One block as its equations say, a step at a time, with the state that a stream would keep."""
    past = [np.zeros(WIDTH)] * (TAPS - 1)
    h = np.zeros(WIDTH)
    out = []
    for row in np.asarray(x, np.float64):
        rms = row / np.sqrt((row**2).mean() + 1e-6) * w[name + "norm.weight"]
        entered = w[name + "enter.weight"] @ rms + w[name + "enter.bias"]
        line = [*past, entered[:WIDTH]]
        past = line[1:]
        u = sum(one * tap for one, tap in zip(line, w[name + "taps"], strict=True))
        gates = 1 / (1 + np.exp(-(w[name + "gates.weight"] @ u + w[name + "gates.bias"])))
        a = np.exp(-8 * gates[:WIDTH] * np.log1p(np.exp(w[name + "decay"])))
        h = a * h + np.sqrt(1 - a**2 + 1e-6) * gates[WIDTH:] * u
        g = entered[WIDTH:]
        y = row + w[name + "leave.weight"] @ (h * g / (1 + np.exp(-g)))
        rms = y / np.sqrt((y**2).mean() + 1e-6) * w[name + "norm_inner.weight"]
        inner = w[name + "widen.weight"] @ rms + w[name + "widen.bias"]
        p, q = inner[:INNER], inner[INNER:]
        out.append(y + w[name + "narrow.weight"] @ (p / (1 + np.exp(-p)) * q))
    return np.asarray(out, np.float32)


def test_all_steps_at_once_are_the_equations_step_by_step() -> None:
    weights = made(2)
    x = np.random.default_rng(4).normal(size=(STEPS, WIDTH)).astype(np.float32)
    wanted = stepwise(weights, stepwise(weights, x, "stack.blocks.0."), "stack.blocks.1.")
    np.testing.assert_allclose(recurrence.stack(weights, x), wanted, rtol=1e-4, atol=1e-4)


def test_what_comes_later_changes_nothing_before() -> None:
    weights = made(1)
    x = np.random.default_rng(5).normal(size=(STEPS, WIDTH)).astype(np.float32)
    np.testing.assert_allclose(recurrence.stack(weights, x[:9]), recurrence.stack(weights, x)[:9], rtol=1e-5, atol=1e-6)
