"""Cuts Kokoro's one ONNX graph in two: what is to be said and how long it takes, then the sound of it.

The text side (phonemes -> durations, F0, energy and one feature column for each frame) is cheap; the decoder is nearly
all of the cost, and takes statistics over all frames that it is given (AdaIN). Cut between them, the silence with which
the graph pads every call need not be decoded, and a sentence is planned as one and decoded clause by clause.

Source: Kokoro-82M v1.0 (StyleTTS 2, Li et al. 2023; iSTFTNet, Kaneko et al. 2022), its int8 export for ONNX Runtime.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import ModelUnavailable
from antiphon.models.session import Sessions, open_session
from antiphon.models.subgraph import subgraph

SAMPLE_RATE_HZ = 24_000
HOP = 600
"""Samples of a frame (25 ms), the unit of durations."""

MAX_TOKENS = 510
"""Of one call, without the 0 at both ends: the text encoder has places for no more."""

STYLE_DIM = 256
FEATURE_DIM = 512

DURATIONS = "/encoder/Clip_output_0"
FEATURES = "/encoder/MatMul_1_output_0"
F0 = "/encoder/Reshape_output_0"
ENERGY = "/encoder/Reshape_1_output_0"
AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class KokoroPlan:
    """What the text side says of one line. ``durations`` [tokens] in frames; ``features`` [1, 512, frames]; ``f0`` (Hz,
    near or below 0: unvoiced) and ``energy`` [1, 2 * frames], two values for each frame."""

    durations: NDArray[np.int64]
    features: NDArray[np.float32]
    f0: NDArray[np.float32]
    energy: NDArray[np.float32]

    @property
    def frames(self) -> int:
        return int(self.features.shape[2])


class KokoroGraph:
    """The two halves as ONNX Runtime sessions (one thread each; both methods are thread-safe)."""

    def __init__(self, path: Path, sessions: Sessions | None = None) -> None:
        """``path``: ``kokoro-v1.0.int8.onnx``. Raises ``ModelUnavailable``."""
        try:
            model = path.read_bytes()
        except OSError as error:
            raise ModelUnavailable(f"Kokoro's graph cannot be read: {error}") from error
        seams: dict[str, tuple[int | str, ...]] = {
            FEATURES: (1, FEATURE_DIM, "frames"),
            F0: (1, "halves"),
            ENERGY: (1, "halves"),
        }
        try:
            text = subgraph(model, {}, (DURATIONS, *seams), "Kokoro")
            decoder = subgraph(model, seams, (AUDIO,), "Kokoro")
        except (ValueError, IndexError) as error:
            raise ModelUnavailable(f"Kokoro's graph is damaged: {error}") from error
        self._text = open_session(text, "kokoro text", sessions)
        self._decoder = open_session(decoder, "kokoro decoder", sessions)

    def plan(self, ids: list[int], style: NDArray[np.float32], speed: float) -> KokoroPlan:
        """``ids``: at most 510 tokens, with the 0 at both ends beside them; ``style`` [1, 256]."""
        if len(ids) > MAX_TOKENS + 2:
            raise ValueError(f"{len(ids) - 2} tokens in one call; Kokoro takes {MAX_TOKENS}")
        durations, features, f0, energy = self._text.run(
            (DURATIONS, FEATURES, F0, ENERGY),
            {"tokens": np.asarray([ids], np.int64), "style": style, "speed": np.asarray([speed], np.float32)},
        )
        return KokoroPlan(durations.reshape(-1).astype(np.int64), features, f0, energy)

    def decode(self, plan: KokoroPlan, style: NDArray[np.float32], start: int, stop: int) -> NDArray[np.float32]:
        """Samples ``[(stop - start) * 600]`` of frames [start, stop), decoded as if there were no others."""
        feeds = {
            FEATURES: np.ascontiguousarray(plan.features[:, :, start:stop]),
            F0: np.ascontiguousarray(plan.f0[:, 2 * start : 2 * stop]),
            ENERGY: np.ascontiguousarray(plan.energy[:, 2 * start : 2 * stop]),
            "style": style,
        }
        (audio,) = self._decoder.run((AUDIO,), feeds)
        samples: NDArray[np.float32] = audio
        return samples
