"""ssm, the state-space voice: symbols in, in any portions, sound out, with a fixed and small memory for each stream.

Two graphs (``train/voice/README.md`` says what goes in and out) and a vocoder in numpy. Everything is computed in
float32, nothing is quantised, and each step is rounded by itself, so neither a neighbour nor a chunk boundary changes a
slot, to the last bit. The one exception would be a matrix of one row, which ONNX Runtime multiplies by another routine:
such calls get a second row.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable
from antiphon.models.session import Sessions, open_session
from antiphon.models.ssm_knobs import Knobs, Normal
from antiphon.models.ssm_sound import LAG_SAMPLES, SAMPLE_RATE_HZ, Sound, noise
from antiphon.models.ssm_state import HOP, SsmState, load_slot, save_slot

FORMAT = 1
FRAMES_PER_STEP = 2
STEP_SAMPLES = FRAMES_PER_STEP * HOP
CONDITIONS = ("speed", "pitch", "range", "energy", "tone", "spread")
FILES = ("voice.json", "encoder.onnx", "decoder.onnx")

Real = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Frames:
    """Input of ``n`` steps for some rows: ``encodings`` [rows, 2 n, width], ``timing`` [rows, 2 n, 2] (frames since the
    symbol began, its duration), ``conditions`` [rows, n, 6], ``pitch`` [rows, 2 n, 2], ``white`` [rows, 2 n, 300]."""

    encodings: Real
    timing: Real
    conditions: Real
    pitch: Real
    white: Real

    @classmethod
    def join(cls, parts: Sequence["Frames"]) -> "Frames":
        """All rows of all parts, in order; all have as many steps."""
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def take(self, rows: Any) -> "Frames":
        return Frames(
            self.encodings[rows], self.timing[rows], self.conditions[rows], self.pitch[rows], self.white[rows]
        )


class SsmModel:
    """The graphs and the vocoder; see :class:`antiphon.core.engine.StepModel`. Stateless: workers may share it."""

    def __init__(self, folder: Path, sessions: Sessions | None = None) -> None:
        """``folder`` holds :data:`FILES`. Raises ``ModelUnavailable`` if it is incomplete, damaged or unknown."""
        about, graphs = _read(folder)
        self.symbols: dict[str, int] = about["symbols"]
        self.pad: int = about["pad"]
        self.lookahead: int = about["lookahead"]
        self.width: int = about["width"]
        self.normal = Normal(about["normal"]["ln_f0_scale"], about.get("default_f0_factor", 1.0))
        self.quality: str = about.get("quality", "")
        self._sizes = (about["state"]["encoder"], about["state"]["decoder"])
        vocoder = about["vocoder"]
        self._sound = Sound(tuple(vocoder["cepstra"]), vocoder["dispersion"])
        self.weights = hashlib.sha256(graphs["encoder.onnx"] + graphs["decoder.onnx"]).digest()
        self._encoder = open_session(graphs["encoder.onnx"], "ssm encoder", sessions)
        self._decoder = open_session(graphs["decoder.onnx"], "ssm decoder", sessions)

    # -- state -----------------------------------------------------------------------------------

    def init_state(self, slots: int) -> SsmState:
        return SsmState.start(slots, *self._sizes)

    def save(self, state: SsmState, slot: int) -> bytes:
        return save_slot(state, slot, self.weights)

    def load(self, state: SsmState, slot: int, snapshot: bytes) -> SsmState:
        """``state`` with row ``slot`` from ``snapshot``. Raises ``InvalidInput``."""
        load_slot(state, slot, snapshot, self.weights)
        return state

    # -- steps -----------------------------------------------------------------------------------

    def encode(
        self, ids: list[int], gap: int, knobs: Knobs, state: SsmState
    ) -> tuple[Real, NDArray[np.float64], SsmState]:
        """Push symbols and then ``gap`` empty places into the one row of ``state``. What comes out, symbols from
        ``lookahead`` places ago: encodings [m, width], durations [m] (frames, not yet whole), and the new state."""
        count = len(ids) + gap
        after = SsmState(state.encoder, state.decoder, state.cycles, state.f0, state.source, state.rest)
        encodings, present, logs, after.encoder = _run(
            self._encoder,
            ("encodings", "present", "log_durations", "next_state"),
            {
                "ids": np.array([[*ids, *[self.pad] * gap]], np.int64),
                "valid": np.array([[1.0] * len(ids) + [0.0] * gap], np.float32),
                "conditions": np.tile(knobs.conditions, (1, count, 1)),
                "state": state.encoder,
            },
        )
        out = present[0] >= 0.5
        durations = np.maximum(1.0, np.expm1(logs[0, out].astype(np.float64)) * knobs.stretch)
        return encodings[0, out], durations, after

    def advance(self, frames: Frames, state: SsmState) -> tuple[Real, SsmState]:
        """``n`` steps of all rows -> samples [rows, 600 n] and the new state of the rows."""
        after = SsmState(
            state.encoder, state.decoder, state.cycles.copy(), state.f0.copy(), state.source, state.rest
        )
        cepstra, f0, after.decoder = _run(
            self._decoder,
            ("cepstra", "f0", "next_state"),
            {
                "frames": frames.encodings,
                "timing": frames.timing,
                "conditions": frames.conditions,
                "pitch": frames.pitch,
                "state": state.decoder,
            },
        )
        return self._sound.frames(cepstra, f0, frames.white, after), after

    def step(self, inputs: Frames, state: SsmState, mask: NDArray[np.bool_]) -> tuple[Real, SsmState]:
        """``inputs`` for all slots, ``mask`` [slots] -> samples [slots, 600 n] (0 where masked out), new state."""
        rows = np.flatnonzero(mask)
        samples = np.zeros((len(mask), inputs.encodings.shape[1] * HOP), np.float32)
        after = state.take(slice(None))
        if rows.size:
            samples[rows], part = self.advance(inputs.take(rows), state.take(rows))
            after.put(rows, part)
        return samples, after


def noise_of(seed: int, at_sample: int, frames: int) -> Real:
    """Noise ``[frames, 300]`` of frames whose sound begins at absolute ``at_sample``."""
    return noise(seed, at_sample + HOP * np.arange(frames, dtype=np.int64))


def _run(graph: ort.InferenceSession, names: Sequence[str], feeds: dict[str, NDArray[Any]]) -> list[Real]:
    """``graph`` on ``feeds`` [rows, n or 2 n, ...]; one step of one row is computed twice, and once returned."""
    rows, steps = feeds["conditions"].shape[:2]
    if rows * steps > 1:
        out: list[Real] = graph.run(names, feeds)
        return out
    return [values[:1] for values in graph.run(names, {name: np.repeat(x, 2, axis=0) for name, x in feeds.items()})]


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    try:
        about: dict[str, Any] = json.loads((folder / "voice.json").read_text("utf-8"))
        graphs = {name: (folder / name).read_bytes() for name in FILES[1:]}
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"the state-space voice in {folder} cannot be read: {error}") from error
    try:
        for name, data in graphs.items():
            if hashlib.sha256(data).hexdigest() != about["sha256"][name]:
                raise ModelUnavailable(f"{folder / name} is damaged: its SHA-256 is not that of voice.json")
        numbers = (about["format"], about["sample_rate_hz"], about["hop"], about["frames_per_step"])
        given = (*numbers, tuple(about["conditions"]), about["vocoder"]["lag"])
    except (KeyError, TypeError) as error:
        raise ModelUnavailable(f"{folder / 'voice.json'} is incomplete: {error}") from error
    if given != (FORMAT, SAMPLE_RATE_HZ, HOP, FRAMES_PER_STEP, CONDITIONS, LAG_SAMPLES):
        made = about["format"]
        raise ModelUnavailable(f"{folder} holds a voice of another make (format {made}); this reads format {FORMAT}")
    return about, graphs
