"""What lies between a mouth and the ear: rooms, noise, the telephone."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
import soundfile
import soxr
from numpy.typing import NDArray

from train.turn.sound import RATE_HZ, Samples

UNSEEN_NOISES = ("noise4.wav", "noise5.wav")
UNSEEN_ROOMS = ("rir4.wav",)


class Surroundings:
    """Recorded noises and rooms of ``speech`` (the unseen ones left out), and made ones."""

    def __init__(self, speech: Path) -> None:
        self.noises = [
            _read(path) for path in sorted((speech / "noise").glob("*.wav")) if path.name not in UNSEEN_NOISES
        ]
        self.rooms = [_read(path) for path in sorted((speech / "rir").glob("*.wav")) if path.name not in UNSEEN_ROOMS]

    def spoil(self, sound: Samples, level: float, babble: Samples, rng: np.random.Generator) -> Samples:
        """``level``: RMS of the speech. Times stay as they are."""
        if rng.random() < 0.35:
            sound = self._in_room(sound, rng)
        if rng.random() < 0.55:
            noise = self._noise(len(sound), babble, rng)
            snr = rng.uniform(3.0, 35.0)
            sound = sound + noise * np.float32(level * 10 ** (-snr / 20) / (np.sqrt(np.square(noise).mean()) + 1e-9))
        if rng.random() < 0.3:
            sound = telephone(sound, rng)
        sound = sound * np.float32(10 ** (rng.uniform(-14.0, 8.0) / 20))
        peak = np.abs(sound).max()
        return np.asarray(sound / peak * 0.98 if peak > 0.98 else sound, np.float32)

    def _in_room(self, sound: Samples, rng: np.random.Generator) -> Samples:
        if self.rooms and rng.random() < 0.5:
            response = self.rooms[rng.integers(len(self.rooms))]
        else:
            reverberation_s = rng.uniform(0.15, 0.7)
            t = np.arange(round(reverberation_s * RATE_HZ)) / RATE_HZ
            response = rng.normal(0, 1, len(t)) * np.exp(-6.9 * t / reverberation_s) * rng.uniform(0.02, 0.12)
            response[0] = 1.0
        direct = int(np.argmax(np.abs(response)))
        size = scipy.fft.next_fast_len(len(sound) + len(response))
        spectrum = scipy.fft.rfft(sound, size) * scipy.fft.rfft(np.asarray(response, np.float32), size)
        wet = scipy.fft.irfft(spectrum, size)[direct : direct + len(sound)]
        return np.asarray(
            wet * (np.sqrt(np.square(sound).mean()) / (np.sqrt(np.square(wet).mean()) + 1e-9)), np.float32
        )

    def _noise(self, length: int, babble: Samples, rng: np.random.Generator) -> Samples:
        draw = rng.random()
        if draw < 0.45 and self.noises:
            noise = self.noises[rng.integers(len(self.noises))]
            return np.resize(np.roll(noise, -int(rng.integers(len(noise)))), length)
        if draw < 0.55:
            return np.resize(babble, length)
        spectrum = scipy.fft.rfft(rng.normal(0, 1, length).astype(np.float32))
        spectrum *= (np.arange(len(spectrum), dtype=np.float32) + 30) ** np.float32(-rng.uniform(0, 1))
        return np.asarray(scipy.fft.irfft(spectrum, length), np.float32)


def telephone(sound: Samples, rng: np.random.Generator) -> Samples:
    """200 or 300 to 3,400 Hz at 8 kHz; half of them through mu-law."""
    spectrum = scipy.fft.rfft(sound)
    hz = np.linspace(0, RATE_HZ / 2, len(spectrum))
    low, high = rng.uniform(150, 320), rng.uniform(3_200, 3_700)
    spectrum *= (np.clip((hz - low + 40) / 80, 0, 1) * np.clip((high + 100 - hz) / 200, 0, 1)).astype(np.float32)
    narrow = np.asarray(scipy.fft.irfft(spectrum, len(sound)), np.float32)
    if rng.random() < 0.5:
        peak = max(1.0, float(np.abs(narrow).max()))
        slow = soxr.resample(narrow / peak, RATE_HZ, 8_000, "MQ")
        code = np.round(127 * np.sign(slow) * np.log1p(255 * np.minimum(np.abs(slow), 1)) / np.log(256)) / 127
        heard = np.sign(code) * np.expm1(np.abs(code) * np.log(256)) / 255
        narrow = np.resize(soxr.resample(heard.astype(np.float32), 8_000, RATE_HZ, "MQ") * peak, len(sound))
    return np.asarray(narrow, np.float32)


def _read(path: Path) -> NDArray[Any]:
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = samples.mean(axis=1)
    return np.asarray(mono if rate == RATE_HZ else soxr.resample(mono, rate, RATE_HZ), np.float32)
