"""How lively the voice is by default: ``python -m train.voice.calibrate`` (data and voice in ``build/voice``).

A model that is trained to be right on average is flat where it is unsure. This measures the spread of F0 within
utterances that the training held back, beside the teacher's own, and writes the factor that makes up for it into
``voice.json``.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from train.voice.data import Corpus, Utterance
from train.voice.features import semitones
from train.voice.stream import Knobs, Stream, Voice

EVERY = 60
MOST = 1.6


def spread_st(f0: np.ndarray) -> float:
    """Standard deviation of voiced F0 in semitones, without the outer 2 % on each side (creaky ends are no melody)."""
    pitch = semitones(f0[f0 > 0])
    low, high = np.quantile(pitch, (0.02, 0.98))
    return float(pitch[(pitch >= low) & (pitch <= high)].std())


def predicted(voice: Voice, utterance: Utterance) -> np.ndarray:
    """F0 of each frame as the voice says it, by its own durations, 0 where unvoiced."""
    stream = Stream(voice, knobs=Knobs())
    stream.push(utterance.ids.astype(int).tolist())
    stream.end()
    f0, voiced = stream.pitch()
    return np.where(voiced > 0.5, f0, 0)


def ratio(voice: Voice, chosen: Sequence[Utterance]) -> float:
    """Mean spread over the teacher's."""
    said = (predicted(voice, utterance) for utterance in chosen)
    ours = [spread_st(f0) for f0 in said if (f0 > 0).any()]
    return float(np.mean(ours) / np.mean([spread_st(utterance.f0) for utterance in chosen]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("build/voice/data"))
    parser.add_argument("--voice", type=Path, default=Path("build/voice/export"))
    parser.add_argument("--count", type=int, default=40)
    options = parser.parse_args()
    corpus = Corpus(options.data, wav=False)
    corpus.refresh()
    plain = [u for u in corpus.utterances[::EVERY] if (u.speed, u.pitch, u.f0_range, u.energy) == (1, 0, 1, 0)]
    chosen = [u for u in plain if (u.f0 > 0).sum() > 60][: options.count]
    path = options.voice / "voice.json"
    about = json.loads(path.read_text("utf-8"))

    def write(factor: float) -> float:
        about["default_f0_factor"] = round(factor, 3)
        path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return ratio(Voice(options.voice), chosen)

    before = write(1.0)
    factor = min(MOST, max(1.0, 1 / before))
    after = write(factor)
    print(json.dumps({"utterances": len(chosen), "before": before, "factor": factor, "after": after}))


if __name__ == "__main__":
    main()
