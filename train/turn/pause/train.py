"""Train: iteration ``n`` uses a number of shards that only ``n`` decides, so that a run can be repeated. Needs PyTorch;
0.3 s of a core an iteration."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from train.turn.pause import targets
from train.turn.pause.model import SPEECH, TEACHER, TURN, PauseNet, export
from train.turn.pause.streams import KINDS, STEPS, Shard

ROWS, CROP = 24, 250
PEAK = 2e-3
EMA = 0.997
FIRST_SHARDS, ITERATIONS_A_SHARD = 4, 40
EVERY = 150


class Data:
    """The shards so far, in memory."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._shards: list[Shard] = []
        self._rows: list[tuple[int, int]] = []
        self._targets: list[tuple[targets.Rows, ...]] = []

    def have(self, count: int) -> None:
        """Read the first ``count`` shards."""
        count = min(count, self._most)
        if count <= len(self._shards):
            return
        while len(self._shards) < count:
            self._shards.append(_made(self._folder / f"{len(self._shards):03d}.npz"))
        weight = targets.balance(np.concatenate([shard.pauses for shard in self._shards]))
        edges = np.cumsum([len(shard.pauses) for shard in self._shards])[:-1]
        self._targets = [
            targets.steps(shard.pauses, own, len(shard.features))
            for shard, own in zip(self._shards, np.split(weight, edges), strict=True)
        ]
        self._rows = [(n, row) for n, shard in enumerate(self._shards) for row in range(len(shard.features))]

    def batch(self, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        """(features, speech, turn, its weight, teacher, its weight) of random stretches, spoiled a little more."""
        parts: list[list[Any]] = [[] for _ in range(6)]
        for pick in rng.integers(len(self._rows), size=ROWS):
            n, row = self._rows[pick]
            at = int(rng.integers(0, STEPS - CROP + 1))
            heard = self._shards[n].features[row, at : at + CROP].astype(np.float32)
            parts[0].append(spoiled(heard, rng))
            parts[1].append(self._shards[n].speech[row, at : at + CROP].astype(np.float32))
            for part, target in zip(parts[2:], self._targets[n], strict=True):
                part.append(target[row, at : at + CROP])
        return tuple(torch.from_numpy(np.stack(part)) for part in parts)


def _made(path: Path) -> Shard:
    if not path.exists():
        raise SystemExit(f"{path} is missing: make it by `python -m train.turn.pause.run --only streams ...`")
    return Shard.load(path)


def spoiled(heard: targets.Rows, rng: np.random.Generator) -> targets.Rows:
    """Level and tilt shifted, bands masked, for [steps, 224]."""
    mel = heard[:, :160].reshape(-1, 4, 40)
    mel = (
        mel
        + np.float32(rng.normal(0, 0.15))
        + np.linspace(-1, 1, 40, dtype=np.float32) * np.float32(rng.normal(0, 0.15))
    )
    for _ in range(int(rng.integers(0, 3))):
        first = int(rng.integers(0, 38))
        mel[:, :, first : first + int(rng.integers(1, 7))] = mel.mean()
    lags = heard[:, 160:]
    if rng.random() < 0.1:
        lags = np.zeros_like(lags)
    return np.concatenate((mel.reshape(len(heard), -1), lags), axis=1)


def held_figures(net: PauseNet, held: Shard) -> dict[str, float]:
    """On the pauses of held-out speakers: loss and AUC (weighted as in training), by kind and silence."""
    net.eval()
    with torch.no_grad():
        out = torch.cat(
            [net(torch.from_numpy(part.astype(np.float32))) for part in np.array_split(held.features, 20)]
        ).numpy()
    weight = targets.balance(held.pauses)
    sure = np.abs(held.pauses["complete"] - 0.5) > 0.2
    done = held.pauses["complete"] > 0.5
    figures = {}
    for silence_s in (0.12, 0.2, 0.3):
        odds = out[held.pauses["stream"].copy(), targets.step_at(held.pauses, silence_s), TURN]
        for number, kind in enumerate(KINDS):
            here = sure & (held.pauses["kind"] == number)
            if silence_s == 0.2 or kind == "libri":
                figures[f"{kind} {silence_s}"] = targets.auc(odds[here], done[here], weight[here])
        if silence_s == 0.2:
            label = held.pauses["complete"]
            loss = np.logaddexp(0, odds) - label * odds
            figures["loss"] = float(loss @ weight / weight.sum())
            real = held.pauses["kind"] < 2
            figures["loss real"] = float(loss[real] @ weight[real] / weight[real].sum())
            asked = np.isfinite(held.pauses["teacher"]) & sure & (held.pauses["kind"] == 0)
            figures["smart-turn libri"] = targets.auc(held.pauses["teacher"][asked], done[asked], weight[asked])
    return {name: round(value, 4) for name, value in figures.items()}


def train(folder: Path, out: Path, shards: int, iterations: int, seed: int, width: int = 96, blocks: int = 3) -> None:
    """Writes ``out`` (a running average, the best by the loss on held-out speakers); goes on where it was stopped."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net, average = PauseNet(width, blocks), PauseNet(width, blocks)
    average.load_state_dict(net.state_dict())
    optimiser = torch.optim.AdamW(net.parameters(), PEAK, betas=(0.9, 0.98), weight_decay=0.05)
    data, begun, best = Data(folder, shards), 0, float("inf")
    state = out.with_suffix(".state")
    if state.exists():
        held_state = torch.load(state)
        net.load_state_dict(held_state["net"])
        average.load_state_dict(held_state["average"])
        optimiser.load_state_dict(held_state["optimiser"])
        begun, best = held_state["begun"], held_state["best"]
    held = _made(folder / "held.npz")
    since_s, since, total = time.perf_counter(), begun, np.zeros(3)
    for n in range(begun, iterations):
        data.have(FIRST_SHARDS + n // ITERATIONS_A_SHARD)
        rng = np.random.default_rng((seed, n))
        torch.manual_seed(seed * 100_003 + n)
        share = n / iterations
        rate = PEAK * min(1.0, (n + 1) / 60) * (0.02 + 0.98 * (1 + np.cos(np.pi * share)) / 2)
        for group in optimiser.param_groups:
            group["lr"] = rate
        heard, speech, turn, counts, teacher, asked = data.batch(rng)
        net.train()
        result = net(heard)
        losses = (
            (F.binary_cross_entropy_with_logits(result[..., TURN], turn, reduction="none") * counts).sum()
            / counts.sum(),
            (F.binary_cross_entropy_with_logits(result[..., TEACHER], teacher, reduction="none") * asked).sum()
            / asked.sum().clamp(min=1),
            F.binary_cross_entropy_with_logits(result[..., SPEECH], speech),
        )
        optimiser.zero_grad()
        (losses[0] + 0.3 * losses[1] + 0.3 * losses[2]).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        keep = min(EMA, (n + 1) / (n + 20))
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), net.parameters(), strict=True):
                slow.lerp_(fast, 1 - keep)
        total += [float(loss.detach()) for loss in losses]
        if (n + 1) % EVERY == 0 or n + 1 == iterations:
            figures = held_figures(average, held)
            spent = (time.perf_counter() - since_s) / (n + 1 - since)
            print(n + 1, np.round(total / (n + 1 - since), 3), f"{spent:.2f} s", json.dumps(figures), flush=True)
            since_s, since, total = time.perf_counter(), n + 1, np.zeros(3)
            if figures["loss real"] < best:
                best = figures["loss real"]
                export(average, out)
            torch.save(
                {
                    "net": net.state_dict(), "average": average.state_dict(), "optimiser": optimiser.state_dict(),
                    "begun": n + 1, "best": best,
                },
                state,
            )  # fmt: skip
