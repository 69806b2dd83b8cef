"""Change of sampling rate for streams: a polyphase windowed-sinc filter that carries its state between chunks.

Why not a library's stream: libsoxr works in FFT blocks and holds audio back. Measured with soxr 1.0 (worst of a
stream in 20 ms chunks, in ms):

============  =====  =====  =====  =====  ==========
in -> out       QQ     LQ     MQ     HQ    this file
============  =====  =====  =====  =====  ==========
24 -> 16 kHz   0.1   20.0   37.6   36.6      4.0
24 ->  8 kHz   0.0   40.0   74.6   72.5      8.0
24 -> 48 kHz   0.1   20.4   38.8   38.3      2.7
24 -> 44.1     0.1    0.9   38.4   38.5      2.7
16 ->  8 kHz   0.1   61.3  117.0  115.0      8.0
============  =====  =====  =====  =====  ==========

QQ is a cubic without any alias filter, LQ lets aliases through. Audio that is held back is late on the first chunk
and, worse, is the end of the last word whenever a stream pauses without ending; :meth:`Resampler.flush` gives it out.

The filter: Kaiser window, 64 zero crossings to each side, stop band of -100 dB from the lower of both Nyquist
frequencies on, pass band flat up to 0.9 of it. Source: J. O. Smith, "Digital Audio Resampling" (bandlimited
interpolation); window length after Kaiser (1974).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

_HALF_CROSSINGS = 64
_STOP_BAND_DB = 100.0
_ROW_BLOCK = 4
_PART_OUTPUTS = 32
_MAX_PHASES = 5_000


class Resampler:
    """One stream's change of rate. Output does not depend on how the input is cut into chunks, bit for bit.

    Holds back 64 samples at the lower of both rates (2.7 ms at 24 kHz, 8 ms at 8 kHz) until more input, ``flush`` or
    ``last`` comes. Output sample ``n`` stands at the time ``n / out_hz``: no delay is added, none is to be compensated.
    Equal rates pass through untouched. Raises ``InvalidInput`` for rates without a workable ratio.
    """

    def __init__(self, in_hz: int, out_hz: int) -> None:
        if in_hz <= 0 or out_hz <= 0:
            raise InvalidInput(f"sample rates must be positive, not {in_hz} and {out_hz} Hz", "sample_rate")
        self.in_hz = in_hz
        self.out_hz = out_hz
        self._bank = None if in_hz == out_hz else _bank(in_hz, out_hz)
        self._pushed_samples = 0
        self._given_samples = 0
        # input from the first sample that the next output row looks at; silence stands before the stream
        self._kept: Samples = np.zeros(0 if self._bank is None else self._bank.half_samples - 1, np.float32)
        self._row = 0

    def push(self, samples: Samples, last: bool = False) -> Samples:
        """Resample ``samples`` [n] as far as the input reaches.

        ``last``: the input ends; in total exactly round(pushed * out_hz / in_hz) samples (half to even) have come out.
        """
        samples = np.asarray(samples, dtype=np.float32)
        if self._bank is None:
            return samples
        self._kept = np.concatenate((self._kept, samples))
        self._pushed_samples += len(samples)
        if last:
            return self.flush()
        reach = self._pushed_samples - self._bank.half_samples
        return self._give(self._bank, max(0, -(-reach * self._bank.up // self._bank.down)))

    def flush(self) -> Samples:
        """Give out what is held back, as if silence followed. The stream may go on afterwards, at its true position."""
        if self._bank is None:
            return np.zeros(0, np.float32)
        return self._give(self._bank, round(Fraction(self._pushed_samples * self._bank.up, self._bank.down)))

    def save(self) -> tuple[int, int, int, bytes]:
        """All that it remembers, for :meth:`load` of one with the same rates."""
        return self._pushed_samples, self._given_samples, self._row, self._kept.tobytes()

    def load(self, memory: tuple[int, int, int, bytes]) -> None:
        self._pushed_samples, self._given_samples, self._row, kept = memory
        self._kept = np.frombuffer(kept, np.float32).copy()

    def _give(self, bank: "_Bank", until_sample: int) -> Samples:
        """Outputs up to ``until_sample``. Rows lie at fixed places of the stream, whatever the chunks were."""
        if until_sample <= self._given_samples:
            return np.zeros(0, np.float32)
        rows = -(-until_sample // bank.row_out) - self._row
        blocks = -(-rows // _ROW_BLOCK)
        needed = blocks * _ROW_BLOCK * bank.row_in + 2 * bank.half_samples
        source = self._kept
        if len(source) < needed:
            # weights that fall on this padding are zero, or belong to outputs that are not given out yet
            source = np.concatenate((source, np.zeros(needed - len(source), np.float32)))
        made = np.empty((blocks * _ROW_BLOCK, bank.row_out), np.float32)
        step = source.strides[0]
        for part in bank.parts:
            windows = np.lib.stride_tricks.as_strided(
                source[part.from_sample :],
                (blocks * _ROW_BLOCK, part.weights.shape[0]),
                (bank.row_in * step, step),
                writeable=False,
            )
            columns = slice(part.from_output, part.from_output + part.weights.shape[1])
            for block in range(0, blocks * _ROW_BLOCK, _ROW_BLOCK):
                # always the same small shape: one summation order for every sample, and never the BLAS's own threads
                made[block : block + _ROW_BLOCK, columns] = windows[block : block + _ROW_BLOCK] @ part.weights
        begin = self._row * bank.row_out
        given = made.reshape(-1)[self._given_samples - begin : until_sample - begin].copy()
        self._given_samples = until_sample
        done_rows = until_sample // bank.row_out - self._row
        self._kept = self._kept[done_rows * bank.row_in :].copy()
        self._row += done_rows
        return given


def resample(samples: Samples, in_hz: int, out_hz: int) -> Samples:
    """Whole ``samples`` [n] at once."""
    return Resampler(in_hz, out_hz).push(samples, last=True)


@dataclass(frozen=True, slots=True)
class _Part:
    """Outputs ``[from_output, from_output + weights.shape[1])`` of a row, from a window of its input."""

    from_output: int
    from_sample: int
    weights: NDArray[np.float32]
    """``[window, outputs]``"""


@dataclass(frozen=True, slots=True)
class _Bank:
    """The filter as small dense matrices: a row of ``row_in`` input samples gives ``row_out`` output samples."""

    up: int
    down: int
    half_samples: int
    row_in: int
    row_out: int
    parts: tuple[_Part, ...]


@lru_cache(maxsize=32)
def _bank(in_hz: int, out_hz: int) -> _Bank:
    common = gcd(in_hz, out_hz)
    up, down = out_hz // common, in_hz // common
    if up > _MAX_PHASES or down > _MAX_PHASES:
        raise InvalidInput(
            f"cannot resample {in_hz} Hz to {out_hz} Hz (ratio {up}/{down}); "
            "usual rates are 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000 and 96000 Hz",
            "sample_rate",
        )
    low = min(1.0, up / down)
    half = ceil(_HALF_CROSSINGS / low)
    # Kaiser: transition width of a filter with this many taps; it ends at the lower Nyquist frequency
    transition = (_STOP_BAND_DB - 8.0) / (2.285 * 2 * _HALF_CROSSINGS) / np.pi
    cutoff = low * (1.0 - transition / 2)
    beta = 0.1102 * (_STOP_BAND_DB - 8.7)

    rows = max(1, min(_PART_OUTPUTS // up, 256 // down))
    row_in, row_out = rows * down, rows * up
    parts = []
    for start in range(0, row_out, _PART_OUTPUTS):
        outputs = np.arange(start, min(start + _PART_OUTPUTS, row_out))
        centre = outputs * down // up
        # offsets in `kept`, where index 0 is half - 1 samples before the row's first input
        first = int(centre[0])
        window = int(centre[-1]) - first + 2 * half
        taps = np.arange(window)[:, None] + first - (half - 1) - outputs[None, :] * (down / up)
        inside = np.abs(taps) < half
        shape = np.i0(beta * np.sqrt(np.maximum(0.0, 1.0 - (taps / half) ** 2))) / np.i0(beta)
        weights = np.where(inside, cutoff * np.sinc(cutoff * taps) * shape, 0.0)
        weights /= weights.sum(axis=0)  # unity at 0 Hz for every phase, or DC would ripple
        packed = np.ascontiguousarray(weights, dtype=np.float32)
        packed.setflags(write=False)
        parts.append(_Part(start, first, packed))
    return _Bank(up, down, half, row_in, row_out, tuple(parts))
