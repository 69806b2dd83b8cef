"""Trains the acoustic model: ``python -m train.voice.train_acoustic --data build/voice/data``.

Resumable (``last.pt``), by wall-clock time (``--minutes``, counted over all runs) or by ``--iterations``; the
learning rate follows a cosine over that budget. The weights to use are the running averages, ``last.pt["ema"]``.
``curve.json`` keeps the losses.
"""

import argparse
import json
import math
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from train.voice.batches import Row, batch_of, batches
from train.voice.data import Corpus
from train.voice.model import Acoustic, AcousticConfig, losses

VALIDATION = 60
"""Every 60th utterance is held back."""


def has_fast_bf16() -> bool:
    """Whether this machine multiplies bfloat16 faster than float32."""
    if torch.cuda.is_available():
        return True
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8").split("flags", 1)[1].split("\n", 1)[0].split()
    except (OSError, IndexError):
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


class Average:
    """Exponential moving average of a module's floats; slower as the training goes on, at most ``decay``."""

    def __init__(self, module: torch.nn.Module, decay: float = 0.999) -> None:
        self.decay, self.seen = decay, 0
        self._live = [p for p in module.state_dict().values() if p.is_floating_point()]
        self._names = [n for n, p in module.state_dict().items() if p.is_floating_point()]
        self._slow = [p.detach().clone() for p in self._live]

    def update(self) -> None:
        self.seen += 1
        torch._foreach_lerp_(self._slow, self._live, 1 - min(self.decay, (1 + self.seen) / (10 + self.seen)))

    def state_dict(self) -> dict[str, torch.Tensor]:
        return dict(zip(self._names, self._slow, strict=True))

    def load_state_dict(self, state: dict[str, torch.Tensor], seen: int) -> None:
        self.seen = seen
        for name, slow in zip(self._names, self._slow, strict=True):
            slow.copy_(state[name])


def save(path: Path, state: dict[str, Any]) -> None:
    """Whole or not at all."""
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def rate(progress: float, iteration: int, peak: float, warm: int) -> float:
    """Learning rate: linear over ``warm`` iterations, then a cosine to 2 % of the peak."""
    shape = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
    return peak * shape * min(1.0, (iteration + 1) / warm)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("build/voice/data"))
    parser.add_argument("--out", type=Path, default=Path("build/voice/acoustic"))
    parser.add_argument("--minutes", type=float, default=35.0)
    parser.add_argument("--iterations", type=int, default=0, help="instead of --minutes")
    parser.add_argument("--frames", type=int, default=1024, help="per batch")
    parser.add_argument("--peak", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report", type=int, default=50)
    options = parser.parse_args()
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    bf16 = has_fast_bf16()
    options.out.mkdir(parents=True, exist_ok=True)

    corpus = Corpus(options.data, wav=False)
    while not corpus.refresh():
        time.sleep(5)
    model = Acoustic(AcousticConfig()).to(device)
    average = Average(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.peak, betas=(0.9, 0.98), weight_decay=0.02)
    iteration, spent, frames_seen, curve = 0, 0.0, 0, []
    last = options.out / "last.pt"
    if last.exists():
        state = torch.load(last, map_location=device)
        model.load_state_dict(state["model"])
        average.load_state_dict(state["ema"], state["iteration"])
        optimizer.load_state_dict(state["optimizer"])
        iteration, spent, frames_seen = state["iteration"], state["spent"], state["frames_seen"]
        curve = json.loads((options.out / "curve.json").read_text("utf-8"))
    rng = np.random.default_rng((options.seed, iteration))

    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    started, saved = time.monotonic() - spent, spent
    sums: dict[str, float] = {}

    def checkpoint() -> None:
        save(
            last,
            {
                "config": model.config.to_json(),
                "model": model.state_dict(),
                "ema": average.state_dict(),
                "optimizer": optimizer.state_dict(),
                "iteration": iteration,
                "spent": time.monotonic() - started,
                "frames_seen": frames_seen,
                "seed": options.seed,
            },
        )
        (options.out / "curve.json").write_text(json.dumps(curve, indent=0), "utf-8")

    done = False
    while not done:
        corpus.refresh()
        training = [u for i, u in enumerate(corpus.utterances) if i % VALIDATION]
        for batch in batches(training, rng, options.frames):
            spent = time.monotonic() - started
            progress = iteration / options.iterations if options.iterations else spent / 60 / options.minutes
            if progress >= 1 or stop:
                done = True
                break
            for group in optimizer.param_groups:
                group["lr"] = rate(progress, iteration, options.peak, 100)
            model.train()
            batch = batch.to(device)
            with torch.autocast(device, torch.bfloat16, enabled=bf16):
                outputs, log_durations = model(batch)
            parts = losses(outputs, log_durations, batch)
            optimizer.zero_grad()
            parts["total"].backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            average.update()
            iteration += 1
            frames_seen += int(batch.mask.sum())
            for name, value in parts.items():
                sums[name] = sums.get(name, 0.0) + value.item()
            if iteration % options.report == 0:
                entry: dict[str, Any] = {"iteration": iteration, "minutes": round(spent / 60, 2)}
                entry |= {"frames": frames_seen, "hours_of_data": round(corpus.seconds / 3600, 2)}
                entry |= {"train": {name: round(value / options.report, 4) for name, value in sums.items()}}
                if iteration % (10 * options.report) == 0:
                    entry["validation"] = validate(model, average, corpus, device)
                curve.append(entry)
                sums = {}
                print(json.dumps(entry), flush=True)
            if spent - saved > 120:
                saved = spent
                checkpoint()
    checkpoint()
    print(json.dumps({"done": iteration, "validation": validate(model, average, corpus, device)}), flush=True)


def validate(model: Acoustic, average: Average, corpus: Corpus, device: str) -> dict[str, float]:
    """Losses of the averaged weights on utterances held back (about the first 60 of them), as they are asked for."""
    twin = Acoustic(model.config).to(device).eval()
    twin.load_state_dict(average.state_dict(), strict=True)
    rng = np.random.default_rng(0)
    sums: dict[str, float] = {}
    weight = 0.0
    for utterance in corpus.utterances[::VALIDATION][:60]:
        batch = batch_of([Row([utterance], rng)]).to(device)
        with torch.no_grad():
            parts = losses(*twin(batch), batch)
        weight += utterance.frames
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + value.item() * utterance.frames
    return {name: round(value / weight, 4) for name, value in sums.items()}


if __name__ == "__main__":
    main()
