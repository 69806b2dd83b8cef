from pathlib import Path

import numpy as np
import pytest
from train.voice.data_make import pack, prosody_of, write_shard
from train.voice.data_teacher import Prosody, Take
from train.voice.text import Line

from train.voice import data


def take(seed: int) -> Take:
    rng = np.random.default_rng(seed)
    durations = rng.integers(2, 9, rng.integers(3, 9)).astype(np.int16)
    frames = int(durations.sum())
    return Take(
        ids=rng.integers(1, 177, len(durations)).astype(np.int16),
        durations=durations,
        mel=rng.normal(size=(frames, 80)).astype(np.float16),
        f0=rng.uniform(0, 300, frames).astype(np.float32),
        wav=rng.integers(-9, 9, frames * 300).astype(np.int16),
        prosody=Prosody(speed=0.5 + seed),
        stats=rng.normal(size=4).astype(np.float32),
    )


def some(first: int) -> list[tuple[int, Line, Take]]:
    return [(i, Line(data.KINDS[i % 3], "x"), take(i)) for i in range(first, first + 3)]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_shard(tmp_path / "shard-000.npz", pack(some(0)))
    corpus = data.Corpus(tmp_path)
    assert corpus.refresh() == 3
    for (index, line, original), read in zip(some(0), corpus.utterances, strict=True):
        assert np.array_equal(read.ids, original.ids)
        assert np.array_equal(read.durations, original.durations)
        assert np.array_equal(read.mel, original.mel)
        assert np.array_equal(read.f0, original.f0)
        assert np.array_equal(read.wav, original.wav)
        assert np.array_equal(read.stats, original.stats)
        assert (read.speed, read.text) == (original.prosody.speed, index)
        assert data.KINDS[read.kind] == line.kind
    assert corpus.seconds == pytest.approx(sum(len(item.f0) for _, _, item in some(0)) / 80)


def test_a_growing_folder_is_read_on(tmp_path: Path) -> None:
    write_shard(tmp_path / "shard-000.npz", pack(some(0)))
    corpus = data.Corpus(tmp_path, wav=False)
    assert corpus.refresh() == 3
    assert corpus.refresh() == 0
    (tmp_path / "shard-001.77.part").write_bytes(b"half a shard")
    write_shard(tmp_path / "shard-001.npz", pack(some(3)))
    assert corpus.refresh() == 3
    assert [utterance.text for utterance in corpus.utterances] == list(range(6))
    assert len(corpus.utterances[0].wav) == 0


def test_a_shard_appears_whole(tmp_path: Path) -> None:
    write_shard(tmp_path / "shard-000.npz", pack(some(0)))
    assert [path.name for path in tmp_path.iterdir()] == ["shard-000.npz"]


def test_prosody_depends_on_seed_and_line_only() -> None:
    asked = [prosody_of(1, i) for i in range(2000)]
    assert asked == [prosody_of(1, i) for i in range(2000)]
    fast = sum(prosody.speed != 1 for prosody in asked) / 2000
    plain = sum(prosody == Prosody() for prosody in asked) / 2000
    assert 0.25 < fast < 0.34
    assert 0.57 < plain < 0.67
    assert all(0.8 <= prosody.speed <= 1.25 for prosody in asked)
