"""Candidates against the whole decode.

``python -m train.kokoro.evaluate --set development --candidates oracle,naive,frozen`` decodes and appends one line of
figures per take to ``build/kokoro/SET.jsonl`` (a take that is there already is not made again); ``--table`` prints
means. Sounds are kept beside it, for ``judge.py``.
"""

import argparse
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.kokoro import graph
from train.kokoro.chunks import Cutting, Generator, decode
from train.kokoro.measure import FRAME_SAMPLES, distance
from train.kokoro.plans import KEEP, Kokoro, Plan, path, stored
from train.kokoro.predict import PerVoice, Predict, Ridge, oracle

Real = NDArray[np.float32]
SINES = graph.GEN + "m_source/l_sin_gen/Mul_6_output_0"
VOICED = graph.GEN + "m_source/l_sin_gen/Cast_output_0"
WINDOWS = Cutting(80, 176, 12, 0)
NOISE_VOICED, NOISE_UNVOICED = 0.003, 0.1 / 3


class Bench:
    """Everything that candidates share; made when it is first needed."""

    def __init__(self) -> None:
        self.kokoro = Kokoro()

    @cache  # noqa: B019
    def generator(self, integers: bool) -> Generator:
        return Generator(self.kokoro, integers)

    @cache  # noqa: B019
    def predictor(self, kind: str) -> Predict | None:
        match kind:
            case "naive":
                return None
            case "oracle":
                return oracle
            case "frozen":
                return PerVoice.fit(stored("calibration"))
            case "ridge":
                return Ridge.fit(stored("calibration"))
            case "centred":
                return Ridge.fit(stored("calibration"), styled=False, centred=True)
        raise ValueError(kind)

    @cache  # noqa: B019
    def _noisy(self) -> tuple[Any, Any]:
        sines = self.kokoro.part("sines", True, (graph.F0,), (SINES, VOICED))
        return sines, self.kokoro.part("noisy", True, (SINES,), (graph.SOURCE,))

    def with_noise(self, plan: Plan, seed: int) -> Real:
        first, second = self._noisy()
        sines, voiced = first.run(None, {graph.F0: plan.f0})
        noise = np.random.default_rng(seed).standard_normal(sines.shape, np.float32)
        sines = sines + noise * (voiced * NOISE_VOICED + (1 - voiced) * NOISE_UNVOICED)
        source = second.run(None, {SINES: sines})[0]
        feeds = {graph.LOW: plan.low, graph.SOURCE: source, "style": plan.style}
        return np.asarray(self.generator(False).own.run(None, feeds)[0].reshape(-1))

    def windows(self, plan: Plan, cutting: Cutting) -> Real:
        """The whole decoder run on windows of 1 to 2.2 s, each with statistics of its own: clause-wise streaming."""
        out = []
        for start, end in cutting.chunks(plan.frames):
            left, right = (max(0, start - cutting.halo) & ~1, min(plan.frames, end + cutting.halo))
            crop = (plan.asr[:, :, left // 2 : right // 2], plan.f0[:, left:right], plan.energy[:, left:right])
            low, source = self.kokoro.before(*(np.ascontiguousarray(x) for x in crop), plan.style)
            feeds = {graph.LOW: low, graph.SOURCE: source, "style": plan.style}
            audio = self.generator(False).own.run(None, feeds)[0].reshape(-1)
            out.append(audio[(start - left) * FRAME_SAMPLES : (end - left) * FRAME_SAMPLES])
        return np.concatenate(out)

    def make(self, candidate: str, plan: Plan) -> tuple[Real, Cutting | None]:
        """``candidate``: ``whole``, ``int8``, ``seed1``, ``windows``, or ``KIND[-int8][-first.size.halo.fade]``."""
        if candidate == "whole":
            return plan.audio, None
        if candidate.startswith("seed"):
            return self.with_noise(plan, int(candidate[4:])), None
        if candidate == "int8":
            feeds = {graph.LOW: plan.low, graph.SOURCE: plan.source, "style": plan.style}
            return self.generator(True).own.run(None, feeds)[0].reshape(-1), None
        if candidate == "windows":
            return self.windows(plan, WINDOWS), WINDOWS
        kind, *more = candidate.split("-")
        cutting = Cutting()
        for word in more:
            if "." in word:
                cutting = Cutting(*(int(number) for number in word.split(".")))
        return decode(self.generator("int8" in more), plan, cutting, self.predictor(kind)), cutting


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--set", default="development")
    asked.add_argument("--candidates", default="int8,oracle,naive,windows,frozen,ridge,centred")
    asked.add_argument("--against", default="whole")
    asked.add_argument("--most", type=int, default=10_000, help="so many takes at most")
    asked.add_argument("--table", action="store_true")
    args = asked.parse_args()
    results = KEEP / f"{args.set}.jsonl"
    if args.table:
        print(table(results))
        return
    done = set()
    if results.exists():
        done = {(r["take"], r["candidate"], r["against"]) for r in map(json.loads, results.read_text().splitlines())}
    bench = Bench()
    for plan in stored(args.set):
        take = path(args.set, plan.text, plan.voice).stem
        todo = [c for c in args.candidates.split(",") if (take, c, args.against) not in done]
        if not todo:
            continue
        if args.most == 0:
            break
        args.most -= 1
        reference, _ = bench.make(args.against, plan)
        for candidate in todo:
            began = process_time()
            audio, cutting = bench.make(candidate, plan)
            spent = process_time() - began
            chunks = cutting.chunks(plan.frames) if cutting else []
            samples = [(a * FRAME_SAMPLES, b * FRAME_SAMPLES) for a, b in chunks]
            found = distance(reference, audio, [a for a, _ in samples[1:]], samples)
            sound = KEEP / args.set / f"{take}-{candidate}.npy"
            np.save(sound, audio.astype(np.float16))
            row = {"take": take, "candidate": candidate, "against": args.against, "cpu_s": spent, **vars(found)}
            with results.open("a") as out:
                out.write(json.dumps(row) + "\n")
        print(take, flush=True)


def table(results: Path) -> str:
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in results.read_text().splitlines():
        row = json.loads(line)
        rows.setdefault((row["candidate"], row["against"]), []).append(row)
    lines = ["| candidate | against | takes | log-mel dB | timbre dB | chunks within 1 dB | joins: mel, energy, F0 |"]
    for (candidate, against), found in rows.items():
        mean: Callable[[str], float] = lambda key: float(np.mean([r[key] for r in found]))  # noqa: B023, E731
        levels = np.array([x for r in found for x in r["levels_db"]])
        near = f"{(np.abs(levels) <= 1).mean():.3f}" if len(levels) else "-"
        ours, theirs = (np.array([j for r in found for j in r[key]]) for key in ("joins", "whole_joins"))
        joins = "-"
        if len(ours):
            joins = ", ".join(f"{np.nanmean(ours[:, i]) / np.nanmean(theirs[:, i]):.2f}" for i in range(3))
        far = f"{mean('mel_db'):.3f} | {mean('timbre_db'):.3f}"
        lines.append(f"| {candidate} | {against} | {len(found)} | {far} | {near} | {joins} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
