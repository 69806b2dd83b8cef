"""How the state-space voice is asked to speak: speed, pitch, range, energy, and emotions made of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

LEARNT_SPEED = (0.8, 1.25)
"""Speeds asked of the graphs; beyond, the durations that they give are stretched or squeezed."""


@dataclass(frozen=True, slots=True)
class Normal:
    """``ln_f0_scale`` is how far F0's logarithm spreads in the model's units, ``f0_factor`` how lively it is by
    default."""

    ln_f0_scale: float
    f0_factor: float


@dataclass(frozen=True)
class Knobs:
    """``speed`` 1 is the voice's own, 2 twice as fast; ``pitch`` in semitones; ``f0_range`` a factor on the distance of
    F0 from its mean; ``energy`` in tenths of vocal effort (0.1 is about 1.6 dB, with the tilt of louder speech)."""

    speed: float = 1.0
    pitch: float = 0.0
    f0_range: float = 1.0
    energy: float = 0.0

    @cached_property
    def conditions(self) -> NDArray[np.float32]:
        """``[6]``, what the graphs are told."""
        speed = min(max(self.speed, LEARNT_SPEED[0]), LEARNT_SPEED[1])
        values = (4 * np.log(speed), self.pitch / 3, 3 * np.log(self.f0_range), 5 * self.energy, 0.0, 0.0)
        return np.array(values, np.float32)

    @cached_property
    def stretch(self) -> float:
        """What durations are multiplied by."""
        return min(max(self.speed, LEARNT_SPEED[0]), LEARNT_SPEED[1]) / self.speed

    def melody(self, normal: Normal) -> NDArray[np.float32]:
        """``[2]``, factor and shift of F0's melody."""
        shift = self.pitch * np.log(2) / 12 / normal.ln_f0_scale
        return np.array((self.f0_range * normal.f0_factor, shift), np.float32)


_PRESETS: dict[str, tuple[tuple[float, float, float, float], str]] = {
    # speed factor, pitch, range, energy
    "happy": ((1.04, 1.2, 1.25, 0.10), "happy content enthusiastic joking comedic flirtatious grateful"),
    "excited": ((1.10, 2.0, 1.40, 0.20), "excited elated euphoric triumphant amazed surprised anticipation"),
    "calm": ((0.93, -0.6, 0.80, -0.10), "calm peaceful serene trust contemplative affectionate nostalgic wistful"),
    "sad": ((0.88, -1.6, 0.65, -0.20), "sad dejected melancholic disappointed hurt guilty rejected resigned"),
    "tired": ((0.84, -1.4, 0.60, -0.25), "tired bored distant"),
    "angry": ((1.08, 0.6, 1.20, 0.24), "angry mad outraged frustrated agitated threatened disgusted contempt"),
    "scared": ((1.14, 2.2, 1.15, 0.05), "scared anxious panicked alarmed"),
    "sympathetic": ((0.92, -0.3, 0.90, -0.12), "sympathetic apologetic hesitant insecure confused"),
    "confident": ((1.0, -0.5, 1.10, 0.14), "confident proud determined"),
    "curious": ((1.02, 0.8, 1.25, 0.02), "curious mysterious skeptical sarcastic ironic envious"),
}
_EMOTIONS = {name: values for values, names in _PRESETS.values() for name in names.split()}


def knobs_for(speed: float, emotion: str | None) -> Knobs | None:
    """Knobs for a speed and an emotion by name (Cartesia's names; a level as in ``anger:high`` is not read); None if
    the emotion is not known. The emotion's own tempo multiplies ``speed``."""
    name = (emotion or "neutral").lower()
    if name == "neutral":
        return Knobs(speed)
    found = _EMOTIONS.get(name)
    if found is None:
        return None
    tempo, pitch, f0_range, energy = found
    return Knobs(speed * tempo, pitch, f0_range, energy)
