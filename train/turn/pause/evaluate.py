"""How well the pause model tells ends from pauses inside, beside smart-turn, on what ``play.py --keep`` heard.

    python -m train.turn.pause.evaluate tune.pkl report.pkl [--weights FILE] [--silence 0.12 0.2 0.3]
    python -m train.turn.pause.evaluate train/turn/fresh.json --recordings FOLDER [--recordings FOLDER]

Audio up to where the detector heard the pause begin (of a list: where it begins), and so much of the pause. In
brackets: among pairs of an end and a pause whose lengths differ by less than 35 %. Made voices: what the ends score on
average matters as much.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.bench.turn_set import make_turns, read_recipes
from antiphon.bench.voices import by_hibari
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.models.pause import PauseModel
from antiphon.models.smart_turn import SmartTurn
from train.turn.pause.pool_voices import smart_turn

sys.path.append(str(Path(__file__).parents[1]))
import play

SMART_S, HEARD = 0.12, round(5.5 * EAR_RATE_HZ)
ALIKE = 1.35


@dataclass(frozen=True)
class Heard:
    """``quiet``: where the detector heard the pause begin, in samples of ``sound``."""

    name: str
    real: bool
    end: bool
    sound: NDArray[np.float32]
    quiet: int

    def until(self, silence_s: float) -> NDArray[np.float32]:
        return self.sound[: self.quiet + round(silence_s * EAR_RATE_HZ)]


def pauses(file: Path) -> list[Heard]:
    """As ``fit.py`` chooses them."""
    found = []
    for kept in play.kept_pauses(file):
        clip = kept.clip
        found.append(Heard(clip.name, clip.group.startswith("real"), kept.end, clip.samples, kept.quiet))
    return found


def pauses_of_list(file: Path, recordings: list[Path]) -> list[Heard]:
    """Those of a list of turns that was not played."""
    found = []
    for clip in make_turns(read_recipes(file), recordings, by_hibari, "all").clips:
        ends = [(clip.speech[1], True)] if clip.ends_turn else []
        for start, end in [*((at, False) for at, _ in clip.pauses), *ends]:
            found.append(Heard(clip.name, clip.group.startswith("real"), end, clip.samples, start))
    return found


def smart(sound: SmartTurn, heard: Heard) -> float:
    p = min(max(sound.complete(heard.until(SMART_S)[-HEARD:]), 1e-6), 1 - 1e-6)
    return float(np.log(p / (1 - p)))


def auc(odds: NDArray[np.float64], some: list[Heard]) -> str:
    end = np.array([one.end for one in some])
    length = np.array([one.quiet for one in some], float)
    if not end.any() or end.all():
        return "-"
    better = (odds[end][:, None] > odds[~end]) + 0.5 * (odds[end][:, None] == odds[~end])
    ratio = length[end][:, None] / length[~end]
    alike = (ratio < ALIKE) & (ratio > 1 / ALIKE)
    return f"{better.mean():.3f} ({better[alike].mean():.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("heard", type=Path, nargs="+")
    parser.add_argument("--recordings", type=Path, action="append", default=[])
    parser.add_argument("--weights", type=Path, help="instead of the packaged ones")
    parser.add_argument("--silence", type=float, nargs="+", default=(0.12, 0.2, 0.3))
    args = parser.parse_args()
    model, sound = PauseModel.load(args.weights), smart_turn()
    names = [
        *(f"pause model at {silence_s} s" for silence_s in args.silence),
        "smart-turn",
        "mean log odds, ends",
        "pauses",
    ]
    print("| | ends / pauses | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|")
    for file in args.heard:
        every = pauses_of_list(file, args.recordings) if file.suffix == ".json" else pauses(file)
        odds = np.array([[model.log_odds(one.until(s)) for s in args.silence] for one in every])
        other = np.array([smart(sound, one) for one in every])
        for label, keep in (("real", True), ("made", False)):
            here = np.array([one.real == keep for one in every])
            some = [one for one in every if one.real == keep]
            if not some:
                continue
            end = np.array([one.end for one in some])
            middle = odds[here][:, min(1, len(args.silence) - 1)]
            cells = [auc(column, some) for column in odds[here].T] + [auc(other[here], some)]
            means = (f"{middle[end].mean():.2f}", f"{middle[~end].mean():.2f}")
            print(f"| {file.stem}, {label} | {end.sum()} / {(~end).sum()} | " + " | ".join((*cells, *means)) + " |")


if __name__ == "__main__":
    main()
