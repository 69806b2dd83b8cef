"""Clips under worse conditions: recorded noise at a given ratio, rooms, telephone lines. Pure and seeded.

The ratio of speech to noise is that of the active speech level (``audio.activity``) to the power of the added noise, so
that pauses in the speech do not count. Where the sum would clip, all of it is made quieter.
"""

import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from antiphon.audio.activity import speech_level_dbfs
from antiphon.bench.clip import Clip
from antiphon.core.frame import Samples

TELEPHONE_RATE_HZ = 8_000
TELEPHONE_BAND_HZ = (300.0, 3_400.0)
PEAK = 0.98
_HALF_TAPS = 127


def noisy(clip: Clip, noises: Mapping[str, Samples], snr_db: float, seed: int, name: str | None = None) -> Clip:
    """One of the ``noises`` (at the clip's rate, chosen by seed and clip's name), repeated from a random place on."""
    rng = random.Random(f"antiphon-bench:noise:{seed}:{snr_db:g}:{clip.name}")
    noise = noises[rng.choice(sorted(noises))]
    added = looped(noise, len(clip.samples), rng.randrange(len(noise)))
    power = float(np.square(added, dtype=np.float64).mean())
    level = speech_level_dbfs(clip.samples, clip.rate_hz)
    if not np.isfinite(level) or power <= 0:
        return clip
    gain = 10 ** ((level - snr_db) / 20) / power**0.5
    return clip.with_samples(_unclipped(clip.samples + np.float32(gain) * added), name or f"noise {snr_db:g} dB")


def in_room(clip: Clip, responses: Mapping[str, Samples], seed: int, name: str = "room") -> Clip:
    """One of the room ``responses`` (at the clip's rate). The direct sound stays where it was, the speech as loud."""
    rng = random.Random(f"antiphon-bench:room:{seed}:{clip.name}")
    response = responses[rng.choice(sorted(responses))]
    direct = int(np.argmax(np.abs(response)))
    wet = _convolved(clip.samples, response)[direct : direct + len(clip.samples)]
    before, after = (np.sqrt(np.square(sound, dtype=np.float64).mean()) for sound in (clip.samples, wet))
    return clip.with_samples(_unclipped(wet * (before / after if after > 0 else 1.0)), name)


def telephone(clip: Clip, name: str = "telephone") -> Clip:
    """300-3400 Hz at 8 kHz, sent as mu-law."""
    slow = clip.at_rate(TELEPHONE_RATE_HZ)
    at = np.arange(-_HALF_TAPS, _HALF_TAPS + 1)
    low, high = (2 * edge / TELEPHONE_RATE_HZ for edge in TELEPHONE_BAND_HZ)
    taps = (high * np.sinc(high * at) - low * np.sinc(low * at)) * np.hamming(len(at))
    heard = _convolved(slow.samples, taps)[_HALF_TAPS : _HALF_TAPS + len(slow.samples)]
    return replace(slow.with_samples(_unclipped(heard), name), encoding="pcm_mulaw")


def looped(samples: Samples, count: int, start: int = 0) -> Samples:
    """``count`` samples of an endless repetition of ``samples``, from place ``start`` on."""
    if not len(samples):
        raise ValueError("there is nothing to repeat")
    return np.asarray(np.resize(np.roll(samples, -start), count), np.float32)


def _convolved(left: Samples, right: NDArray[np.floating]) -> NDArray[np.float64]:
    """All ``len(left) + len(right) - 1`` samples."""
    count = len(left) + len(right) - 1
    size = 1 << max(1, count - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)[:count]


def _unclipped(samples: NDArray[np.floating]) -> Samples:
    peak = float(np.abs(samples).max(initial=0.0))
    return np.asarray(samples * (PEAK / peak) if peak > PEAK else samples, np.float32)
