"""Deliveries with planted faults: what the bench measures in order to prove that it measures. Pure.

The voice is synthetic: a tone of :data:`PITCH_HZ` with overtones, in syllables, so that its pitch, its length and its
level are known. A plan says what is wrong with its delivery; nothing else is.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from antiphon.audio.pcm import encode
from antiphon.core.frame import Samples

RATE_HZ = 24_000
PITCH_HZ = 120.0
SPEECH_S = 2.0
CHUNK_S = 0.1
_SYLLABLE_S = 0.2
_PARTIALS = (1.0, 0.6, 0.4, 0.25, 0.15)


@dataclass(frozen=True, slots=True)
class Plan:
    """One delivery.

    ``connect_s``: the door answers this late. ``delay_s``: request -> first chunk. ``padding_s``: silence before the
    speech. ``pace``: seconds of audio sent per second. ``late``: (chunk, seconds): that chunk alone is this late, those
    behind it only if it stands in their way. ``stall``: (chunk, seconds): nothing more is sent from before that chunk
    on for so long. ``cut_s``: so much is missing at the end. ``rate``: the audio is made for a sample rate this many
    times the stated one. ``status``: refused with it (0: served).
    """

    name: str
    connect_s: float = 0.0
    delay_s: float = 0.02
    padding_s: float = 0.0
    pace: float = 4.0
    late: tuple[tuple[int, float], ...] = ()
    stall: tuple[int, float] | None = None
    cut_s: float = 0.0
    rate: float = 1.0
    status: int = 0


HEALTHY = Plan("healthy")
PLANS: tuple[Plan, ...] = (
    HEALTHY,
    Plan("slow connection", connect_s=0.4),
    Plan("delay", delay_s=0.65),
    Plan("silence padding", padding_s=0.33),
    Plan("underruns", pace=1.0, late=((5, 0.08), (10, 0.12))),
    Plan("jitter", pace=2.0, late=tuple((chunk, 0.045) for chunk in range(1, 19, 3))),
    Plan("stall", stall=(8, 1.9)),
    Plan("stall, hidden by the lead", stall=(4, 0.25)),
    Plan("truncated tail", cut_s=0.27),
    Plan("wrong sample rate", rate=2 / 3),
    Plan("refusal", status=429),
)
"""What ``antiphon bench selftest`` plants. The cut lies inside a syllable."""


def voice(rate_hz: int = RATE_HZ, speech_s: float = SPEECH_S) -> Samples:
    """The synthetic voice ``[samples]``: syllables of 150 ms with 50 ms between them; the first begins at once."""
    time_s = np.arange(round(speech_s * rate_hz)) / rate_hz
    inside = time_s % _SYLLABLE_S
    edge = np.clip(np.minimum(inside + 0.004, 0.15 - inside) / 0.02, 0.0, 1.0)
    wave = sum(part * np.sin(2 * np.pi * PITCH_HZ * (at + 1) * time_s) for at, part in enumerate(_PARTIALS))
    return np.asarray(0.15 * np.sqrt(edge) * wave, np.float32)


def audio(plan: Plan) -> bytes:
    """All of its PCM, s16le, said to be at :data:`RATE_HZ`."""
    made = voice(round(RATE_HZ * plan.rate))
    kept = made[: len(made) - round(plan.cut_s * RATE_HZ * plan.rate)]
    silence = np.zeros(round(plan.padding_s * RATE_HZ), np.float32)
    return encode(np.concatenate((silence, kept)), "pcm_s16le")


@cache
def schedule(plan: Plan) -> tuple[tuple[float, bytes], ...]:
    """(seconds after the request, PCM) of each chunk, in order. Empty where the plan refuses."""
    if plan.status:
        return ()
    pcm, size = audio(plan), 2 * round(CHUNK_S * RATE_HZ)
    pieces = [pcm[at : at + size] for at in range(0, len(pcm), size)]
    late = dict(plan.late)
    held_s, before_s, sent = 0.0, 0.0, []
    for chunk, piece in enumerate(pieces):
        if plan.stall is not None and chunk == plan.stall[0]:
            held_s += plan.stall[1]
        at_s = plan.delay_s + chunk * CHUNK_S / plan.pace + held_s + late.get(chunk, 0.0)
        before_s = max(before_s, at_s)
        sent.append((before_s, piece))
    return tuple(sent)
