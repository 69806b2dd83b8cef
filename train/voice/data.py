"""Speech of the teacher, in shards: the format, and its reader (numpy only).

A folder holds ``shard-000.npz``, ``shard-001.npz`` ... (written elsewhere and renamed into place, so a shard that can
be seen is whole), ``texts.tsv`` and ``manifest.json``. A shard holds about 200 utterances in these arrays:

==================  ========================  ==================================================================
``ids``             int16 [tokens]            symbols by hibari's vocabulary (0..177), all utterances in a row
``durations``       int16 [tokens]            frames of each symbol, at least 1
``mel``             float16 [frames, 80]      natural-log mel spectrum, see ``features.py``
``f0``              float32 [frames]          Hz in the middle of the frame, 0 where unvoiced
``wav``             int16 [frames * 300]      24 kHz, full scale 32767
``id_offsets``      int64 [n + 1]             utterance i owns tokens [id_offsets[i], id_offsets[i + 1])
``frame_offsets``   int64 [n + 1]             and frames [frame_offsets[i], frame_offsets[i + 1]), 300 samples each
``speed``           float32 [n]               asked rate of speech, 1 is the voice's own (0.8-1.25)
``pitch``           float32 [n]               asked shift of all F0 in semitones, 0 is the voice's own
``f0_range``        float32 [n]               asked factor on the distance of F0 (semitones) from its mean, 1: its own
``energy``          float32 [n]               asked effort, in the teacher's own units (0 is its own; see the teacher)
``kind``            int16 [n]                 index into ``KINDS``
``text``            int32 [n]                 line of ``texts.tsv`` (kind, text), from 0
``stats``           float32 [n, 4]            ``STATS``, measured
==================  ========================  ==================================================================

A frame is 300 samples (12.5 ms); frame t is samples [300 t, 300 t + 300), its mel and F0 belong to its middle. The sum
of an utterance's durations is its number of frames, which is even.

**Symbols.** ``ids`` of an utterance are ``[0, s1 ... sn, 0]``: the line of phonemes as the teacher reads it, between
two pads. Everything is a symbol with its own time: sounds, stress marks (before the vowel that they mark; their time
is heard as the beginning of that vowel), the space between words, and punctuation ``; : , . ! ? — …``.

**Times** say when a symbol is *heard* (the teacher's own durations run about 50 ms late; they are moved). Silence of
at least 50 ms is never part of a sound: around punctuation it is given to the punctuation and the spaces there, so a
comma lasts as long as its pause. The first pad is always 4 frames of silence. After the last sound there are always 8
frames: the final punctuation has 6 of them and the last pad 2 (8 if there is none; with several marks, 2 go to each
later one). At ``speed`` <= 1 all durations are even (the teacher counts in 25 ms), so two frames a step lose nothing.

Several sentences of one paragraph are one utterance, with the pauses between them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 24_000
HOP = 300
MELS = 80
PAD = 0
LEAD_FRAMES = 4
TRAIL_FRAMES = 8

KINDS = (
    "agent",  # what a voice agent says: orders, appointments, banking, travel, support, health
    "number",  # amounts, dates, times, codes, telephone numbers, spelled letters
    "name",  # sentences about people, streets, cities, companies
    "question",
    "short",  # one to three words
    "words",  # everyday words in simple sentences: variety
    "long",  # 20 to 50 words
    "paragraph",  # two to four sentences
)
STATS = ("f0_mean_st", "f0_std_st", "energy_db", "rate")
"""Mean and standard deviation of voiced F0 in semitones above 100 Hz; level of the sounding frames in dBFS; sounds (no
marks, spaces, punctuation) a second between the first and the last."""

Shard = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Utterance:
    """``ids`` and ``durations`` [tokens], ``mel`` [frames, 80], ``f0`` [frames], ``wav`` [frames * 300]: views of the
    shard's arrays, types as there. The rest as in the table above."""

    ids: NDArray[np.int16]
    durations: NDArray[np.int16]
    mel: NDArray[np.float16]
    f0: NDArray[np.float32]
    wav: NDArray[np.int16]
    speed: float
    pitch: float
    f0_range: float
    energy: float
    kind: int
    text: int
    stats: NDArray[np.float32]

    @property
    def frames(self) -> int:
        return len(self.f0)


def shard_paths(folder: Path) -> list[Path]:
    """The shards that are there now, in order."""
    return sorted(folder.glob("shard-*.npz"))


def load_shard(path: Path, wav: bool = True) -> Shard:
    """All arrays of one shard; without ``wav`` the largest is left on the disk (and is empty here)."""
    with np.load(path) as file:
        return {name: file[name] if wav or name != "wav" else np.zeros(0, np.int16) for name in file.files}


def utterances(shard: Shard) -> Iterator[Utterance]:
    """The utterances of a loaded shard, in order."""
    tokens, frames = shard["id_offsets"], shard["frame_offsets"]
    for i in range(len(tokens) - 1):
        t, f = slice(tokens[i], tokens[i + 1]), slice(frames[i], frames[i + 1])
        yield Utterance(
            ids=shard["ids"][t],
            durations=shard["durations"][t],
            mel=shard["mel"][f],
            f0=shard["f0"][f],
            wav=shard["wav"][frames[i] * HOP : frames[i + 1] * HOP],
            speed=float(shard["speed"][i]),
            pitch=float(shard["pitch"][i]),
            f0_range=float(shard["f0_range"][i]),
            energy=float(shard["energy"][i]),
            kind=int(shard["kind"][i]),
            text=int(shard["text"][i]),
            stats=shard["stats"][i],
        )


class Corpus:
    """A folder of shards that may still be growing. ``refresh`` reads what came since the last call."""

    def __init__(self, folder: Path, wav: bool = True) -> None:
        self._folder, self._wav = folder, wav
        self._seen: set[str] = set()
        self.utterances: list[Utterance] = []

    def refresh(self) -> int:
        """Number of utterances that were added."""
        before = len(self.utterances)
        for path in shard_paths(self._folder):
            if path.name not in self._seen:
                self._seen.add(path.name)
                self.utterances.extend(utterances(load_shard(path, self._wav)))
        return len(self.utterances) - before

    @property
    def seconds(self) -> float:
        return sum(utterance.frames for utterance in self.utterances) * HOP / SAMPLE_RATE_HZ


def manifest(folder: Path) -> dict[str, Any]:
    """``manifest.json`` of a finished folder. Raises ``FileNotFoundError`` while it is not finished."""
    read: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return read


def main() -> None:
    from train.voice.data_make import main as make

    make()


if __name__ == "__main__":
    main()
