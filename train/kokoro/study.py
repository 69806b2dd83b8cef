"""Why the statistics are hard to guess: ``python -m train.kokoro.study curve`` (or ``features``, ``segments``,
``blame``). Errors are on the development set: of the means, in deviations, and of the log deviations (RMS over
channels, mean over takes).
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from train.kokoro.chunks import Generator
from train.kokoro.measure import distance
from train.kokoro.plans import Kokoro, Plan, path, stored
from train.kokoro.predict import PerVoice, Predict, Ridge, pooled
from train.kokoro.segments import SEGMENT, names

Real = NDArray[np.float32]
PARTS = {
    "everything": ("",),
    "source, 800 Hz": ("noise_res.0",),
    "source, 4,800 Hz": ("noise_res.1",),
    "residual, 800 Hz": ("resblocks.0", "resblocks.1", "resblocks.2"),
    "residual, 4,800 Hz": ("resblocks.3", "resblocks.4", "resblocks.5"),
}


def error(predict: Predict, plans: list[Plan], channels: slice | Real = slice(None)) -> str:
    found = []
    for plan in plans:
        mean, deviation = (x[channels] for x in predict(plan))
        off = (mean - plan.mean[channels]) / plan.deviation[channels]
        found.append((np.mean(off**2) ** 0.5, np.mean(np.log(deviation / plan.deviation[channels]) ** 2) ** 0.5))
    means, deviations = np.mean(found, axis=0)
    return f"means {means:.4f}, log deviations {deviations:.4f}"


def curve(plans: list[Plan], new: list[Plan]) -> None:
    for count in (15, 24, 33, 44, 90, 180):
        if count <= len(plans):
            some = plans[:count]
            print(f"{count} takes: frozen {error(PerVoice.fit(some), new)}")
            print(f"{count} takes: centred {error(Ridge.fit(some, styled=False, centred=True), new)}")


def features(plans: list[Plan], new: list[Plan]) -> None:
    """Ridge on one kind of input at a time, less the voice's means."""
    ids = {plan.text: np.array([0, *Kokoro().tokens(plan.text), 0]) for plan in [*plans, *new]}

    def phonemes(plan: Plan) -> Real:
        shares = np.zeros(178)
        np.add.at(shares, ids[plan.text], plan.durations)
        return np.sqrt(shares / shares.sum()).astype(np.float32)

    kinds: dict[str, Callable[[Plan], Real]] = {
        "pooled": pooled,
        "style": lambda plan: plan.style[0, :128],
        "length": lambda plan: np.array([plan.frames], np.float32),
        "phonemes": phonemes,
    }
    frozen = PerVoice.fit(plans)
    print("frozen", error(frozen, new))
    voices = sorted({plan.voice for plan in plans})
    for kind, look in kinds.items():
        inputs = np.stack([look(plan) for plan in plans]).astype(np.float64)
        targets = np.stack([np.concatenate([p.mean / frozen.tables[p.voice][1], np.log(p.deviation)]) for p in plans])
        centres = {}
        for voice in voices:
            rows = [at for at, plan in enumerate(plans) if plan.voice == voice]
            centres[voice] = (inputs[rows].mean(axis=0), targets[rows].mean(axis=0))
            inputs[rows] -= centres[voice][0]
            targets[rows] -= centres[voice][1]
        spread = inputs.std(axis=0) + 1e-6
        x = inputs / spread
        for penalty in (10, 30, 100, 300):
            dual = np.linalg.solve(x @ x.T + penalty * x.shape[1] / 100 * np.eye(len(x)), targets)

            def predict(plan: Plan) -> tuple[Real, Real]:
                middle, base = centres[plan.voice]  # noqa: B023
                out = ((look(plan) - middle) / spread) @ x.T @ dual + base  # noqa: B023
                mean, deviation = np.split(out, 2)
                return mean * frozen.tables[plan.voice][1], np.exp(deviation)

            print(kind, penalty, error(predict, new))


def segments(plans: list[Plan], new: list[Plan]) -> None:
    """First and second moments of 100 ms, linear in what the low-rate side says of them, then pooled."""
    kokoro = Kokoro()
    slots, own = Generator(kokoro).slots, names(kokoro)
    channels = np.concatenate([np.arange(s.start, s.stop) for mean, s in slots.items() if mean in own])
    frozen = PerVoice.fit(plans)
    usual: dict[str, list[Real]] = {}
    for plan in plans:
        usual.setdefault(plan.voice, []).append(_parts(plan).mean(axis=0))
    inputs, targets = [], []
    for plan in plans:
        where = path("segments", plan.text, plan.voice)
        if not where.exists():
            continue
        with np.load(where) as kept:
            first, second = kept["first"], kept["second"]
        mean, deviation = plan.mean[channels], plan.deviation[channels]
        inputs.append(_parts(plan) - _parts(plan).mean(axis=0))
        centred = (second - 2 * mean * first + mean**2) / deviation**2 - 1
        targets.append(np.concatenate([(first - mean) / deviation, centred], axis=1))
    x, y = np.concatenate(inputs), np.concatenate(targets)
    spread = x.std(axis=0) + 1e-3
    x = x / spread
    gram, product = x.T @ x, x.T @ y
    print(f"{len(x)} segments; frozen", error(frozen, new, channels))
    for penalty in (100, 1_000, 10_000):
        weights = np.linalg.solve(gram + penalty * np.eye(len(gram)), product)

        def predict(plan: Plan) -> tuple[Real, Real]:
            out = ((_parts(plan).mean(axis=0) - np.mean(usual[plan.voice], axis=0)) / spread) @ weights  # noqa: B023
            first, second = np.split(out, 2)
            mean, deviation = (table.copy() for table in frozen.tables[plan.voice])
            mean[channels] += deviation[channels] * first
            deviation[channels] *= np.sqrt(np.maximum(1 + second - first**2, 0.2))
            return mean, deviation

        print(f"penalty {penalty}", error(predict, new, channels))


def _parts(plan: Plan) -> Real:
    """[segments, inputs]"""
    count = plan.frames // SEGMENT

    def cut(rows: Real, each: int) -> Real:
        return rows[:, : count * each * SEGMENT].reshape(len(rows), count, each * SEGMENT)

    low, source, f0, energy = cut(plan.low[0], 1), cut(plan.source[0], 60), cut(plan.f0, 1), cut(plan.energy, 1)
    voiced = f0 > 10
    pitch = (np.log(np.maximum(f0, 50)) * voiced).mean(axis=2)
    rms = [np.sqrt(np.square(x).mean(axis=2)) for x in (low, source)]
    few = [voiced.mean(axis=2), pitch, energy.mean(axis=2), energy.std(axis=2)]
    return np.concatenate([low.mean(axis=2), rms[0], source.mean(axis=2), rms[1], *few]).T


def blame(plans: list[Plan], new: list[Plan]) -> None:
    """The voice's means for one part, the truth for all others, of one take without chunks."""
    kokoro = Kokoro()
    generator = Generator(kokoro)
    users = {t["mean"]: name for name, t in kokoro.norms.items()}
    plan = new[1]
    guess = PerVoice.fit(plans)(plan)
    conditions = generator.conditions(plan.style)
    for part, patterns in PARTS.items():
        for what in ("both", "means", "deviations"):
            mean, deviation = plan.mean.copy(), plan.deviation.copy()
            for tensor, slot in generator.slots.items():
                if any(pattern in users[tensor] for pattern in patterns):
                    if what != "deviations":
                        mean[slot] = guess[0][slot]
                    if what != "means":
                        deviation[slot] = guess[1][slot]
            audio = generator.window(plan, 0, plan.frames, conditions | generator.statistics(mean, deviation))
            far = distance(plan.audio, audio, [], [])
            print(f"{part}, {what}: log-mel {far.mel_db:.3f} dB, timbre {far.timbre_db:.3f} dB", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    studies = {"curve": curve, "features": features, "segments": segments, "blame": blame}
    asked.add_argument("study", choices=studies)
    studies[asked.parse_args().study](list(stored("calibration")), list(stored("development")))


if __name__ == "__main__":
    main()
