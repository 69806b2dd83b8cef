"""Trains both models to make sound together: ``python -m train.voice.train_together`` (after the other two, or
``--from-weights FOLDER``: an exported voice; ``--after FOLDER`` goes on from a finished run as a new one).

Trained apart, the vocoder knows spectra as they are, but is given spectra as they are predicted: smoother. Here it
reads what the acoustic model says, and what the sound lacks is felt by both; the acoustic model keeps its own losses,
so that words stay words. F0 is the teacher's (sound of another melody cannot be compared), durations too. In the last
part (``--adversarial``) the critics of ``distances.py`` join, one of them at a time. Resumable and timed like the
others; the averages are in ``acoustic.pt`` and ``vocoder.pt``, for ``export.py``.
"""

import argparse
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from train.voice.batches import Row, batch_of, packs
from train.voice.data import Corpus
from train.voice.distances import RESOLUTIONS, Discriminator, Harmonics, Spectra, challenge, judged
from train.voice.model import LN_F0_MEAN, LN_F0_SCALE, MELS, Acoustic, AcousticConfig, Batch, losses
from train.voice.train_acoustic import VALIDATION, Average, rate, save
from train.voice.train_vocoder import WARM
from train.voice.vocoder import HOP, LAG, Filter, VocoderNet, sources
from train.voice.weights import load_exported

ACOUSTIC, SPECTRA, HARMONICS, FOOLED, ALIKE = 3.0, 1.5, 1.5, 0.6, 0.25
"""What the losses count."""
ALONE = 60
"""Iterations in which the critics learn before they are listened to."""
LENGTH = 0.3
"""Of a row's error in length: medians of durations, which the L1 loss finds, are too short in sum."""


class Together(nn.Module):
    """Symbols to sound, by true durations and F0."""

    def __init__(self, acoustic: Acoustic, net: VocoderNet, still: bool = False) -> None:
        """``still``: the acoustic model stays as it is."""
        super().__init__()
        self.acoustic, self.net, self.shape, self.still = acoustic, net, Filter(), still

    def forward(self, batch: Batch, heard: Tensor, parts: list[tuple[int, int]], frames: int) -> tuple[Any, ...]:
        """``heard`` [rows, frames] as in ``Row``; ``parts``: (row, first frame, at least 2) of what is to be heard.
        Returns the acoustic model's outputs and sound [parts, frames * 300], 150 samples late."""
        with torch.set_grad_enabled(not self.still):
            outputs, log_durations = self.acoustic(batch)
        melody = ((heard - LN_F0_MEAN) / LN_F0_SCALE)[..., None]
        features = torch.cat((outputs[..., :MELS], melody, torch.sigmoid(outputs[..., MELS + 1 :])), -1)
        cepstra = self.net(features, self.net.stack.start(len(features)))[0]
        chosen = torch.stack([cepstra[row, at : at + frames] for row, at in parts])
        f0 = torch.exp(torch.stack([heard[row, at - 2 : at + frames] for row, at in parts]))
        count = len(parts)
        noise = torch.randn(count, (frames + 1) * HOP, device=f0.device)
        source = sources(f0, torch.rand(count, device=f0.device), noise)
        return outputs, log_durations, self.shape(source, chosen)[:, : frames * HOP]


def choose(rows: list[Row], count: int, frames: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Parts of ``frames`` frames, from long rows more often; none if all are too short."""
    room = np.array([max(0, row.frames - frames - 2) for row in rows], np.float64)
    if not room.any():
        return []
    drawn = rng.choice(len(rows), count, p=room / room.sum())
    return [(int(row), int(rng.integers(2, 2 + int(room[row])))) for row in drawn]


def targets(rows: list[Row], parts: list[tuple[int, int]], frames: int) -> Tensor:
    """The teacher's sound of the parts, 150 samples late: [parts, frames * 300]."""
    cut = (rows[row].wav[at * HOP - LAG : (at + frames) * HOP - LAG] for row, at in parts)
    return torch.from_numpy(np.stack([samples.astype(np.float32) / 32768 for samples in cut]))


def heard_of(rows: list[Row], frames: int) -> Tensor:
    """ln F0 of the next frames, padded to ``frames``."""
    out = np.full((len(rows), frames), LN_F0_MEAN, np.float32)
    for line, row in zip(out, rows, strict=True):
        line[: row.frames] = row.heard
    return torch.from_numpy(out)


def length_error(log_durations: Tensor, durations: Tensor) -> Tensor:
    """How wrong the lengths of rows are, relative to them."""
    known = durations > 0
    made = (torch.expm1(log_durations.float()).clamp(min=1.0) * known).sum(1)
    wanted = durations.sum(1).float()
    return ((made - wanted).abs() / wanted).mean()


def begin(options: argparse.Namespace) -> tuple[Acoustic, VocoderNet]:
    """The two models to go on with; the acoustic one without dropout, whose noise the vocoder would learn to undo."""
    if options.from_weights:
        acoustic, net = load_exported(options.from_weights, gain=False)
    else:
        both = options.acoustic, options.vocoder
        if options.after:
            both = options.after / "acoustic.pt", options.after / "vocoder.pt"
        one, other = (torch.load(path, map_location="cpu") for path in both)
        acoustic, net = Acoustic(AcousticConfig(**one["config"])), VocoderNet()
        acoustic.load_state_dict(one["ema"])
        net.load_state_dict(other["ema"])
    still = Acoustic(AcousticConfig(**acoustic.config.to_json() | {"dropout": 0.0}))
    still.load_state_dict(acoustic.state_dict())
    return still, net


def stream_of(corpus: Corpus, rng: np.random.Generator, frames: int) -> Iterator[list[Row]]:
    """Packs without end, of all data that is there by then."""
    while True:
        corpus.refresh()
        yield from packs([u for i, u in enumerate(corpus.utterances) if i % VALIDATION], rng, frames)


class Training:
    """One run: models, critics, optimisers, and where it is."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = Together(*begin(options), options.still).to(self.device)
        self.spectra = Spectra().to(self.device)
        self.harmonics = Harmonics().to(self.device)
        self.critics = nn.ModuleList(Discriminator(size) for size in RESOLUTIONS[1:]).to(self.device)
        self.average = Average(self.model, options.decay)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.peak, betas=(0.9, 0.98))
        self.critical = torch.optim.AdamW(self.critics.parameters(), lr=8e-4, betas=(0.8, 0.99))
        self.iteration, self.fight, self.spent, self.curve = 0, 0, 0.0, list[dict[str, Any]]()
        if (last := options.out / "last.pt").exists():
            state = self._load(last)
            self.iteration, self.spent = state["iteration"], state["spent"]
            self.curve = json.loads((options.out / "curve.json").read_text("utf-8"))
        elif options.after:
            self._load(options.after / "last.pt")
        self.rng = np.random.default_rng((options.seed, self.iteration))
        torch.manual_seed(options.seed + self.iteration)

    def _load(self, path: Path) -> dict[str, Any]:
        state: dict[str, Any] = torch.load(path, map_location=self.device)
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        self.average.load_state_dict(state["ema"], state["iteration"])
        self.fight = state["fight"]
        return state

    def _parts(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "critics": self.critics,
            "optimizer": self.optimizer,
            "critical": self.critical,
        }

    def save(self) -> None:
        out: Path = self.options.out
        ema = self.average.state_dict()
        state = {name: part.state_dict() for name, part in self._parts().items()}
        where = {"iteration": self.iteration, "fight": self.fight, "spent": self.spent}
        save(out / "last.pt", state | {"ema": ema} | where)
        for name, inner in (("acoustic", "acoustic."), ("vocoder", "net.")):
            part = {key.removeprefix(inner): value for key, value in ema.items() if key.startswith(inner)}
            config = {"config": self.model.acoustic.config.to_json()} if name == "acoustic" else {}
            save(out / f"{name}.pt", config | {"ema": part, "iteration": self.iteration})
        (out / "curve.json").write_text(json.dumps(self.curve, indent=0), "utf-8")

    def step(self, rows: list[Row], learning: float, fighting: bool) -> dict[str, float]:
        """One iteration, with critics if ``fighting``; the losses (none where the rows are too short)."""
        options = self.options
        for group in self.optimizer.param_groups:
            group["lr"] = learning
        batch = batch_of(rows).to(self.device)
        parts = choose(rows, options.parts, options.length, self.rng)
        if not parts:
            return {}
        heard, real = heard_of(rows, batch.mask.shape[1]), targets(rows, parts, options.length)
        outputs, log_durations, made = self.model(batch, heard.to(self.device), parts, options.length)
        made, real = made[:, WARM * HOP :], real.to(self.device)[:, WARM * HOP :]
        seen = losses(outputs, log_durations, batch)
        seen["length"] = length_error(log_durations, batch.durations)
        middles = slice(WARM, options.length - 3)  # one frame on: sound is late by a half, the window begins before it
        f0 = torch.stack([heard[row, at : at + options.length][middles] for row, at in parts]).to(self.device).exp()
        seen["spectra"], seen["harmonics"] = self.spectra(made, real), self.harmonics(made, real, f0)
        loss = ACOUSTIC * (seen["total"] + LENGTH * seen["length"]) + SPECTRA * seen["spectra"]
        loss = loss + HARMONICS * seen["harmonics"]
        if fighting:
            few = slice(0, options.judged)
            critic = self.critics[int(self.rng.integers(len(self.critics)))]
            seen["caught"] = challenge([critic], self.spectra, made[few].detach(), real[few])
            self.critical.zero_grad(set_to_none=True)  # Adam leaves the others alone
            seen["caught"].backward()  # type: ignore[no-untyped-call]
            self.critical.step()
            self.fight += 1
            if self.fight > ALONE:
                seen["fooled"], seen["alike"] = judged([critic], self.spectra, made[few], real[few])
                loss = loss + FOOLED * seen["fooled"] + ALIKE * seen["alike"]
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if not options.still:
            nn.utils.clip_grad_norm_(self.model.acoustic.parameters(), 1.0)
        nn.utils.clip_grad_norm_(self.model.net.parameters(), 1.0)
        self.optimizer.step()
        self.average.update()
        return {name: value.item() for name, value in seen.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("build/voice/data"))
    parser.add_argument("--acoustic", type=Path, default=Path("build/voice/acoustic/last.pt"))
    parser.add_argument("--vocoder", type=Path, default=Path("build/voice/vocoder/last.pt"))
    parser.add_argument("--from-weights", type=Path, help="instead of the two: an exported voice")
    parser.add_argument("--after", type=Path, help="begin with the models and critics of this finished run")
    parser.add_argument("--out", type=Path, default=Path("build/voice/together"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--iterations", type=int, default=0, help="instead of --minutes")
    parser.add_argument("--adversarial", type=float, default=0.6, help="share of the time, at the end")
    parser.add_argument("--still", action="store_true", help="only the vocoder learns: cheaper by half")
    parser.add_argument("--frames", type=int, default=640, help="per batch")
    parser.add_argument("--parts", type=int, default=6, help="heard of a batch")
    parser.add_argument("--length", type=int, default=64, help="frames of a part")
    parser.add_argument("--judged", type=int, default=4, help="parts that the critics hear")
    parser.add_argument("--peak", type=float, default=6e-4)
    parser.add_argument("--decay", type=float, default=0.998, help="of the running averages")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report", type=int, default=25)
    options = parser.parse_args()
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    options.out.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(options.data)
    while not corpus.refresh():
        time.sleep(5)
    training = Training(options)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    started, saved = time.monotonic() - training.spent, training.spent
    sums: dict[str, list[float]] = {}
    for rows in stream_of(corpus, training.rng, options.frames):
        spent = training.spent = time.monotonic() - started
        progress = training.iteration / options.iterations if options.iterations else spent / 60 / options.minutes
        if progress >= 1 or stop:
            break
        fighting = progress >= 1 - options.adversarial
        seen = training.step(rows, rate(progress, training.iteration, options.peak, 60), fighting)
        if not seen:
            continue
        training.iteration += 1
        for name, value in seen.items():
            sums.setdefault(name, []).append(value)
        if training.iteration % options.report == 0:
            entry: dict[str, Any] = {"iteration": training.iteration, "minutes": round(spent / 60, 2)}
            entry |= {"train": {name: round(float(np.mean(values)), 4) for name, values in sums.items()}}
            training.curve.append(entry)
            sums = {}
            print(json.dumps(entry), flush=True)
        if spent - saved > 120:
            saved = spent
            training.save()
    training.save()
    print(json.dumps({"done": training.iteration}), flush=True)


if __name__ == "__main__":
    main()
