"""Scale and offset: log odds 0 are one in two where ends are as frequent as pauses inside, on held-out speakers."""

from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from antiphon.models.pause import ASK_S, PauseModel
from train.turn.pause import targets
from train.turn.pause.streams import KINDS, Shard

REAL = ("libri", "prompts")


def outputs(model: PauseModel, held: Shard, silence_s: float = ASK_S) -> targets.Rows:
    """What the network says (not calibrated) at ``silence_s`` of each pause [n]: all of its stream is heard."""
    at = targets.step_at(held.pauses, silence_s)
    rows = [model.outputs(heard.astype(np.float32))[:, 0] for heard in held.features]
    return np.array([rows[stream][step] for stream, step in zip(held.pauses["stream"], at, strict=True)], np.float32)


def calibrate(raw: Path, held_path: Path, out: Path) -> None:
    """``raw`` with scale and offset, written to ``out``. If ends of synthetic voices score lower than real ones', the
    scale is not touched (a caller weighs it by how much it helps), but the figures say so."""
    model, held = PauseModel.load(raw), Shard.load(held_path)
    odds, weight = outputs(model, held), targets.balance(held.pauses)
    done = held.pauses["complete"]
    real = np.isin(held.pauses["kind"], [KINDS.index(kind) for kind in REAL])

    def loss(scale_offset: np.ndarray) -> float:
        value = scale_offset[0] * odds[real] + scale_offset[1]
        return float((np.logaddexp(0, value) - done[real] * value) @ weight[real])

    scale, offset = minimize(loss, (1.0, 0.0), method="Nelder-Mead").x
    with np.load(raw) as kept:
        weights = {name: kept[name] for name in kept.files}
    weights["calibration"] = np.array((scale, offset), np.float32)
    with out.open("wb") as file:
        np.savez_compressed(file, **weights)  # type: ignore[arg-type]
    print(f"scale {scale:.3f}, offset {offset:.3f}")
    value = scale * odds + offset
    for number, kind in enumerate(KINDS):
        here = held.pauses["kind"] == number
        if here.any():
            ends, inside = here & (done > 0.5), here & (done <= 0.5)
            print(
                f"{kind}: ends {np.average(value[ends], weights=weight[ends] + 1e-6):.2f},"
                f" inside {np.average(value[inside], weights=weight[inside] + 1e-6):.2f},"
                f" AUC {targets.auc(value[here], done[here] > 0.5, weight[here]):.3f} ({ends.sum()}, {inside.sum()})"
            )
