"""From nothing to weights: ``python -m train.voice.run`` (``make train-voice``).

Data, acoustic model, vocoder, both together, export, held-out sentences, figures: in this order, each stage in a
process of its own. What is done is not done again; a training that was interrupted goes on where it was. ``--reduced``
does everything in minutes, to show that it works.
"""

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).parents[2] / "src" / "antiphon" / "assets" / "ssm"
PARTS = ("acoustic", "vocoder", "together")
GRAPHS = ("encoder.onnx", "decoder.onnx", "voice.json")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything: ``hours`` of speech, iterations of the models' training, each and together, the share of
    the latter that is adversarial, every so manieth held-out sentence by these recognisers."""

    hours: float
    acoustic: int
    vocoder: int
    together: int
    adversarial: float
    every: int
    ears: str


FULL = Plan(10.0, 20_000, 6_000, together=6_000, adversarial=0.5, every=1, ears="moonshine,whisper-base")
REDUCED = Plan(0.6, 1_000, 400, together=100, adversarial=0.0, every=15, ears="moonshine")


def stage(module: str, *arguments: str | float | Path) -> None:
    """Run one; raises ``CalledProcessError`` where it fails."""
    subprocess.run([sys.executable, "-m", f"train.voice.{module}", *map(str, arguments)], check=True)


def about(out: Path) -> dict[str, object]:
    """Where the weights come from, for ``voice.json``."""
    manifest = json.loads((out / "data" / "manifest.json").read_text("utf-8"))
    curves = {name: json.loads((out / name / "curve.json").read_text("utf-8")) for name in PARTS}
    return {
        "licence": "Apache-2.0",
        "data": {key: manifest[key] for key in ("seed", "utterances", "hours", "texts_sha256", "teacher_sha256")},
        "training": {name: curve[-1] for name, curve in curves.items() if curve},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reduced", action="store_true")
    parser.add_argument("--out", type=Path, help="default: build/voice, or build/voice-reduced")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--install", action="store_true", help="put the weights into the package when all is done")
    options = parser.parse_args()
    plan = REDUCED if options.reduced else FULL
    out: Path = options.out or Path("build/voice-reduced" if options.reduced else "build/voice")

    data = out / "data"
    if not (data / "manifest.json").exists():
        stage("data", "--out", data, "--hours", plan.hours)
    common = ("--data", data, "--threads", options.threads)
    stage("train_acoustic", *common, "--out", out / "acoustic", "--iterations", plan.acoustic)
    stage(
        "train_vocoder",
        *common,
        *("--out", out / "vocoder", "--iterations", plan.vocoder, "--adversarial", 0),
    )
    stage(
        "train_together",
        *common,
        *("--acoustic", out / "acoustic" / "last.pt", "--vocoder", out / "vocoder" / "last.pt"),
        *("--out", out / "together", "--iterations", plan.together, "--adversarial", plan.adversarial),
    )
    (out / "about.json").write_text(json.dumps(about(out)), "utf-8")
    both = out / "together"
    checkpoints = ("--acoustic", both / "acoustic.pt", "--vocoder", both / "vocoder.pt")
    stage("export", *checkpoints, "--about", out / "about.json", "--out", out / "export")
    stage("calibrate", "--data", data, "--voice", out / "export")
    stage("recite", "--voice", out / "export", "--every", plan.every, "--out", out / "student.npz")
    judge = ("--every", plan.every, "--ears", plan.ears)
    if not (out / "teacher.json").exists():
        stage("evaluate", "--teacher", "--audio", out / "teacher", *judge, "--out", out / "teacher.json")
    against = ("--against", out / "teacher.json")
    stage("evaluate", "--audio", out / "student.npz", *judge, *against, "--out", out / "student.json")
    if options.install:
        ASSETS.mkdir(parents=True, exist_ok=True)
        for name in GRAPHS:
            shutil.copyfile(out / "export" / name, ASSETS / name)


if __name__ == "__main__":
    main()
