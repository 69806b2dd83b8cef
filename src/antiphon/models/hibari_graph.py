"""Cuts hibari's one ONNX graph in two, so that speech can be decoded in windows.

The graph is a text side with attention over the whole phrase (phonemes -> durations, F0 and frame features) and a
purely convolutional decoder (frame features -> spectrum) whose outputs see a third of a second to each side. Cut at
the features between them, the first half second of a long sentence costs a fraction of the sentence, and no call is
ever long.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable
from antiphon.models.session import Sessions, open_session
from antiphon.models.subgraph import subgraph

DURATIONS = "/Round_output_0"
FEATURES = "/Concat_43_output_0"
SPECTRA = "/head/Add_output_0"

FRAMES_PER_DURATION = 2
"""A duration counts 25 ms, a frame lasts 12.5 ms."""

BINS = 601
HALO_FRAMES = 15
"""Frames decoded on each side of a window and dropped. Nine convolutions of width 7 could see 27, but from 15 on a
window differs from the whole no more than two whole readings do (0.045 nepers: the rounding of its int8 scales)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the text side says of one phrase. ``durations`` [tokens] in frames (12.5 ms), ``features`` [1, 130, frames],
    ``f0`` [frames] in Hz (below 40: unvoiced). ``picks`` [frames], where it is given, are the frames of the features
    that are spoken: some are left out in fast speech."""

    durations: NDArray[np.int64]
    features: NDArray[np.float32]
    f0: NDArray[np.float32]
    picks: NDArray[np.int64] | None = None

    @property
    def frames(self) -> int:
        return len(self.f0)


class HibariGraph:
    """The two halves of the graph as ONNX Runtime sessions (one thread each; ``run`` is thread-safe)."""

    def __init__(self, path: Path, sessions: Sessions | None = None) -> None:
        try:
            model = path.read_bytes()
        except OSError as error:
            raise ModelUnavailable(f"hibari's graph cannot be read: {error}") from error
        try:
            text = subgraph(model, {}, (DURATIONS, FEATURES, "f0"), "hibari")
            decoder = subgraph(model, {FEATURES: (1, 130, "frames")}, (SPECTRA,), "hibari")
        except (ValueError, IndexError) as error:
            raise ModelUnavailable(f"hibari's graph is damaged: {error}") from error
        self._text = open_session(text, "hibari text", sessions)
        self._decoder = open_session(decoder, "hibari decoder", sessions)

    def plan(self, ids: list[int], speed: float) -> Plan:
        """Durations, features and F0 for token ids (with the 0 at both ends)."""
        feeds = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)}
        durations, features, f0 = self._text.run((DURATIONS, FEATURES, "f0"), feeds)
        # The graph gives every token at least one unit, whatever its rounded prediction.
        counts = np.maximum(durations.reshape(-1), 1.0).astype(np.int64) * FRAMES_PER_DURATION
        return Plan(counts, features, f0[0])

    def decode(self, plan: Plan, start: int, stop: int) -> NDArray[np.float32]:
        """Spectral parameters ``[stop - start, 5 * 601]`` of frames [start, stop): log magnitude and phase of the
        harmonic branch, log magnitude of the noise, log magnitude and phase of the free branch."""
        if plan.picks is not None:
            picks = plan.picks[start:stop]
            every = replace(plan, picks=None)
            decoded = self.decode(every, int(picks[0]), int(picks[-1]) + 1)
            picked: NDArray[np.float32] = decoded[picks - picks[0]]
            return picked
        frames = plan.features.shape[2]
        left, right = max(0, start - HALO_FRAMES), min(frames, stop + HALO_FRAMES)
        window = np.ascontiguousarray(plan.features[:, :, left:right])
        (out,) = self._decoder.run((SPECTRA,), {FEATURES: window})
        spectra: NDArray[np.float32] = out[0, start - left : stop - left]
        return spectra
