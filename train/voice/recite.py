"""An exported voice reads the held-out sentences: ``python -m train.voice.recite --out build/voice/student.npz``.

By the streaming reference (``stream.py``), which has no server around it; ``evaluate.py`` says how well.
"""

import argparse
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numpy as np

from train.voice.data_teacher import Teacher
from train.voice.evaluate import RATE_HZ, heldout
from train.voice.stream import Knobs, Real, Stream, Voice


def recite(voice: Voice, only: Iterable[int], seed: int = 1) -> dict[str, Real]:
    """These held-out lines, symbols in portions of one to nine, by their number in three digits: 24 kHz float32."""
    teacher = Teacher(Path(str(files("hibari") / "assets" / "hibari.onnx")))
    lines, spoken = heldout(), dict[str, Real]()
    for index in only:
        rng = np.random.default_rng(index)
        ids, made = voice.ids(teacher.symbols(lines[index][1])), []
        stream = Stream(voice, seed + index, Knobs())
        while ids:
            portion = int(rng.integers(1, 10))
            stream.push(ids[:portion])
            ids = ids[portion:]
            made.append(stream.pull())
        stream.end()
        made.append(stream.pull())
        spoken[f"{index:03d}"] = np.concatenate(made)
    return spoken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voice", type=Path, default=Path("src/antiphon/assets/ssm"), help="an exported voice")
    parser.add_argument("--every", type=int, default=1, help="only every so many lines")
    parser.add_argument("--out", type=Path, required=True, help="an .npz for evaluate.py")
    options = parser.parse_args()
    spoken = recite(Voice(options.voice), range(0, len(heldout()), options.every))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    packed = {name: np.rint(np.clip(samples, -1, 1) * 32767).astype(np.int16) for name, samples in spoken.items()}
    with options.out.open("wb") as file:
        np.savez(file, **packed)  # type: ignore[arg-type]
    print(f"{len(spoken)} sentences, {sum(map(len, spoken.values())) / RATE_HZ:.1f} s")


if __name__ == "__main__":
    main()
