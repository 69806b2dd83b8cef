"""Words and listening quality of the sounds that ``evaluate.py`` kept: ``python -m train.kokoro.judge --set test``.

Moonshine's word error rate over all kept takes of a candidate, DNSMOS (overall) of each; one JSON line per sound in
``build/kokoro/SET-judged.jsonl``. Needs the models moonshine-tiny-en and dnsmos, and the extra ``bench``.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from antiphon.audio.resample import resample
from antiphon.bench.dnsmos import Dnsmos
from antiphon.bench.wer import word_errors
from antiphon.models.moonshine import Moonshine
from train.kokoro.plans import KEEP, path, sentences, takes

PADDING = 4_000
"""Samples at 16 kHz (0.25 s) of silence on each side: recognisers expect air."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--set", default="test")
    asked.add_argument("--candidates", default="whole,centred,frozen")
    asked.add_argument("--table", action="store_true")
    args = asked.parse_args()
    results = KEEP / f"{args.set}-judged.jsonl"
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if args.table:
        return show(rows)
    done = {(r["take"], r["candidate"]) for r in rows}
    home = Path.home() / ".cache/antiphon/models"
    files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    ear = Moonshine(*(home / "moonshine-tiny-en" / name for name in files))
    mos = Dnsmos(next((home / "dnsmos").glob("*sig_bak_ovr.onnx")))
    texts = sentences(args.set)
    for text, voice in takes(args.set):
        take = path(args.set, text, voice).stem
        for candidate in args.candidates.split(","):
            sound = KEEP / args.set / f"{take}-{candidate}.npy"
            if (take, candidate) in done or not sound.exists():
                continue
            audio = resample(np.load(sound).astype(np.float32), 24_000, 16_000)
            heard = ear.transcribe(np.pad(audio, PADDING)).text
            found = word_errors(texts[int(take[:3])], heard)
            row = {"take": take, "candidate": candidate, "errors": found.errors, "words": found.words}
            row |= {"heard": heard, "mos": mos(audio).overall}
            with results.open("a") as out:
                out.write(json.dumps(row) + "\n")
    return None


def show(rows: list[dict[str, object]]) -> None:
    for candidate in dict.fromkeys(r["candidate"] for r in rows):
        mine = [r for r in rows if r["candidate"] == candidate]
        errors, words = (sum(int(str(r[key])) for r in mine) for key in ("errors", "words"))
        mos = np.array([float(str(r["mos"])) for r in mine])
        rate = f"WER {100 * errors / words:.2f} % of {words}"
        print(f"| {candidate} | {len(mine)} takes | {rate} | DNSMOS {mos.mean():.3f} |")


if __name__ == "__main__":
    main()
