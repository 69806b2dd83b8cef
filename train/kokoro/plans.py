"""Sentences, and everything of them that comes before the generator: made once, kept as .npz.

``python -m train.kokoro.plans --set calibration`` (or ``development``, ``test``) makes what is missing of a set.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from train.kokoro import graph

MODEL = Path.home() / ".cache/antiphon/models/kokoro-82m-int8"
KEEP = Path("build/kokoro")
VOICES = ("af_heart", "am_michael", "bf_emma", "bm_george")
OTHERS = ("af_bella", "am_puck", "bf_isabella", "bm_fable", "af_nicole", "am_onyx", "af_sky", "am_fenrir")
Real = NDArray[np.float32]


@dataclass(frozen=True)
class Plan:
    """``asr`` [1, 512, units], ``f0`` and ``energy`` [1, 2 * units], ``style`` [1, 256], ``durations`` [tokens] in
    units of 25 ms; ``low`` [1, 512, frames], ``source`` [1, 22, 60 * frames + 1]; of the float32 decoder: ``mean`` and
    ``deviation`` [channels of all norms of the generator], ``audio``."""

    text: str
    voice: str
    asr: Real
    f0: Real
    energy: Real
    style: Real
    durations: NDArray[np.int64]
    low: Real
    source: Real
    mean: Real
    deviation: Real
    audio: Real

    @property
    def frames(self) -> int:
        return int(self.low.shape[2])


def sentences(which: str) -> list[str]:
    """Test: of the committed list for word error rates. The others: of the state-space voice's held-out list."""
    root = Path(__file__).parents[2]
    if which == "test":
        lines = (root / "src/antiphon/bench/data/wer300.txt").read_text().splitlines()
        lines = [line for line in lines if line and not line.startswith("#")]
        return [line.split("\t")[-1] for line in lines[::7][:40]]
    lines = [
        line.split("\t")[-1] for line in (root / "train/voice/heldout.txt").read_text().splitlines() if line.strip()
    ]
    test = set(sentences("test"))
    lines = [line for line in lines if line not in test and 3 <= len(line.split()) <= 22]
    return lines[::12][:16] if which == "development" else lines[1::3][:60]


def takes(which: str) -> Iterator[tuple[str, str]]:
    """(sentence, voice), the voices taking turns. Test: first every sentence by one voice, then by the next, so that
    any beginning of the list is fair. Calibration: every sentence by two of the four voices and one of the others."""
    listed = sentences(which)
    if which == "test":
        yield from ((text, VOICES[(at + turn) % 4]) for turn in range(4) for at, text in enumerate(listed))
        return
    for at, text in enumerate(listed):
        yield text, VOICES[at % 4]
        if which == "calibration":
            yield text, VOICES[(at + 1) % 4]
            yield text, OTHERS[at % len(OTHERS)]


class Kokoro:
    """The graph in parts, as sessions of one thread. Parts are kept as files: taking the graph apart takes seconds."""

    def __init__(self) -> None:
        self.text = self.part("text", False, (), (graph.DURATIONS, graph.ASR, graph.F0, graph.ENERGY))
        self.low = self.part("low", True, (graph.ASR, graph.F0, graph.ENERGY), (graph.LOW,))
        self.source = self.part("source", True, (graph.F0,), (graph.SOURCE,))
        self.vocabulary: dict[str, int] = json.loads((MODEL / "vocab.json").read_text())["vocab"]
        names = KEEP / "parts/norms.json"
        if not names.exists():
            names.write_text(json.dumps(graph.norms(self.whole(False), graph.GEN)))
        self.norms: dict[str, dict[str, str]] = json.loads(names.read_text())
        self.apart = {t["mean"]: t["variance"] for t in self.norms.values()}

    @cache  # noqa: B019
    def whole(self, floats: bool):  # type: ignore[no-untyped-def]
        model = graph.load(MODEL / "kokoro-v1.0.int8.onnx")
        return graph.float_decoder(model) if floats else model

    @cache  # noqa: B019
    def part(self, name: str, floats: bool, inputs: tuple[str, ...], outputs: tuple[str, ...], frozen: bool = False):  # type: ignore[no-untyped-def]
        """``floats``: in float32; ``frozen``: with the generator's statistics as inputs."""
        where = KEEP / "parts" / f"{name}-{'float32' if floats else 'int8'}.onnx"
        if not where.exists():
            where.parent.mkdir(parents=True, exist_ok=True)
            model = graph.frozen(self.whole(floats)) if frozen else self.whole(floats)
            where.write_bytes(graph.cut(model, inputs, outputs).SerializeToString())
        return graph.session(where)

    @cache  # noqa: B019
    def with_statistics(self):  # type: ignore[no-untyped-def]
        names = [graph.AUDIO, *self.apart, *self.apart.values()]
        return self.part("statistics", True, (graph.LOW, graph.SOURCE), tuple(names))

    def tokens(self, text: str) -> list[int]:
        return [self.vocabulary[c] for c in _phonemes(text) if c in self.vocabulary]

    def style(self, voice: str, count: int) -> Real:
        rows = np.fromfile(MODEL.parent / "kokoro-voices" / f"{voice}.bin", np.float32).reshape(510, 1, 256)
        return np.asarray(rows[min(count, 509)])

    def plan(self, text: str, voice: str, speed: float = 1.0, statistics: bool = True) -> Plan:
        """``statistics``: with the mean and deviation of every channel; without them it is quicker."""
        ids = self.tokens(text)
        style = self.style(voice, len(ids))
        feeds = {"tokens": np.array([[0, *ids, 0]]), "style": style, "speed": np.array([speed], np.float32)}
        durations, asr, f0, energy = self.text.run(None, feeds)
        low, source = self.before(asr, f0, energy, style)
        seams = (graph.LOW, graph.SOURCE)
        generate = self.with_statistics() if statistics else self.part("own", True, seams, (graph.AUDIO,))
        audio, *rest = generate.run(None, {graph.LOW: low, graph.SOURCE: source, "style": style})
        rest = rest or [np.ones(1, np.float32)] * 2
        half = len(rest) // 2
        mean, variance = (np.concatenate([x.reshape(-1) for x in part]) for part in (rest[:half], rest[half:]))
        return Plan(
            text, voice, asr, f0, energy, style, durations.reshape(-1).astype(np.int64), low, source, mean,
            np.sqrt(variance), audio.reshape(-1),
        )  # fmt: skip

    def before(self, asr: Real, f0: Real, energy: Real, style: Real) -> tuple[Real, Real]:
        feeds = {graph.ASR: asr, graph.F0: f0, graph.ENERGY: energy, "style": style}
        return self.low.run(None, feeds)[0], self.source.run(None, {graph.F0: f0})[0]


@cache
def _reader():  # type: ignore[no-untyped-def]
    from hibari.g2p import G2P

    return G2P(british=False)


def _phonemes(text: str) -> str:
    return str(_reader()(text))


def path(which: str, text: str, voice: str) -> Path:
    listed = sentences("calibration" if which == "segments" else which)
    return KEEP / which / f"{listed.index(text):03d}-{voice}.npz"


def stored(which: str) -> Iterator[Plan]:
    for text, voice in takes(which):
        where = path(which, text, voice)
        if where.exists():
            with np.load(where) as data:
                yield Plan(**{k: (str(v) if v.dtype.kind == "U" else v) for k, v in data.items()})


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--set", default="calibration")
    asked.add_argument("--most", type=int, default=10_000, help="make so many at most")
    asked.add_argument("--backwards", action="store_true", help="so that two processes can share a set")
    args = asked.parse_args()
    which, made = args.set, 0
    kokoro = Kokoro()
    for text, voice in list(takes(which))[:: -1 if args.backwards else 1]:
        where = path(which, text, voice)
        if where.exists():
            continue
        if made == args.most:
            return
        made += 1
        where.parent.mkdir(parents=True, exist_ok=True)
        part = where.with_suffix(".part.npz")
        np.savez(part, **vars(kokoro.plan(text, voice, statistics=which != "test")))
        part.rename(where)
        print(where, flush=True)


if __name__ == "__main__":
    main()
