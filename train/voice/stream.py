"""The voice as a stream, the slow reference: symbols in, in any portions, samples out (numpy and ONNX Runtime only).

``python -m train.voice.stream --text "Hello there." --out hello.wav`` reads text through the teacher's front end.
"""

import argparse
import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from train.voice import dsp

Real = NDArray[np.float32]

PAD = 0


@dataclass(frozen=True, slots=True)
class Knobs:
    """``speed`` 1 is the voice's own, 2 twice as fast; ``pitch`` in semitones; ``f0_range`` a factor on F0's spread;
    ``energy`` in the teacher's units; ``tone`` and ``spread`` in deviations over sentences."""

    speed: float = 1.0
    pitch: float = 0.0
    f0_range: float = 1.0
    energy: float = 0.0
    tone: float = 0.0
    spread: float = 0.0

    def conditions(self) -> Real:
        """``[6]``, see ``model.CONDITIONS``."""
        values = (4 * np.log(self.speed), self.pitch / 3, 3 * np.log(self.f0_range), 5 * self.energy)
        return np.array((*values, self.tone, self.spread), np.float32)


class Voice:
    """The exported graphs. Raises ``FileNotFoundError``, or ``ValueError`` for files of another format or damaged."""

    def __init__(self, folder: Path) -> None:
        self.about: dict[str, Any] = json.loads((folder / "voice.json").read_text("utf-8"))
        if self.about["format"] != 1:
            raise ValueError(f"{folder} holds format {self.about['format']}; this reads format 1")
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        for name, digest in self.about["sha256"].items():
            data = (folder / name).read_bytes()
            if hashlib.sha256(data).hexdigest() != digest:
                raise ValueError(f"{folder / name} is damaged: its SHA-256 is not that of voice.json")
        self.encoder = ort.InferenceSession(str(folder / "encoder.onnx"), options, providers=["CPUExecutionProvider"])
        self.decoder = ort.InferenceSession(str(folder / "decoder.onnx"), options, providers=["CPUExecutionProvider"])

    def ids(self, symbols: str) -> list[int]:
        """``[0, s1 ... sn, 0]``. Raises ``KeyError`` for a symbol that the voice does not have."""
        return [PAD, *(self.about["symbols"][symbol] for symbol in symbols), PAD]


@dataclass(slots=True)
class Held:
    """A symbol whose frames are still to come."""

    encoding: Real
    frames: int
    done: int = 0


@dataclass(slots=True)
class Stream:
    """One stream. ``push`` symbols and ``end`` sentences; ``pull`` samples, two frames (600 samples) a step.

    ``knobs`` may be changed at any time: speed acts on symbols not yet encoded, the rest from the next step on.
    """

    voice: Voice
    seed: int = 0
    knobs: Knobs = field(default_factory=Knobs)
    at_sample: int = 0
    steps_per_call: int = 4
    durations: list[int] = field(default_factory=list)
    """Frames of each symbol so far: start times are their running sum."""
    _queue: list[Held] = field(default_factory=list)
    _encoder_state: Real = field(init=False)
    _state: Real = field(init=False)
    _sound: dsp.SoundState = field(init=False)
    _exact: float = 0.0
    _rounded: int = 0
    _ended: bool = False

    def __post_init__(self) -> None:
        sizes = self.voice.about["state"]
        self._encoder_state = np.zeros((1, sizes["encoder"]), np.float32)
        self._state = np.zeros((1, sizes["decoder"]), np.float32)
        self._sound = dsp.start()

    def push(self, ids: list[int], durations: list[int] | None = None) -> None:
        """Symbols of one sentence (its first and last is the pad), in any portions. ``durations``: use these instead
        of the voice's own for the symbols that come out."""
        self._encode(ids, [1.0] * len(ids), durations)

    def end(self, durations: list[int] | None = None) -> None:
        """The sentence is complete: what was held back for its lookahead is encoded."""
        gap = self.voice.about["lookahead"]
        self._encode([PAD] * gap, [0.0] * gap, durations)
        self._ended = True

    def _encode(self, ids: list[int], valid: list[float], durations: list[int] | None) -> None:
        if not ids:
            return
        self._ended = False
        # Durations are the plain voice's, divided by the speed: exact, which a learnt condition is not.
        conditions = np.tile(replace(self.knobs, speed=1.0).conditions(), (1, len(ids), 1))
        feeds = {"ids": np.array([ids], np.int64), "valid": np.array([valid], np.float32)}
        encodings, present, logs, self._encoder_state = self.voice.encoder.run(
            None, feeds | {"conditions": conditions, "state": self._encoder_state}
        )
        for encoding, is_symbol, log in zip(encodings[0], present[0], logs[0], strict=True):
            if is_symbol < 0.5:
                continue
            if durations:
                frames = durations.pop(0)
            else:
                self._exact += max(1.0, float(np.expm1(np.float64(log))) / self.knobs.speed)
                frames = round(self._exact) - self._rounded
                self._rounded += frames
            self.durations.append(frames)
            self._queue.append(Held(encoding, frames))

    @property
    def frames_ready(self) -> int:
        """Frames that can be made now."""
        return sum(held.frames - held.done for held in self._queue)

    def pull(self) -> Real:
        """All samples that can be made now. An odd last frame waits for more symbols; at the end of a sentence it is
        made by prolonging the last pad."""
        if self._ended and self.frames_ready % 2:
            self._queue[-1].frames += 1
            self.durations[-1] += 1
        made = []
        while (steps := min(self.frames_ready // 2, self.steps_per_call)) > 0:
            made.append(self._steps(steps))
        return np.concatenate(made) if made else np.zeros(0, np.float32)

    def pitch(self) -> tuple[Real, Real]:
        """F0 (Hz) and voicing of the frames that can be made now, without making their sound."""
        f0, voiced = [], []
        while (steps := min(self.frames_ready // 2, self.steps_per_call)) > 0:
            _, hz, said, *_ = self._decode(steps)
            f0.append(hz[0])
            voiced.append(said[0])
        return np.concatenate(f0), np.concatenate(voiced)

    def _steps(self, steps: int) -> Real:
        cepstra, f0, *_ = self._decode(steps)
        made = []
        for row, hz in zip(cepstra[0], f0[0], strict=True):
            made.append(dsp.frame(self._sound, row, float(hz), dsp.noise(self.seed, self.at_sample)))
            self.at_sample += dsp.HOP
        return np.concatenate(made)

    def _decode(self, steps: int) -> list[Real]:
        encodings, timing = [], []
        for _ in range(2 * steps):
            while self._queue[0].done == self._queue[0].frames:
                self._queue.pop(0)
            held = self._queue[0]
            encodings.append(held.encoding)
            timing.append((held.done, held.frames))
            held.done += 1
        while self._queue and self._queue[0].done == self._queue[0].frames:
            self._queue.pop(0)
        factor = self.knobs.f0_range * self.voice.about.get("default_f0_factor", 1.0)
        shift = self.knobs.pitch * np.log(2) / 12 / self.voice.about["normal"]["ln_f0_scale"]
        outputs: list[Real] = self.voice.decoder.run(
            None,
            {
                "frames": np.stack(encodings)[None],
                "timing": np.array(timing, np.float32)[None],
                "conditions": np.tile(self.knobs.conditions(), (1, steps, 1)),
                "pitch": np.tile(np.array((factor, shift), np.float32), (1, 2 * steps, 1)),
                "state": self._state,
            },
        )
        self._state = outputs[-1]
        return outputs


def speak(voice: Voice, symbols: str, knobs: Knobs | None = None, seed: int = 0) -> Real:
    """A whole sentence in one go, without the silence that the teacher puts before it."""
    stream = Stream(voice, seed, knobs or Knobs())
    stream.push(voice.ids(symbols))
    stream.end()
    return stream.pull()


def main() -> None:
    import soundfile

    from train.voice.data_teacher import Teacher

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voice", type=Path, default=Path("build/voice/export"))
    parser.add_argument("--text", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--pitch", type=float, default=0.0)
    options = parser.parse_args()
    from importlib.resources import files

    teacher = Teacher(Path(str(files("hibari") / "assets" / "hibari.onnx")))
    knobs = replace(Knobs(), speed=options.speed, pitch=options.pitch)
    samples = speak(Voice(options.voice), teacher.symbols(options.text), knobs)
    soundfile.write(options.out, samples, dsp.SAMPLE_RATE_HZ, subtype="PCM_16")


if __name__ == "__main__":
    main()
