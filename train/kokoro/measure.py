"""How far a decode is from the whole decode of the same plan (24 kHz mono float32; pure)."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from train.voice.evaluate_sound import track_f0

Real = NDArray[np.float32]
WINDOW, HOP, BANDS = 1024, 240, 80
LOUD_DB = 50.0
FRAME_SAMPLES = 300


@cache
def _bank() -> Real:
    """[bands, bins]: triangles, evenly spaced in mel from 0 to 12 kHz, each of unit area over its bins."""
    mel = np.linspace(0, 2595 * np.log10(1 + 12_000 / 700), BANDS + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)
    bins = np.arange(WINDOW // 2 + 1) * 24_000 / WINDOW
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    bank = np.maximum(0, np.minimum(rise, fall))
    # The lowest bands are narrower than a bin: every band hears at least the bin nearest to its middle.
    nearest = np.argmin(np.abs(bins - edges[1:-1, None]), axis=1)
    bank[np.arange(BANDS), nearest] = np.maximum(bank[np.arange(BANDS), nearest], 0.5)
    return np.asarray(bank / bank.sum(axis=1, keepdims=True), np.float32)


def mel_db(audio: Real) -> Real:
    """[frames, bands] in dB; frame i is centred at sample 240 * i. Floored about 80 dB below a full-scale sine."""
    padded = np.pad(audio, WINDOW // 2)
    rows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    power = np.square(np.abs(np.fft.rfft(rows * np.hanning(WINDOW).astype(np.float32)))) @ _bank().T
    return np.asarray(10 * np.log10(power + 6e-4), np.float32)


def loud_frames(mel: Real) -> NDArray[np.bool_]:
    level = 10 * np.log10(np.power(10, mel / 10).mean(axis=1))
    return np.asarray(level > level.max() - LOUD_DB)


def level_db(audio: Real) -> float:
    return float(10 * np.log10(np.mean(np.square(audio, dtype=np.float64)) + 1e-9))


@dataclass(frozen=True)
class Distance:
    """``mel_db``: mean over loud frames and bands; ``timbre_db``: of the long-term spectra; ``levels_db``: of every
    voiced chunk. ``joins``: (mel, energy, F0 in semitones) jumps at the borders of the candidate, ``whole_joins`` of
    the whole decode; NaN where F0 is not heard on both sides in both."""

    mel_db: float
    timbre_db: float
    levels_db: tuple[float, ...]
    joins: tuple[tuple[float, float, float], ...]
    whole_joins: tuple[tuple[float, float, float], ...]


def distance(whole: Real, candidate: Real, borders: list[int], chunks: list[tuple[int, int]]) -> Distance:
    """``borders``: samples where chunks meet; ``chunks``: their [start, end)."""
    size = min(len(whole), len(candidate))
    whole, candidate = whole[:size], candidate[:size]
    ours, theirs = mel_db(whole), mel_db(candidate)
    loud = loud_frames(ours)
    spectra = [10 * np.log10(np.power(10, m[loud] / 10).mean(axis=0)) for m in (ours, theirs)]
    top = level_db(whole)
    levels = [
        level_db(candidate[a:b]) - level_db(whole[a:b]) for a, b in chunks if level_db(whole[a:b]) > top - 20
    ]
    tracks = [track_f0(x) for x in (whole, candidate)] if borders else [np.zeros(0)] * 2
    return Distance(
        float(np.abs(ours - theirs)[loud].mean()),
        float(np.abs(spectra[0] - spectra[1]).mean()),
        tuple(levels),
        tuple(_jump(theirs, tracks, 1, candidate, b) for b in borders),
        tuple(_jump(ours, tracks, 0, whole, b) for b in borders),
    )


def _jump(mel: Real, tracks: list[Real], own: int, audio: Real, border: int) -> tuple[float, float, float]:
    """Change over a border: mel frames 10 ms before and after it; energy of the 10 ms on each side; F0."""
    at = border / HOP
    left, right = (min(max(round(at + d), 0), len(mel) - 1) for d in (-1, 1))
    mels = float(np.abs(mel[right] - mel[left]).mean())
    energy = abs(level_db(audio[border : border + HOP]) - level_db(audio[max(0, border - HOP) : border]))
    frame = border // FRAME_SAMPLES
    pitch = [t[frame - 1 : frame + 1] for t in tracks]
    heard = all(len(p) == 2 and (p > 0).all() for p in pitch)
    f0 = abs(12 * float(np.log2(pitch[own][1] / pitch[own][0]))) if heard else float("nan")
    return mels, energy, f0
