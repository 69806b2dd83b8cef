"""What turning F0 and energy at the seam does: ``python -m train.kokoro.pitch --set development --most 4``.

Kept beside the set's sounds as candidates ``pitch+3`` and so on (semitones), ``range1.5`` (spread of the melody),
``energy+1`` (the seam's own unit), for ``judge.py``; prints what is measured of each.
"""

import argparse
from dataclasses import replace

import numpy as np

from train.kokoro import graph
from train.kokoro.measure import level_db
from train.kokoro.plans import KEEP, Kokoro, Plan, path, stored
from train.voice.evaluate_sound import track_f0, voiced

VOICED_HZ = 10.0
ASKED = ("pitch-3", "pitch+3", "range1.5", "energy+1")


def turned(plan: Plan, asked: str) -> Plan:
    f0, energy = plan.f0.copy(), plan.energy
    speaks = f0 > VOICED_HZ
    if asked.startswith("pitch"):
        f0[speaks] *= 2 ** (float(asked[5:]) / 12)
    elif asked.startswith("range"):
        middle = np.exp(np.log(f0[speaks]).mean())
        f0[speaks] = middle * (f0[speaks] / middle) ** float(asked[5:])
    else:
        energy = (energy + float(asked[6:])).astype(np.float32)
    return replace(plan, f0=f0.astype(np.float32), energy=energy)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--set", default="development")
    asked.add_argument("--most", type=int, default=4)
    args = asked.parse_args()
    kokoro = Kokoro()
    generate = kokoro.part("own", True, (graph.LOW, graph.SOURCE), (graph.AUDIO,))
    for plan in list(stored(args.set))[: args.most]:
        take = path(args.set, plan.text, plan.voice).stem
        before = voiced(track_f0(plan.audio))
        for what in ASKED:
            new = turned(plan, what)
            low, source = kokoro.before(new.asr, new.f0, new.energy, new.style)
            audio = generate.run(None, {graph.LOW: low, graph.SOURCE: source, "style": new.style})[0].reshape(-1)
            np.save(KEEP / args.set / f"{take}-{what}.npy", audio.astype(np.float16))
            after = voiced(track_f0(audio))
            moved = 12 * np.log2(np.median(after) / np.median(before))
            spread = np.log(after).std() / np.log(before).std()
            level = level_db(audio) - level_db(plan.audio)
            heard = f"median {moved:+.2f} semitones, spread x {spread:.2f}, level {level:+.1f} dB"
            print(f"{take} {what}: {heard}", flush=True)


if __name__ == "__main__":
    main()
