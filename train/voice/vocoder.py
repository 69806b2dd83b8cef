"""The vocoder: a small causal net shapes a source into speech, 300 samples a frame, without lookahead.

The net (two blocks of width 128 at 80 steps a second) reads the spectrum of a frame and the F0 of the next, and gives
three cepstra. They are minimum-phase filters for three sources, each windowed (600-point Hann, hop 300)::

    p = a band-limited train of pulses at F0, of unit power        n = white noise, of unit power
    m = 1.9 ((1 + cos th) / 2)^2 n, noise in the rhythm of the pulses (th: their phase)

    Y = P D exp(sum_k c_p[k] e^{-jwk}) + N exp(sum_k c_n[k] e^{-jwk}) + M exp(sum_k c_m[k] e^{-jwk})

with D a fixed all-pass, e^{-2 pi i 24 (k / 1024)^2} in bin k: high frequencies come up to a millisecond late. A pulse
with all its frequencies at one instant is a click where pulses are far apart (creaky ends of sentences); a throat's is
not.

Then an inverse FFT of 1024 points with overlap-add. Frame t's window is centred on the frame, so the last 150 samples
of a frame are complete only with the next one: output lags by 150 samples, 6.25 ms.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from train.voice.blocks import Norm, Stack
from train.voice.model import LN_F0_MEAN, LN_F0_SCALE, MEL_MEAN, MEL_SCALE, MELS

SAMPLE_RATE_HZ = 24_000
HOP = 300
WINDOW = 600
N_FFT = 1024
BINS = N_FFT // 2 + 1
LAG = HOP // 2
CEPSTRA = (128, 48, 48)
LOUDEST = 4.0
"""Nepers: no filter amplifies more in any band."""
DISPERSION = 24
"""Samples by which the highest frequency of a pulse is late."""
TOP = 0.98 * SAMPLE_RATE_HZ / 2


class VocoderNet(nn.Module):
    """``forward`` and ``step`` like :class:`train.voice.blocks.Block`."""

    def __init__(self, width: int = 128, inner: int = 256, blocks: int = 2) -> None:
        super().__init__()
        self.enter = nn.Linear(MELS + 2, width)
        self.stack = Stack(blocks, width, inner)
        self.norm = Norm(width)
        self.out = nn.Linear(width, sum(CEPSTRA))
        nn.init.normal_(self.out.weight, std=0.01)
        with torch.no_grad():
            self.out.bias.zero_()
            self.out.bias[0], self.out.bias[CEPSTRA[0]], self.out.bias[CEPSTRA[0] + CEPSTRA[1]] = -4.0, -6.0, -6.0

    def forward(self, features: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """``features`` [rows, frames, 82] as the acoustic model gives them, voicing as a probability ->
        cepstra [rows, frames, 224], state."""
        x, state = self.stack(self.enter(features), state)
        return self.out(self.norm(x)), state

    def step(self, features: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """``features`` [rows, 82] -> [rows, 224], state."""
        x, state = self.stack.step(self.enter(features), state)
        return self.out(self.norm(x)), state


def features_of(mel: Tensor, ln_f0: Tensor, voiced: Tensor) -> Tensor:
    """``mel`` [..., 80], ``ln_f0`` and ``voiced`` [...] of the next frame -> [..., 82], normalised."""
    mel = (mel - MEL_MEAN) / MEL_SCALE
    return torch.cat((mel, ((ln_f0 - LN_F0_MEAN) / LN_F0_SCALE)[..., None], voiced[..., None]), -1)


def sources(f0: Tensor, start: Tensor, noise: Tensor) -> Tensor:
    """``f0`` [rows, n + 1] in Hz at centres of frames, ``start`` [rows] cycles at the first of them, ``noise``
    [rows, n * 300] -> p, n, m as [rows, 3, n * 300], from the first centre to the last."""
    share = (torch.arange(HOP, device=f0.device, dtype=torch.float64) + 0.5) / HOP
    f0 = f0.double()
    hz = (f0[:, :-1, None] * (1 - share) + f0[:, 1:, None] * share).flatten(1)
    cycles = torch.cumsum(hz / SAMPLE_RATE_HZ, 1) + start.double()[:, None]
    half = (math.pi * (cycles - cycles.round())).float()
    hz = hz.float()
    harmonics = torch.floor(TOP / hz)
    below = torch.sin(half)
    small = below.abs() < 1e-4
    above = torch.sin((2 * harmonics + 1) * half)
    ratio = torch.where(small, 2 * harmonics + 1, above / torch.where(small, 1.0, below))
    pulses = (ratio - 1) / 2 * torch.sqrt(2 / harmonics)
    rhythm = 1.9 * torch.square((1 + torch.cos(2 * half)) / 2) * noise
    return torch.stack((pulses, noise, rhythm), 1)


class Filter(nn.Module):
    """Sources through filters: no parameters, only tables."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        angle = 2 * math.pi / N_FFT * torch.outer(torch.arange(max(CEPSTRA)), torch.arange(BINS)).double()
        self.register_buffer("cos", torch.cos(angle).float(), persistent=False)
        self.register_buffer("sin", torch.sin(angle).float(), persistent=False)
        late = -2 * math.pi * DISPERSION * torch.square(torch.arange(BINS).double() / N_FFT)
        self.register_buffer("late", late.float(), persistent=False)

    def spectrum(self, cepstrum: Tensor, late: Tensor | float = 0.0) -> Tensor:
        """[rows, frames, k] -> complex response [rows, frames, 513], with another phase on top."""
        count = cepstrum.shape[-1]
        level = torch.clamp(cepstrum @ self.cos[:count], max=LOUDEST)
        return torch.polar(torch.exp(level), late - cepstrum @ self.sin[:count])

    def forward(self, source: Tensor, cepstra: Tensor) -> Tensor:
        """``source`` [rows, 3, (frames + 1) * 300], ``cepstra`` [rows, frames, 224] -> [rows, frames * 300 + 724]:
        complete from sample 724 on (nothing before the first frame) to ``frames * 300``."""
        whole = 0.0
        for part, cepstrum, late in zip(
            source.unbind(1), cepstra.split(CEPSTRA, -1), (self.late, 0.0, 0.0), strict=True
        ):
            frames = part.unfold(-1, WINDOW, HOP) * self.window
            whole = whole + torch.fft.rfft(frames, N_FFT) * self.spectrum(cepstrum, late)
        pieces = F.pad(torch.fft.irfft(whole, N_FFT), (0, 4 * HOP - N_FFT))
        rows, count = pieces.shape[:2]
        out = pieces.new_zeros(rows, count + 3, HOP)
        for k, piece in enumerate(pieces.split(HOP, -1)):
            out = out + F.pad(piece, (0, 0, k, 3 - k))
        return out.flatten(1)[:, : count * HOP + N_FFT - HOP]
