"""DNSMOS P.835: how good speech, background and the whole sound, as a network guesses people would say (1 to 5).

Source: Reddy et al., "DNSMOS P.835", ICASSP 2022; the graph ``sig_bak_ovr.onnx`` takes 9.01 s of 16 kHz audio, and its
raw answers go through the published polynomials. Shorter audio is repeated. The authors' script takes a window at every
second, which costs seconds of a core for each take; here it is at most three, evenly spread. It was trained on noisy
recordings: read it as a comparison of systems in one run, not as a verdict on a voice.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

from antiphon.core.frame import Samples

RATE_HZ = 16_000
WINDOW_SAMPLES = 144_160
WINDOWS = 3
_FITS = (
    (-0.08397278, 1.22083953, 0.0052439),
    (-0.13166888, 1.60915514, -0.39604546),
    (-0.06766283, 1.11546468, 0.04602535),
)


@dataclass(frozen=True, slots=True)
class Mos:
    speech: float
    background: float
    overall: float


class Dnsmos:
    """``path``: the graph. Call it with 16 kHz mono float32 in -1..1; not to be called with nothing."""

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name

    def __call__(self, samples: Samples) -> Mos:
        audio = np.asarray(samples, np.float32)
        if not len(audio):
            raise ValueError("there is nothing to listen to")
        while len(audio) < WINDOW_SAMPLES:
            audio = np.concatenate((audio, audio))
        starts = range((len(audio) - WINDOW_SAMPLES) // RATE_HZ + 1)
        count = min(WINDOWS, len(starts))
        answers = []
        for second in (starts[at * len(starts) // count] for at in range(count)):
            window = audio[second * RATE_HZ : second * RATE_HZ + WINDOW_SAMPLES]
            raw = self._session.run(None, {self._input: window[None]})[0][0]
            answers.append([np.polyval(fit, value) for fit, value in zip(_FITS, raw, strict=True)])
        speech, background, overall = (float(value) for value in np.mean(answers, axis=0))
        return Mos(speech, background, overall)
