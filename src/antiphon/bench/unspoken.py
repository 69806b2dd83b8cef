"""Streams in which nobody says anything: an ear must write nothing down. Pure and seeded."""

from collections.abc import Mapping

import numpy as np

from antiphon.bench.clip import EAR_RATE_HZ, Clip
from antiphon.bench.spoil import looped
from antiphon.core.frame import Samples

LENGTH_S = 60.0
GROUP = "nothing said"

_CHORDS = ((220.0, 277.18, 329.63), (196.0, 246.94, 293.66), (174.61, 220.0, 261.63), (196.0, 246.94, 329.63))
_BEAT_S = 0.5
_PARTIALS = (1.0, 0.5, 0.3, 0.2, 0.1)


def unspoken(noises: Mapping[str, Samples], length_s: float = LENGTH_S, seed: int = 1) -> list[Clip]:
    """Digital silence, a quiet room, white and pink noise, hum, music, clicks; and each of ``noises`` (16 kHz)."""
    count = round(length_s * EAR_RATE_HZ)
    rng = np.random.default_rng(seed)
    white = rng.standard_normal(count)
    time_s = np.arange(count) / EAR_RATE_HZ
    hum = sum(np.sin(2 * np.pi * 50 * part * time_s) / part for part in (1, 2, 3, 5))
    made = {
        "digital silence": np.zeros(count),
        "quiet room": 10 ** (-60 / 20) * white,
        "white noise": 0.05 * white,
        "pink noise": 0.05 * _pink(rng, count),
        "mains hum": 0.02 * hum,
        "synthesised music": 0.15 * _music(count),
        "knocks": _knocks(rng, count),
    }
    recorded = {name: looped(samples, count) for name, samples in sorted(noises.items())}
    return [
        Clip(name, np.asarray(samples, np.float32), reference="", group=GROUP)
        for name, samples in {**made, **recorded}.items()
    ]


def _pink(rng: np.random.Generator, count: int) -> Samples:
    spectrum = np.fft.rfft(rng.standard_normal(count))
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    spectrum[0] = 0
    sound = np.fft.irfft(spectrum, count)
    return np.asarray(sound / sound.std(), np.float32)


def _music(count: int) -> Samples:
    """Plucked chords with a melody above them, two beats a second."""
    beat = round(_BEAT_S * EAR_RATE_HZ)
    time_s = np.arange(2 * beat) / EAR_RATE_HZ
    fade = np.exp(-3 * time_s) * np.minimum(1, time_s / 0.01)
    sound = np.zeros(count + 2 * beat)
    for index, at in enumerate(range(0, count, beat)):
        chord = _CHORDS[index // 4 % len(_CHORDS)]
        for pitch in (*chord, 2 * chord[index % 3]):
            for number, strength in enumerate(_PARTIALS, 1):
                sound[at : at + 2 * beat] += strength * fade * np.sin(2 * np.pi * pitch * number * time_s)
    return np.asarray(sound[:count] / np.abs(sound).max(), np.float32)


def _knocks(rng: np.random.Generator, count: int) -> Samples:
    """Short bursts at random: doors, keys, a microphone that is touched."""
    sound = 10 ** (-62 / 20) * rng.standard_normal(count)
    length = EAR_RATE_HZ // 12
    fade = np.exp(-np.arange(length) / (EAR_RATE_HZ / 60))
    for at in rng.integers(0, max(1, count - length), max(1, count // EAR_RATE_HZ)):
        sound[at : at + length] += rng.uniform(0.05, 0.4) * fade * rng.standard_normal(length)
    return np.asarray(np.clip(sound, -1, 1), np.float32)
