"""Makes the shards: ``python -m train.voice.data --out build/voice/data --hours 10``; resumable."""

import argparse
import hashlib
import json
import os
import platform
import time
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from train.voice.data import HOP, KINDS, SAMPLE_RATE_HZ, STATS, Shard, load_shard, shard_paths
from train.voice.data_teacher import Prosody, Take, Teacher, Unspeakable
from train.voice.text import Line, lines

SEED = 20_261_201
PER_SHARD = 200
FAST, COLOURED = 0.20, 0.18
"""Shares of utterances at another speed, and with another pitch, range and effort (half of those at another speed)."""


def prosody_of(seed: int, index: int) -> Prosody:
    """What is asked of the teacher for line ``index``."""
    rng = np.random.default_rng((seed, index))
    draw, speed = rng.random(), float(np.exp2(rng.uniform(np.log2(0.8), np.log2(1.25))))
    if draw < FAST:
        return Prosody(speed=round(speed, 3))
    if draw < FAST + COLOURED:
        return Prosody(
            speed=round(speed, 3) if rng.random() < 0.5 else 1.0,
            pitch=round(float(rng.uniform(-3, 3)), 2),
            f0_range=round(float(rng.uniform(0.5, 1.5)), 2),
            energy=round(float(rng.uniform(-0.3, 0.25)), 3),
        )
    return Prosody()


def make_shard(teacher: Teacher, chosen: list[tuple[int, Line]], seed: int) -> tuple[Shard, list[str]]:
    """The takes of these (index, line), and what could not be said."""
    takes: list[tuple[int, Line, Take]] = []
    failed: list[str] = []
    for index, line in chosen:
        try:
            takes.append((index, line, teacher.say(line.text, prosody_of(seed, index), index)))
        except Unspeakable as error:
            failed.append(f"{index}: {error}")
    return pack(takes), failed


def pack(takes: list[tuple[int, Line, Take]]) -> Shard:
    """Takes as the arrays of a shard."""
    every = [take for _, _, take in takes]
    return {
        "ids": np.concatenate([take.ids for take in every]),
        "durations": np.concatenate([take.durations for take in every]),
        "mel": np.concatenate([take.mel for take in every]),
        "f0": np.concatenate([take.f0 for take in every]),
        "wav": np.concatenate([take.wav for take in every]),
        "id_offsets": np.cumsum([0, *(len(take.ids) for take in every)], dtype=np.int64),
        "frame_offsets": np.cumsum([0, *(len(take.f0) for take in every)], dtype=np.int64),
        "speed": np.array([take.prosody.speed for take in every], np.float32),
        "pitch": np.array([take.prosody.pitch for take in every], np.float32),
        "f0_range": np.array([take.prosody.f0_range for take in every], np.float32),
        "energy": np.array([take.prosody.energy for take in every], np.float32),
        "kind": np.array([KINDS.index(line.kind) for _, line, _ in takes], np.int16),
        "text": np.array([index for index, _, _ in takes], np.int32),
        "stats": np.stack([take.stats for take in every]),
    }


def write_shard(path: Path, shard: Shard) -> None:
    """Whole or not at all."""
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("wb") as file:
        np.savez(file, **shard)  # type: ignore[arg-type]  # numpy's stub takes the names for its own options
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def summary(out: Path, texts: bytes, seed: int, failed: list[str]) -> dict[str, Any]:
    counts = dict.fromkeys(KINDS, 0)
    seconds = dict.fromkeys(KINDS, 0.0)
    stats = []
    for path in shard_paths(out):
        shard = load_shard(path, wav=False)
        frames = np.diff(shard["frame_offsets"])
        stats.append(shard["stats"])
        for index, kind in enumerate(KINDS):
            mine = shard["kind"] == index
            counts[kind] += int(mine.sum())
            seconds[kind] += float(frames[mine].sum()) * HOP / SAMPLE_RATE_HZ
    every = np.concatenate(stats)
    return {
        "seed": seed,
        "utterances": sum(counts.values()),
        "hours": round(sum(seconds.values()) / 3600, 3),
        "counts": counts,
        "seconds": {kind: round(value, 1) for kind, value in seconds.items()},
        "failed": failed,
        "stats_mean": dict(zip(STATS, every.mean(axis=0).round(3).tolist(), strict=True)),
        "stats_std": dict(zip(STATS, every.std(axis=0).round(3).tolist(), strict=True)),
        "texts_sha256": hashlib.sha256(texts).hexdigest(),
        "teacher_sha256": hashlib.sha256((files("hibari") / "assets" / "hibari.onnx").read_bytes()).hexdigest(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("hibari-tts", "numpy", "onnxruntime", "scipy", "antiphon")},
        },
    }


def make(out: Path, hours: float, seed: int, limit: int | None = None) -> None:
    """Shards into ``out`` until there are ``hours`` of speech; those that are there already are kept."""
    out.mkdir(parents=True, exist_ok=True)
    wanted = lines(seed)[:limit]
    texts = "".join(f"{line.kind}\t{line.text}\n" for line in wanted).encode()
    listed = out / "texts.tsv"
    if listed.exists() and listed.read_bytes() != texts:
        raise SystemExit(f"{out} was made from other texts; choose another folder or remove it")
    listed.write_bytes(texts)
    teacher = Teacher(Path(str(files("hibari") / "assets" / "hibari.onnx")))
    begun, seconds, failed = time.monotonic(), 0.0, list[str]()
    for number, at in enumerate(range(0, len(wanted), PER_SHARD)):
        path = out / f"shard-{number:03d}.npz"
        if not path.exists():
            shard, lost = make_shard(teacher, list(enumerate(wanted))[at : at + PER_SHARD], seed)
            failed += lost
            write_shard(path, shard)
        with np.load(path) as file:
            seconds += float(file["frame_offsets"][-1]) * HOP / SAMPLE_RATE_HZ
        print(f"{path.name}  {seconds / 3600:.2f} h  {time.monotonic() - begun:.0f} s", flush=True)
        if seconds >= hours * 3600:
            break
    (out / "manifest.json").write_text(json.dumps(summary(out, texts, seed, failed), indent=1) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/voice/data"))
    parser.add_argument("--hours", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--limit", type=int, help="use only so many lines of text")
    chosen = parser.parse_args()
    make(chosen.out, chosen.hours, chosen.seed, chosen.limit)


if __name__ == "__main__":
    main()
