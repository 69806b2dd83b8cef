"""hibari's vocoder: spectral parameters and F0 in, samples out, frame by frame.

A frame lasts 12.5 ms (300 samples at 24 kHz) and holds five rows of 601 bins. Its spectrum is::

    S = exp(lh) e^{i pi tanh(theta)} STFT(pulses(f0)) + exp(ln) Z + exp(lr) e^{i phi}

with Z unit complex noise, followed by an inverse STFT (1200-point periodic Hann, hop 300). The equations are hibari's;
this implementation renders any run of frames in any chunks with the same samples as in one piece, and its noise depends
on nothing but the stream's seed and the absolute sample that the frame is centred on.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import fft

SAMPLE_RATE_HZ = 24_000
HOP = 300
N_FFT = 1200
BINS = N_FFT // 2 + 1

_HOPS = N_FFT // HOP
_VOICED_HZ = 40.0
_TOP_HZ = 11_000.0
_LOUDEST = np.float32(7.0)
_HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)
_ANALYSIS = _HANN / np.float32(N_FFT / 4)
_SYNTHESIS = _HANN / np.float32(1.5)
"""Hann squared, overlapped four times, sums to 1.5 everywhere."""

_PLACE = (np.arange(HOP) + 0.5) / HOP - 0.5
_LERP = np.stack((np.maximum(-_PLACE, 0), 1 - np.abs(_PLACE), np.maximum(_PLACE, 0)))
_WEIGHTS = _LERP.astype(np.float32)
"""How much of the frame before, of this one and of the one after each sample's F0 holds (linear between centres)."""
_CYCLES = (np.cumsum(_LERP, axis=1) / SAMPLE_RATE_HZ).astype(np.float32)
"""The same, summed from the frame's first sample: cycles per Hz."""
_FRAME_CYCLES = _LERP.sum(axis=1) / SAMPLE_RATE_HZ

_TABLE = 1 << 17

Complex = NDArray[np.complex64]
Real = NDArray[np.float32]


def _noise_table() -> Complex:
    values = np.random.default_rng(24_000).standard_normal(2 * (_TABLE + BINS), dtype=np.float32)
    table: Complex = values.view(np.complex64)
    table.flags.writeable = False
    return np.lib.stride_tricks.sliding_window_view(table, BINS)


_NOISE = _noise_table()
"""Unit complex normals; a frame reads 601 of them from a place that its hash chooses."""


def noise_rows(seed: int, centres: NDArray[np.int64]) -> Complex:
    """Noise ``[frames, 601]`` for frames centred on these absolute samples (a fresh array)."""
    mixed = centres.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x1234567) & 0xFFFFFFFFFFFFFFFF)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    rows: Complex = _NOISE[(mixed >> np.uint64(40)) % np.uint64(_TABLE)]
    return rows


class PulseTrain:
    """The harmonic source of one phrase: every harmonic of F0 below 11 kHz at unit amplitude, made on demand.

    The phase is accumulated in float64 over the frames from the first one on, so that any chunk equals the whole.
    """

    def __init__(self, f0: Real) -> None:
        """``f0`` [frames] in Hz; below 40 Hz a sample is unvoiced, and silent."""
        edged = np.maximum(np.pad(np.asarray(f0, np.float32), 1, mode="edge"), np.float32(0))
        self._around = np.stack((edged[:-2], edged[1:-1], edged[2:]))
        # A frame is silent if it and both neighbours are: nothing in it can rise above the threshold.
        self._voiced: NDArray[np.bool_] = np.any(self._around > _VOICED_HZ, axis=0)
        ends = np.cumsum(_FRAME_CYCLES @ self._around.astype(np.float64))
        self._starts = np.concatenate(([0.0], ends[:-1]))
        """Cycles by the start of each frame."""

    def frames_voiced(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which frames in [start, stop) have a pulse train at all; frames outside the phrase do not."""
        out = np.zeros(stop - start, np.bool_)
        low, high = max(0, start), min(len(self._voiced), stop)
        if high > low:
            out[low - start : high - start] = self._voiced[low:high]
        return out

    def samples(self, start: int, stop: int) -> Real:
        """Pulse samples ``[(stop - start) * 300]`` of frames [start, stop); zeros outside the phrase."""
        out = np.zeros((stop - start, HOP), np.float32)
        rows = np.flatnonzero(self.frames_voiced(start, stop))
        if not rows.size:
            return out.reshape(-1)
        before, here, after = self._around[:, rows + start, None]
        hz = here * _WEIGHTS[1]
        hz += before * _WEIGHTS[0]
        hz += after * _WEIGHTS[2]
        starts = self._starts[rows + start, None]
        cycles = here * _CYCLES[1]
        cycles += before * _CYCLES[0]
        cycles += after * _CYCLES[2]
        cycles += (starts - np.floor(starts)).astype(np.float32)
        cycles -= np.rint(cycles)
        # The sum of cos(h t), h <= H, is sin((2H + 1) t/2) / (2 sin(t/2)) - 1/2, and even in t.
        half_phase = np.abs(cycles, out=cycles)
        half_phase *= np.float32(np.pi)
        np.maximum(half_phase, np.float32(1e-6), out=half_phase)
        voiced = hz > _VOICED_HZ
        np.maximum(hz, np.float32(_VOICED_HZ), out=hz)
        harmonics = np.floor(np.divide(np.float32(_TOP_HZ), hz, out=hz), out=hz)
        harmonics *= 2
        harmonics += 1
        below = np.sin(half_phase)
        below *= 2
        half_phase *= harmonics
        pulses = np.sin(half_phase, out=half_phase)
        pulses /= below
        pulses -= np.float32(0.5)
        pulses *= voiced
        out[rows] = pulses
        return out.reshape(-1)


class Vocoder:
    """Renders consecutive frames of one phrase; ``push`` takes them in any chunks, samples come out as they are ready.

    Output starts at the first sample of frame ``start``. The inverse transform needs one frame before it and two after
    the last, so the caller pushes frames from ``start - 1`` on (rows outside the phrase: :func:`silent_rows`).
    """

    def __init__(self, f0: Real, start: int, at_sample: int, seed: int) -> None:
        """``at_sample``: absolute stream position of the first sample of frame ``start``."""
        self._pulses = PulseTrain(f0)
        self._next = start - 1
        self._centre = at_sample - HOP
        self._seed = seed
        self._tail = np.zeros((_HOPS - 1, HOP), np.float32)
        self._skip = _HOPS - 1

    def push(self, spectra: Real) -> Real:
        """Take ``[frames, 3005]`` rows (harmonic log magnitude and phase, noise log magnitude, free log magnitude and
        phase); returns the samples completed by them, 300 per frame once the first three are in."""
        count = len(spectra)
        first, self._next = self._next, self._next + count
        centres = self._centre + HOP * np.arange(count, dtype=np.int64)
        self._centre += HOP * count
        spectrum = noise_rows(self._seed, centres)
        scale = np.minimum(spectra[:, 2 * BINS : 4 * BINS], _LOUDEST)
        np.exp(scale, out=scale)
        spectrum *= scale[:, :BINS]
        phase = spectra[:, 4 * BINS :]
        turn = np.empty((count, BINS), np.complex64)
        np.multiply(np.cos(phase), scale[:, BINS:], out=turn.real)
        np.multiply(np.sin(phase), scale[:, BINS:], out=turn.imag)
        spectrum += turn
        self._add_harmonics(spectrum, spectra, first)
        frames = fft.irfft(spectrum, n=N_FFT, axis=1, overwrite_x=True)
        frames *= _SYNTHESIS
        frames = frames.reshape(count, _HOPS, HOP)
        blocks = np.zeros((count + _HOPS - 1, HOP), np.float32)
        blocks[: _HOPS - 1] = self._tail
        for k in range(_HOPS):
            blocks[k : k + count] += frames[:, k]
        self._tail = blocks[count:].copy()
        skip = min(self._skip, count)
        self._skip -= skip
        return blocks[skip:count].reshape(-1)

    def _add_harmonics(self, spectrum: Complex, spectra: Real, first: int) -> None:
        count = len(spectrum)
        # The window of frame f covers the samples of frames f - 2 .. f + 1.
        near = self._pulses.frames_voiced(first - 2, first + count + 1)
        rows = np.flatnonzero(near[:-3] | near[1:-2] | near[2:-1] | near[3:])
        if not rows.size:
            return
        source = self._pulses.samples(first - 2, first + count + 1)
        windows = np.lib.stride_tricks.sliding_window_view(source, N_FFT)[rows * HOP] * _ANALYSIS
        harmonic: Complex = fft.rfft(windows, axis=1, overwrite_x=True)
        every = rows.size == count
        level = spectra[:, :BINS] if every else spectra[rows, :BINS]
        phase = np.tanh(spectra[:, BINS : 2 * BINS] if every else spectra[rows, BINS : 2 * BINS])
        phase *= np.float32(np.pi)
        scale = np.minimum(level, _LOUDEST)
        np.exp(scale, out=scale)
        turn = np.empty(harmonic.shape, np.complex64)
        np.multiply(np.cos(phase), scale, out=turn.real)
        np.multiply(np.sin(phase), scale, out=turn.imag)
        harmonic *= turn
        if every:
            spectrum += harmonic
        else:
            spectrum[rows] += harmonic


def silent_rows(count: int) -> Real:
    """Rows of no sound, for frames before or after a phrase."""
    rows = np.zeros((count, 5 * BINS), np.float32)
    for part in (0, 2, 3):
        rows[:, part * BINS : (part + 1) * BINS] = -30.0
    return rows
