"""Fit the weights on the tuning half; report on the other.

1. Words: logistic regression of "this is the end" on the features, drawn to the values that were set by hand (a
   Gaussian prior: most features are rare in the set, and one must not learn from three examples).
2. Sound: smart-turn's log odds beside the words' where those leave it open, on real voices only: a synthesised piece
   ends with the fall of a whole sentence.
3. Silence: which level and which slope end the most turns within half a second at no more than the allowed cut-offs.

    python train/turn/fit.py FILE            # what listen.py wrote: fits and reports
    python train/turn/fit.py FILE --report   # reports with the weights in the package
"""

import argparse
import json
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from simulate import STEP, Outcome, ready_s, simulate
from sound import RATE_HZ

from antiphon.core.turns import EndpointSettings
from antiphon.engine import turn
from antiphon.engine.turn import TurnWeights
from antiphon.text import turn_evidence
from antiphon.text.turn_evidence import FEATURES, WEIGHTS

Pauses = Sequence[dict[str, Any]]
PRIOR_SD = 0.6
LONGEST = 1.0
"""Cap on the weight of length: that a part is shorter than its whole is also how this set was made."""
REAL = ("librispeech", "asterisk", "read")
MAX_CUT_OFFS = 0.09
FOLDS = 5
MAX_SCALE = 2.4
"""Beyond, the likelihood is nearly yes or no."""
SETTINGS = EndpointSettings()


def vectors(pauses: Pauses) -> NDArray[np.float64]:
    return np.array([turn_evidence.turn_evidence(pause.get("text", "")).vector for pause in pauses])


def ends(pauses: Pauses) -> NDArray[np.bool_]:
    return np.array([pause["kind"] == "end" for pause in pauses])


def sound_odds(pauses: Pauses) -> NDArray[np.float64]:
    p = np.clip([pause.get("smart", 0.5) for pause in pauses], 1e-6, 1 - 1e-6)
    return np.clip(np.log(p / (1 - p)), -turn.SOUND_RANGE, turn.SOUND_RANGE)


def auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    high, low = scores[positive][:, None], scores[~positive][None]
    return float((high > low).mean() + 0.5 * (high == low).mean())


def loss(odds: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    return float(np.logaddexp(0, np.where(positive, -odds, odds)).sum())


# Signs that must not turn over: a feature that speaks for more to come never speaks for an end.
AGAINST = FEATURES[: FEATURES.index("number_done")]


def fit_words(pauses: Pauses) -> dict[str, float]:
    x, y = vectors(pauses), ends(pauses)
    prior = np.array([INITIAL[name] for name in FEATURES])

    def objective(w: NDArray[np.float64]) -> float:
        return loss(x @ w, y) + float(np.square((w - prior) / PRIOR_SD).sum()) / 2

    bounds = [
        (None, -0.1) if n in AGAINST else (None, None) if n == "bias" else (0.1, LONGEST if n == "length" else None)
        for n in FEATURES
    ]
    fitted = minimize(objective, prior, method="L-BFGS-B", bounds=bounds).x
    return {name: round(float(value), 2) for name, value in zip(FEATURES, fitted, strict=True)}


INITIAL = {
    "empty": -1.0, "dangling": -3.0, "weak_dangling": -1.6, "filler": -3.0, "lacks_object": -1.6, "lacks_verb": -1.2,
    "lacks_main_clause": -2.0, "fragment": -1.0, "number_open": -2.6, "spelling_open": -2.4, "address_open": -2.8,
    "list_open": -1.6, "correction": -3.0, "goes_on": -1.5, "no_mark": -0.3, "number_done": 0.8, "address_done": 1.5,
    "list_done": 0.8, "question": 1.5, "question_mark": 0.5, "answer": 2.5, "closer": 1.8, "request": 1.0,
    "adverbial": 0.8, "length": 0.8, "bias": -0.4,
}  # fmt: skip


def fit_sound(pauses: Pauses, doubt: tuple[float, float]) -> tuple[float, float]:
    """Weight of the sound and its bias, relative to the words' log odds."""
    real = [p for p in pauses if p["source"] in REAL]
    words, y, sound = vectors(real) @ np.array(list(turn_evidence.WEIGHTS.values())), ends(real), sound_odds(real)
    asked = (words > doubt[0]) & (words < doubt[1])

    def objective(w: NDArray[np.float64]) -> float:
        return loss((words + w[1] + w[0] * sound)[asked], y[asked]) + float(np.square(w).sum()) / 8

    weight, bias = minimize(objective, np.array([0.4, 0.0])).x
    return float(weight), float(bias)


def play(pauses: Pauses, weights: TurnWeights) -> list[Outcome]:
    return [simulate(pause, weights, SETTINGS) for pause in pauses]


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    mids = [o for o in outcomes if o.pause["kind"] == "mid"]
    end = [o for o in outcomes if o.pause["kind"] == "end"]
    late = [LATE if o.end_s is None else o.end_s for o in end]
    eager = [LATE if o.eager_s is None else o.eager_s for o in end]
    lead = [a - b for a, b in zip(late, eager, strict=True)]
    nan = float("nan")
    return {
        "mids": len(mids),
        "ends": len(end),
        "cut_offs": float(np.mean([o.cut_off for o in mids])) if mids else nan,
        "eager_wrong": float(np.mean([o.eager_wrong for o in mids])) if mids else nan,
        "end_p50": float(np.median(late)) if end else nan,
        "end_p90": float(np.percentile(late, 90)) if end else nan,
        "eager_p50": float(np.median(eager)) if end else nan,
        "eager_p90": float(np.percentile(eager, 90)) if end else nan,
        "lead_p50": float(np.median(lead)) if end else nan,
        "later_than_2s": float(np.mean([x > 2 for x in late])) if end else nan,
    }


LATE = 9.0


def unseen_words(pauses: Pauses) -> NDArray[np.float64]:
    """The words' log odds of each pause by weights that were fitted without its recording or dictation."""
    keys = [zlib.crc32(str(pause.get("file", pause.get("voice_seed"))).encode()) % FOLDS for pause in pauses]
    odds = np.zeros(len(pauses))
    for fold in range(FOLDS):
        others = [pause for pause, key in zip(pauses, keys, strict=True) if key != fold]
        mine = np.array([key == fold for key in keys])
        odds[mine] = (vectors(pauses) @ np.array(list(fit_words(others).values())))[mine]
    return odds


def fit_silence(pauses: Pauses, weights: TurnWeights) -> TurnWeights:
    """Level and scale of the evidence with the shortest delays (median plus mean) within the allowed cut-offs.

    By the formula instead of by playing: an end comes when words and sound are known and its silence is over. Words are
    weighed by a fit that has not seen them, since in those it has seen cut-offs are too rare.
    """
    words, sound, y = unseen_words(pauses), sound_odds(pauses), ends(pauses)
    asked = (words > weights.doubt[0]) & (words < weights.doubt[1])
    lengths = np.array([pause["pause_ms"] for pause in pauses]) / 1000
    began = np.array([(pause["pause"][0] - pause["true_end"]) / RATE_HZ for pause in pauses])
    ready = began + np.array([ready_s(pause, bool(ask)) for pause, ask in zip(pauses, asked, strict=True)])
    best: tuple[float, TurnWeights] | None = None
    for text in np.arange(0.8, MAX_SCALE + 0.01, 0.2):
        for bias in np.arange(-1.5, 2.2, 0.05):
            tried = replace(
                weights,
                text=round(float(text), 2),
                bias=round(float(bias), 2),
                sound=round(float(weights.sound * text), 2),
                sound_bias=round(float(weights.sound_bias * text), 2),
            )
            odds = tried.bias + tried.text * words + asked * (tried.sound_bias + tried.sound * sound)
            wait = np.clip(np.exp((math.log(4) - odds) / tried.silence), *tried.wait_s)
            end = np.maximum(ready, began + wait) + STEP / RATE_HZ / 2
            if (end[~y] < lengths[~y]).mean() <= MAX_CUT_OFFS:
                cost = float(np.median(end[y]) + end[y].mean())
                if best is None or cost < best[0]:
                    best = (cost, tried)
    assert best is not None, "no level keeps the cut-offs within the limit"
    return best[1]


def table(title: str, groups: Iterable[tuple[str, Pauses]], weights: TurnWeights) -> None:
    columns = "pauses|mid/end|AUC words|sound|both|cut off|eager wrong|end p50|p90|eager p50|p90|earlier by|> 2 s"
    print(f"\n{title}\n\n| {columns.replace('|', ' | ')} |\n{'|---' * 13}|")
    for name, pauses in groups:
        y = ends(pauses)
        words = vectors(pauses) @ np.array(list(turn_evidence.WEIGHTS.values()))
        asked = (words > weights.doubt[0]) & (words < weights.doubt[1])
        both = weights.text * words + asked * (weights.sound_bias + weights.sound * sound_odds(pauses))
        f = figures(play(pauses, weights))
        a = [auc(s, y) if 0 < y.sum() < len(y) else math.nan for s in (words, sound_odds(pauses), both)]
        print(
            f"| {name} | {f['mids']} / {f['ends']} | {a[0]:.2f} | {a[1]:.2f} | {a[2]:.2f} | {f['cut_offs']:.1%} |"
            f" {f['eager_wrong']:.1%} | {f['end_p50']:.2f} | {f['end_p90']:.2f} | {f['eager_p50']:.2f} |"
            f" {f['eager_p90']:.2f} | {f['lead_p50']:.2f} | {f['later_than_2s']:.1%} |"
        )


def groups(pauses: Pauses) -> list[tuple[str, Pauses]]:
    real = [p for p in pauses if p["source"] in REAL]
    made = [p for p in pauses if p["source"] == "synthesised"]
    named = [
        ("real voices", real),
        ("- LibriSpeech", [p for p in real if p["source"] == "librispeech"]),
        ("- prompts, Harvard", [p for p in real if p["source"] != "librispeech"]),
        ("synthesised", made),
    ]
    for label, categories in (
        ("- numbers, spelling", ("phone", "number", "spelling")),
        ("- e-mail", ("email",)),
        ("- corrections", ("correction",)),
        ("- lists", ("list",)),
        ("- hesitations", ("hesitation",)),
        ("- questions", ("question",)),
        ("- requests, short", ("request", "short")),
    ):
        named.append((label, [p for p in made if p["category"] in categories]))
    named.append(("all", pauses))
    return named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    pauses = json.loads(args.file.read_text())
    tune, report = ([p for p in pauses if p["split"] == half] for half in ("tune", "report"))
    weights = turn.WEIGHTS
    if not args.report:
        WEIGHTS.update(fit_words(tune))
        print("words", json.dumps(dict(WEIGHTS), indent=1))
        sound, bias = fit_sound(tune, weights.doubt)
        print(f"sound {sound:.3f} {bias:.3f}")
        weights = fit_silence(tune, replace(weights, sound=sound, sound_bias=bias))
        print(weights)
        table("Tuning half", groups(tune), weights)
    else:
        table("Report half", groups(report), weights)
        print("\n| end threshold | cut off | end p50 | eager earlier by |\n|---|---|---|---|")
        for threshold in (0.3, 0.25, 0.2, 0.15, 0.1, 0.05):
            f = figures([simulate(pause, weights, EndpointSettings(end=threshold)) for pause in report])
            print(f"| {threshold} | {f['cut_offs']:.1%} | {f['end_p50']:.2f} | {f['lead_p50']:.2f} |")


if __name__ == "__main__":
    main()
