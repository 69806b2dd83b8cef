"""Silero VAD: the probability of speech for each 32 ms of 16 kHz audio, as a step model with explicit state.

Source: the published ONNX graph (Silero Team, "Silero VAD", MIT). One frame is 512 new samples behind the last 64 of
the frame before; the recurrent state is ``[2, slots, 128]``. Both are one row of ``state`` here: float32
``[slots, 320]``.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import EngineFailed
from antiphon.core.frame import Samples
from antiphon.models.session import Sessions, load_session
from antiphon.models.tone import is_tone

SAMPLE_RATE_HZ = 16_000
FRAME_SAMPLES = 512

VOICED = 0.5
TONE = 0.45
"""Probability of a voice that is a pure tone: it begins no speech and ends none. Some notes are voices to the model."""

_CONTEXT = 64
_WIDTH = 128
_ROW = _CONTEXT + 2 * _WIDTH
_SILENT_FRAMES = 10


class SileroVad:
    """See :class:`antiphon.core.engine.StepModel`: inputs [slots, 512] -> probabilities [slots].

    Holds weights only; thread-safe, one core. Raises ``ModelUnavailable`` if the file cannot be loaded.
    """

    def __init__(self, path: Path, sessions: Sessions | None = None) -> None:
        self._session = load_session(path, "silero", sessions, "32 ms of sound are done sooner than sent there")
        self._rate = np.array(SAMPLE_RATE_HZ, np.int64)
        self._fresh = self._after_silence()

    def init_state(self, slots: int) -> Samples:
        """As after a little silence: from zeros, the model can miss a voice that is there from the first sample on for
        as long as it lasts, above all in telephone sound."""
        return np.repeat(self._fresh, slots, axis=0)

    def step(self, inputs: Samples, state: Samples, mask: NDArray[np.bool_]) -> tuple[Samples, Samples]:
        """One frame of each slot in ``mask``; masked-out slots keep their state and get probability 0."""
        live = np.flatnonzero(mask)
        probabilities = np.zeros(len(mask), np.float32)
        if not len(live):
            return probabilities, state
        frames = np.asarray(inputs[live], np.float32)
        rows = state[live]
        recurrent = rows[:, _CONTEXT:].reshape(len(live), 2, _WIDTH).transpose(1, 0, 2)
        feed: dict[str, Any] = {
            "input": np.concatenate((rows[:, :_CONTEXT], frames), axis=1),
            "state": np.ascontiguousarray(recurrent),
            "sr": self._rate,
        }
        try:
            output, after = self._session.run(None, feed)
        except Exception as error:
            raise EngineFailed(f"silero: {error}") from error
        new = state.copy()
        new[live, :_CONTEXT] = frames[:, -_CONTEXT:]
        new[live, _CONTEXT:] = after.transpose(1, 0, 2).reshape(len(live), 2 * _WIDTH)
        probabilities[live] = output[:, 0]
        for row in np.flatnonzero(probabilities >= VOICED):
            if is_tone(inputs[row]):
                probabilities[row] = TONE
        return probabilities, new

    def _after_silence(self) -> Samples:
        state, silence = np.zeros((1, _ROW), np.float32), np.zeros((1, FRAME_SAMPLES), np.float32)
        for _ in range(_SILENT_FRAMES):
            _, state = self.step(silence, state, np.ones(1, np.bool_))
        return state

    def save(self, state: Samples, slot: int) -> bytes:
        snapshot: bytes = state[slot].astype("<f4").tobytes()
        return snapshot

    def load(self, state: Samples, slot: int, snapshot: bytes) -> Samples:
        new = state.copy()
        new[slot] = np.frombuffer(snapshot, "<f4")
        return new

    def warm_up(self) -> None:
        """One real inference."""
        self.step(np.zeros((1, FRAME_SAMPLES), np.float32), self.init_state(1), np.ones(1, np.bool_))
