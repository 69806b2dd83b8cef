"""Fit the scorer's weights on what the streaming ear heard at every pause of the tuning half; report on the other.

    python train/turn/play.py pauses.json --half tune --keep tune.pkl ...     # and the same for the other half
    python train/turn/fit.py tune.pkl report.pkl [--shipped]

1. Evidence: at each pause the words as they stood 0.45 s after the true end (by rules and by the utterance model), how
   sure the recogniser was of a full stop, the pause model's log odds, where pitch and level end, how long somebody
   spoke. A logistic regression, drawn to hand-set values; synthesised pieces count 0.4, since each ends with the fall
   of a whole sentence; the length is held at its value: that parts are shorter than wholes is how this set was made.
2. Silence: log odds to a wait, ``exp(steepness * (level - odds))`` within ``wait_s``. What each level costs is
   printed as a frontier, cut-offs against the median: for the tuning half by weights that have not seen the pause
   (seven folds by speaker), for the other by those fitted on all of the tuning half.
"""

import argparse
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import play
from numpy.typing import NDArray
from scipy.optimize import minimize

from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.engine.stt_turn import SCORE_AT_S
from antiphon.engine.turn import FULL_S, HEAR_S, HEARD_SAMPLES, WEIGHTS, closing_terms
from antiphon.engine.turn_sound import EARLIER_S, ending, later_s
from antiphon.models.pause import PauseModel
from antiphon.models.utterance import UtteranceModel
from antiphon.text.turn_evidence import turn_evidence

NAMES = ("text", "words", "pause", "comma", "word", "pitch", "fall", "length", "bias")
PRIOR = np.array([1.04, 0.3, 0.3, 0.2, 0.2, -0.19, 0.003, 2.0 / FULL_S, -2.4])
PRIOR_SD = np.array([0.3, 0.3, 0.3, 0.3, 0.3, 0.33, 0.02, 0.02, 4.5])
MADE_COUNTS = 0.4
FOLDS = 7
READ_S = 0.45
LAG_S = 0.015
NOTICED_S = 0.13
"""Speech after a pause is known this much later: an end until then is a cut-off too."""


@dataclass(frozen=True)
class Pause:
    """``at_s``: the detector's end of speech after the true one, corrected as the scorer does."""

    speaker: str
    real: bool
    end: bool
    lasts_s: float
    at_s: float
    asked: bool
    features: NDArray[np.float64]


@dataclass(frozen=True)
class Judges:
    words: UtteranceModel
    pause: PauseModel


def pauses(file: Path, judges: Judges) -> list[Pause]:
    return [_pause(kept, judges) for kept in play.kept_pauses(file)]


def _pause(kept: play.Kept, judges: Judges) -> Pause:
    clip, start, quiet = kept.clip, kept.start, kept.quiet
    read = max(1, sum(e.at_sample <= start + READ_S * EAR_RATE_HZ for e in kept.scored)) - 1
    text, closing = kept.scored[read].text, kept.asked[read].closing
    speech = clip.samples[:quiet]
    how = ending(speech[-4 * EAR_RATE_HZ :])
    heard = quiet + round(HEAR_S * EAR_RATE_HZ)
    pause = judges.pause.log_odds(clip.samples[max(0, heard - HEARD_SAMPLES) : heard])
    evidence = turn_evidence(text)
    words = judges.words.log_odds(text)
    later = later_s(clip.samples[max(0, quiet - 8 * EAR_RATE_HZ) : quiet + EAR_RATE_HZ // 2], 0.5)
    return Pause(
        speaker=clip.name.split(" ")[0].rsplit("-", 1)[0] if clip.group.startswith("real") else clip.name,
        real=clip.group.startswith("real"),
        end=kept.end,
        lasts_s=(kept.stop - start) / EAR_RATE_HZ,
        at_s=(quiet - start) / EAR_RATE_HZ + max(later, -EARLIER_S),
        asked=evidence.asked,
        features=np.array([
            evidence.logit, words - WEIGHTS.words_mean, pause - WEIGHTS.pause_mean, *closing_terms(closing),
            how.pitch, how.fall, min(quiet / EAR_RATE_HZ, FULL_S), 1.0,
        ]),
    )


def fitted(some: Sequence[Pause]) -> NDArray[np.float64]:
    x, end = np.array([p.features for p in some]), np.array([p.end for p in some])
    counts = np.array([1.0 if p.real else MADE_COUNTS for p in some])

    def loss(w: NDArray[np.float64]) -> float:
        each = np.logaddexp(0, np.where(end, -(x @ w), x @ w))
        return float(counts @ each + np.square((w - PRIOR) / PRIOR_SD).sum() / 2)

    return np.asarray(minimize(loss, PRIOR, method="Nelder-Mead", options={"maxiter": 8000, "adaptive": True}).x)


def odds_of(some: Sequence[Pause], w: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([p.features @ w for p in some])


def auc(odds: NDArray[np.float64], some: Sequence[Pause]) -> float:
    end = np.array([p.end for p in some])
    high, low = odds[end][:, None], odds[~end][None]
    return float((high > low).mean() + 0.5 * (high == low).mean())


def cell(some: Sequence[Pause], odds: NDArray[np.float64], level: float) -> str:
    """``cut-offs, median`` by the formula, at the lengths of a pause at which the turn is scored."""
    wait = np.clip(np.exp(WEIGHTS.steepness * (level - odds)), *WEIGHTS.wait_s)
    wait[[p.asked for p in some]] = WEIGHTS.wait_s[0]
    steps = np.array(SCORE_AT_S)
    at = np.array([p.at_s for p in some]) + steps[np.searchsorted(steps, wait - 1e-9)] + LAG_S
    end, lasts = np.array([p.end for p in some]), np.array([p.lasts_s for p in some])
    cut = float((at[~end] < lasts[~end] + NOTICED_S).mean())
    return f"{cut:.1%}, {np.median(at[end]):.2f} s"


def alone(tune: Sequence[Pause], report: Sequence[Pause]) -> None:
    """AUC of each kind of evidence by itself."""
    print("| AUC alone | tune real | tune made | report real | report made |\n" + "|---" * 5 + "|")
    for at, name in enumerate(NAMES[:6]):
        sign = -1.0 if name == "pitch" else 1.0
        cells = []
        for half in (tune, report):
            for real in (True, False):
                some = [p for p in half if p.real is real]
                cells.append(f"{auc(np.array([sign * p.features[at] for p in some]), some):.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tune", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--shipped", action="store_true", help="fit nothing: what the weights that ship do")
    args = parser.parse_args()
    judges = Judges(UtteranceModel.load(), PauseModel.load())
    tune, report = pauses(args.tune, judges), pauses(args.report, judges)
    shipped = np.array([getattr(WEIGHTS, name) for name in NAMES])
    w = shipped if args.shipped else fitted(tune)
    print({name: round(float(value), 4) for name, value in zip(NAMES, w, strict=True)})
    alone(tune, report)
    fold = np.array([zlib.crc32(p.speaker.encode()) % FOLDS for p in tune])
    unseen = np.zeros(len(tune))
    for k in range(FOLDS):
        others = shipped if args.shipped else fitted([p for p, f in zip(tune, fold, strict=True) if f != k])
        unseen[fold == k] = odds_of([p for p, f in zip(tune, fold, strict=True) if f == k], others)
    halves = (("tune", tune, unseen), ("report", report, odds_of(report, w)))
    columns = [(f"{name} {what}", half, odds, keep) for name, half, odds in halves for what, keep in
               (("real", {True}), ("made", {False}), ("all", {True, False}))]  # fmt: skip
    print("| level | " + " | ".join(name for name, *_ in columns) + " |\n" + "|---" * 7 + "|")
    for level in (None, *np.arange(0.0, 1.3, 0.1)):
        cells = []
        for _, half, odds, keep in columns:
            kept = [p.real in keep for p in half]
            some = [p for p, k in zip(half, kept, strict=True) if k]
            mine = odds[np.array(kept)]
            cells.append(f"AUC {auc(mine, some):.2f}" if level is None else cell(some, mine, float(level)))
        print(f"| {'' if level is None else f'{level:.1f}'} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
