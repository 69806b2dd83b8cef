"""The spectra that the voice is trained on, and what is measured of an utterance (numpy only).

Log-mel: frame t is centred at sample 300 t + 150 (the middle of its own 300 samples) under a 1200-point periodic Hann
window; magnitudes are scaled so that a full-scale sine is 1 in its bin, weighted by 80 triangles (peak 1, evenly
spaced on the mel scale 2595 log10(1 + f/700), 0 to 12 kHz), summed, and floored at 1e-4 before the natural logarithm.
Values lie between -9.21 and about 0.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 24_000
HOP = 300
WINDOW = 1200
MELS = 80
TOP_HZ = 12_000.0
FLOOR = 1e-4

Real = NDArray[np.float32]


@cache
def mel_weights() -> Real:
    """Triangles ``[601, 80]``."""
    edges_mel = np.linspace(0, 2595 * np.log10(1 + TOP_HZ / 700), MELS + 2)
    edges = 700 * (10 ** (edges_mel / 2595) - 1)
    bins = np.arange(WINDOW // 2 + 1) * SAMPLE_RATE_HZ / WINDOW
    rise = (bins[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    fall = (edges[2:] - bins[:, None]) / np.diff(edges)[1:]
    weights: Real = np.maximum(0, np.minimum(rise, fall)).astype(np.float32)
    return weights


@cache
def window() -> Real:
    """Periodic Hann ``[1200]``, scaled so that a full-scale sine has magnitude 1."""
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    scaled: Real = (hann * 2 / hann.sum()).astype(np.float32)
    return scaled


def log_mel(samples: Real) -> Real:
    """``[frames, 80]`` of samples ``[frames * 300]``; zeros are assumed around them."""
    if not len(samples):
        return np.zeros((0, MELS), np.float32)
    around = (WINDOW - HOP) // 2
    padded = np.pad(np.asarray(samples, np.float32), around)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    magnitudes = np.abs(np.fft.rfft(frames * window(), axis=1)).astype(np.float32)
    mel: Real = np.log(np.maximum(magnitudes @ mel_weights(), FLOOR))
    return mel


def level_db(samples: Real) -> Real:
    """Level of each frame's own 300 samples in dB (a square wave of full scale is 0), at least -120: ``[frames]``."""
    power = np.square(np.asarray(samples, np.float64)).reshape(-1, HOP).mean(axis=1)
    level: Real = (10 * np.log10(np.maximum(power, 1e-12))).astype(np.float32)
    return level


def semitones(hz: Real) -> Real:
    """Of voiced F0, above 100 Hz."""
    above: Real = (12 * np.log2(np.maximum(hz, 1.0) / 100)).astype(np.float32)
    return above
