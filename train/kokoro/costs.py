"""CPU time of every part for a 5-word and a 25-word sentence, one thread: ``python -m train.kokoro.costs [--int8]``.

CPU seconds of the process, the least of three runs: hardly moved by what else the machine does.
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from train.kokoro import graph
from train.kokoro.chunks import Generator
from train.kokoro.plans import Kokoro

SENTENCES = {
    5: "The meeting starts at nine.",
    25: "If you would like to change your booking, please tell me the new date and the number of guests, "
    "and I will check for you.",
}


def least(run: Callable[[], Any], times: int = 2) -> tuple[float, Any]:
    out, best = run(), np.inf
    for _ in range(times):
        began = process_time()
        out = run()
        best = min(best, process_time() - began)
    return float(best), out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--int8", action="store_true")
    asked.add_argument("--words", type=int, choices=SENTENCES)
    args = asked.parse_args()
    kokoro = Kokoro()
    floats = not args.int8
    before = kokoro.part("before", floats, (graph.ASR, graph.F0, graph.ENERGY), (graph.LOW, graph.SOURCE))
    generator = Generator(kokoro, args.int8)
    for words, text in SENTENCES.items():
        if args.words not in (None, words):
            continue
        ids = kokoro.tokens(text)
        style = kokoro.style("af_heart", len(ids))
        feeds = {"tokens": np.array([[0, *ids, 0]]), "style": style, "speed": np.ones(1, np.float32)}
        text_s, (_, asr, f0, energy) = least(lambda: kokoro.text.run(None, feeds))  # noqa: B023
        seams = {graph.ASR: asr, graph.F0: f0, graph.ENERGY: energy, "style": style}
        low_s, (low, source) = least(lambda: before.run(None, seams))  # noqa: B023
        generator.own.run(None, {graph.LOW: low[:, :, :20], graph.SOURCE: source[:, :, :1201], "style": style})
        began = process_time()
        generator.own.run(None, {graph.LOW: low, graph.SOURCE: source, "style": style})
        whole_s = process_time() - began
        channels = max(slot.stop for slot in generator.slots.values())
        ready = generator.conditions(style) | generator.statistics(np.zeros(channels), np.ones(channels))
        ready = {name: value.astype(np.float32) for name, value in ready.items()}
        print(f"{words} words, {low.shape[2] / 80:.2f} s, {'int8' if args.int8 else 'float32'}")
        print(f"  text {text_s:.3f}  low-rate {low_s:.3f}  generator whole {whole_s:.3f}")
        for size, halo in ((24, 8), (40, 8), (40, 4)):
            wide = size + halo
            window = {graph.LOW: low[:, :, :wide].copy(), graph.SOURCE: source[:, :, : 60 * wide + 1].copy(), **ready}
            first_s, _ = least(lambda: generator.frozen.run(None, window), 1)  # noqa: B023
            ratio = (text_s + low_s + whole_s) / (text_s + low_s + first_s)
            print(f"  first chunk of {size} frames, halo {halo}: {first_s:.3f}; sooner by {ratio:.2f}x", flush=True)


if __name__ == "__main__":
    main()
