"""Trains the vocoder: ``python -m train.voice.train_vocoder --data build/voice/data --out build/voice/vocoder``.

First by multi-resolution spectra and by how far harmonics stand above the noise; in the last part (``--adversarial``, a
share of the time) also against three small discriminators of spectrograms. Resumable and timed like ``train_acoustic``.
Half of the rows have noise on their spectra, as those of the acoustic model will not be exact.
"""

import argparse
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from train.voice.batches import ln_f0
from train.voice.data import Utterance, load_shard, shard_paths, utterances
from train.voice.distances import RESOLUTIONS, Discriminator, Harmonics, Spectra, challenge, judged
from train.voice.train_acoustic import Average, has_fast_bf16, rate, save
from train.voice.vocoder import HOP, LAG, N_FFT, Filter, VocoderNet, features_of, sources

VALIDATION = 60
WARM = 3
"""Frames at the start of a segment that are not compared: the tails of those before are missing."""


class Speech:
    """The first shards of a folder that may still be growing, with their samples."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most, self._read = folder, most, 0
        self.utterances: list[Utterance] = []

    def refresh(self) -> bool:
        """Read what came since the last call; whether there is anything at all."""
        paths = shard_paths(self._folder)[: self._most]
        for path in paths[self._read :]:
            self.utterances.extend(utterances(load_shard(path)))
        self._read = max(self._read, len(paths))
        return bool(self.utterances)


class Segments:
    """Random segments ``[rows, frames]`` of the corpus; long utterances are drawn more often, by their frames."""

    def __init__(self, speech: list[Utterance], frames: int, rng: np.random.Generator) -> None:
        self._long = [u for u in speech if u.frames >= frames + 2]
        shares = np.array([u.frames - frames for u in self._long], np.float64)
        self._shares = shares / shares.sum()
        self._frames, self._rng = frames, rng

    def draw(self, rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Spectra [rows, frames, 80], ln F0 [rows, frames + 2] from the frame before the first to the one after the
        last, voicing [rows, frames] of the next frames, samples [rows, frames * 300] that lag by 150."""
        mel, pitch, voiced, wav = [], [], [], []
        for index in self._rng.choice(len(self._long), rows, p=self._shares):
            u, count = self._long[index], self._frames
            start = int(self._rng.integers(1, u.frames - count))
            mel.append(u.mel[start : start + count].astype(np.float32))
            pitch.append(ln_f0(u.f0)[start - 1 : start + count + 1])
            voiced.append((u.f0[start + 1 : start + count + 1] > 0).astype(np.float32))
            wav.append(u.wav[start * HOP - LAG : (start + count) * HOP - LAG].astype(np.float32) / 32768)
        return tuple(torch.from_numpy(np.stack(part)) for part in (mel, pitch, voiced, wav))  # type: ignore[return-value]


def render(net: nn.Module, shape: Filter, mel: Tensor, pitch: Tensor, voiced: Tensor) -> Tensor:
    """Sound of segments as :meth:`Segments.draw` gives them: [rows, frames * 300]."""
    rows, frames = mel.shape[:2]
    features = features_of(mel, pitch[:, 2:], voiced)
    cepstra = net(features, torch.zeros(rows, net.stack.state_size, device=mel.device))[0].float()
    noise = torch.randn(rows, (frames + 1) * HOP, device=mel.device)
    source = sources(torch.exp(pitch), torch.rand(rows, device=mel.device), noise)
    return shape(source, cepstra)[:, : frames * HOP]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("build/voice/data"))
    parser.add_argument("--out", type=Path, default=Path("build/voice/vocoder"))
    parser.add_argument("--minutes", type=float, default=25.0)
    parser.add_argument("--iterations", type=int, default=0, help="instead of --minutes")
    parser.add_argument("--adversarial", type=float, default=0.3, help="share of the time, at the end")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--frames", type=int, default=64)
    parser.add_argument("--shards", type=int, default=12, help="as many are read at most")
    parser.add_argument("--peak", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report", type=int, default=25)
    options = parser.parse_args()
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options.out.mkdir(parents=True, exist_ok=True)

    corpus = Speech(options.data, options.shards)
    while not corpus.refresh():
        time.sleep(5)
    net, shape, spectra = VocoderNet().to(device), Filter().to(device), Spectra().to(device)
    harmonics = Harmonics().to(device)
    critics = nn.ModuleList(Discriminator(size) for size in RESOLUTIONS[1:]).to(device)
    average = Average(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=options.peak, betas=(0.9, 0.98), weight_decay=0.01)
    critical = torch.optim.AdamW(critics.parameters(), lr=8e-4, betas=(0.8, 0.99))
    iteration, spent, fight, curve = 0, 0.0, 0, []
    last = options.out / "last.pt"
    if last.exists():
        state = torch.load(last, map_location=device)
        net.load_state_dict(state["model"])
        average.load_state_dict(state["ema"], state["iteration"])
        optimizer.load_state_dict(state["optimizer"])
        critics.load_state_dict(state["critics"])
        critical.load_state_dict(state["critical"])
        iteration, spent, fight = state["iteration"], state["spent"], state["fight"]
        curve = json.loads((options.out / "curve.json").read_text("utf-8"))
    rng = np.random.default_rng((options.seed, iteration))
    torch.manual_seed(options.seed + iteration)

    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    started, saved = time.monotonic() - spent, spent
    sums: dict[str, float] = {}

    def checkpoint() -> None:
        state = {"model": net.state_dict(), "ema": average.state_dict(), "optimizer": optimizer.state_dict()}
        state |= {"critics": critics.state_dict(), "critical": critical.state_dict(), "iteration": iteration}
        save(last, state | {"spent": time.monotonic() - started, "fight": fight, "seed": options.seed})
        (options.out / "curve.json").write_text(json.dumps(curve, indent=0), "utf-8")

    plain, segments = 1 - options.adversarial, None
    while not stop:
        spent = time.monotonic() - started
        progress = iteration / options.iterations if options.iterations else spent / 60 / options.minutes
        if progress >= 1:
            break
        fighting = progress >= plain
        if fighting:
            learning = rate((progress - plain) / max(options.adversarial, 1e-9), fight, 5e-4, 60)
        else:
            learning = rate(0.9 * progress / plain, iteration, options.peak, 100)
        for group in optimizer.param_groups:
            group["lr"] = learning
        if iteration % 500 == 0 or segments is None:
            corpus.refresh()
            segments = Segments([u for i, u in enumerate(corpus.utterances) if i % VALIDATION], options.frames, rng)
        mel, pitch, voiced, wav = (part.to(device) for part in segments.draw(options.rows))
        noisy = (torch.arange(options.rows, device=device) % 2)[:, None, None]
        mel = mel + noisy * 0.12 * torch.randn_like(mel)
        with torch.autocast(device, torch.bfloat16, enabled=has_fast_bf16() and device == "cuda"):
            made = render(net, shape, mel, pitch, voiced)
        made, wav = made[:, WARM * HOP :].float(), wav[:, WARM * HOP :]
        distance = spectra(made, wav)
        f0 = torch.exp(pitch[:, WARM + 2 : WARM + 2 + options.frames - 2 * WARM])
        parts = {"spectra": distance, "harmonics": harmonics(made, wav, f0)}
        loss = distance + parts["harmonics"]
        if fighting:
            fight += 1
            loss = 3 * loss
            caught = challenge(critics, spectra, made.detach(), wav)
            critical.zero_grad()
            caught.backward()
            critical.step()
            fooled, alike = judged(critics, spectra, made, wav)
            loss = loss + 0.3 * fooled + 0.125 * alike
            parts |= {"fooled": fooled, "alike": alike, "caught": caught}
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        average.update()
        iteration += 1
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if iteration % options.report == 0:
            entry: dict[str, Any] = {"iteration": iteration, "minutes": round(spent / 60, 2)}
            entry |= {"train": {name: round(value / options.report, 4) for name, value in sums.items()}}
            if iteration % (10 * options.report) == 0:
                entry["validation"] = validate(average, corpus, spectra, shape, device)
            curve.append(entry)
            sums = {}
            print(json.dumps(entry), flush=True)
        if spent - saved > 120:
            saved = spent
            checkpoint()
    checkpoint()
    print(json.dumps({"done": iteration, "validation": validate(average, corpus, spectra, shape, device)}), flush=True)


def validate(average: Average, corpus: Speech, spectra: Spectra, shape: Filter, device: str) -> float:
    """Distance over segments of utterances held back, by the averaged weights."""
    twin = VocoderNet().to(device)
    twin.load_state_dict(average.state_dict())
    segments = Segments(corpus.utterances[::VALIDATION], 192, np.random.default_rng(0))
    mel, pitch, voiced, wav = (part.to(device) for part in segments.draw(24))
    with torch.no_grad():
        made = render(twin, shape, mel, pitch, voiced)
        return round(float(spectra(made[:, WARM * HOP :], wav[:, WARM * HOP :])), 4)


assert N_FFT - HOP <= WARM * HOP
if __name__ == "__main__":
    main()
